import { and, desc, eq, gte, inArray, lt, or, type SQL } from "drizzle-orm";
import type { Database, Db, Tables } from "../db/database.ts";
import { firstIdOf } from "../domain/id-time.ts";
import { platform } from "../platform.ts";
import { containsText } from "./contains-text.ts";

/**
 * The author of a change: a person, a management key, an API key that makes another, a caller that tops up by signed
 * calls, the command line, or the gateway.
 */
export interface AuditActor {
  readonly kind: Actor["kind"] | "api_key" | "payment_caller" | "command_line" | "system";
  readonly id: string;
  readonly name: string;
  readonly acting?: Actor["acting"];
  readonly session?: Actor["session"];
  readonly address?: string | undefined;
}

/** The author of changes by `tollgate` commands. */
export const COMMAND_LINE: AuditActor = { kind: "command_line", id: "command_line", name: "command line" };
/** The author of changes by background work. */
export const SYSTEM: AuditActor = { kind: "system", id: "system", name: "system" };

/** A change. `before` and `after` hold the changed members only, in JSON, and never a secret. */
export interface Change {
  /** The account that the change concerns; `undefined` for the platform. */
  readonly accountId?: string | undefined;
  /** Noun and past participle: "member.removed". */
  readonly action: string;
  /** The id of the changed thing. */
  readonly target: string;
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

/** Writes the audit entry of a change, in the transaction `tx` of the change. */
export async function recordChange(
  { tables }: Database,
  tx: Db,
  actor: AuditActor,
  change: Change,
  nowMs: number,
): Promise<void> {
  const { accountId, action, target, before, after } = change;
  const { acting } = actor;
  const isActing = acting !== undefined && acting.accountId === accountId && nowMs < acting.untilMs;
  await tx.insert(tables.auditEntries).values({
    id: platform.uuidV7(nowMs),
    accountId: accountId ?? null,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    isActing,
    action,
    target,
    before: before ? JSON.stringify(before) : null,
    after: after ? JSON.stringify(after) : null,
    address: actor.address ?? null,
    atMs: nowMs,
  });
}

export type AuditEntry = Tables["auditEntries"]["$inferSelect"];

/** Selects audit entries. An entry must match every condition given. */
export interface AuditFilter {
  /** Absent: entries of all accounts and of the platform. */
  readonly accountId?: string | undefined;
  /** The id of an author, or a part of its name in any case. */
  readonly actor?: string | undefined;
  readonly actorKind?: AuditEntry["actorKind"] | undefined;
  /** An action, or its noun: "member" selects "member.removed" too. */
  readonly action?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** The least id. Ids are in the order of time. */
  readonly fromId?: string | undefined;
}

interface AuditStart {
  readonly size: number;
  /** The id of the last entry of the page before. */
  readonly after: string | undefined;
}

/** The entries that one page of a search reads: one statement holds a gateway on SQLite for as long as it runs. */
const SEARCHED_MAX = 10_000;

/** Lists a page of entries, newest first. A page of a search may end unfilled, with a next one. */
export async function pageAuditEntries(
  database: Database,
  filter: AuditFilter,
  { size, after }: AuditStart,
): Promise<{ readonly items: readonly AuditEntry[]; readonly next: string | undefined }> {
  const { accountId, actor, actorKind, action, fromMs, toMs } = filter;
  const isSearch = [actor, actorKind, action, fromMs, toMs].some((each) => each !== undefined);
  const all = { accountId, fromId: fromMs === undefined ? undefined : firstIdOf(Math.max(fromMs, 0)) };
  const [last] = isSearch
    ? await listAuditEntries(database, all, { size: 1, after, skipped: SEARCHED_MAX - 1 })
    : [];
  const bounded = { ...filter, fromId: last?.id ?? all.fromId };
  const entries = await listAuditEntries(database, bounded, { size: size + 1, after });
  const items = entries.slice(0, size);
  return { items, next: entries.length > size ? items.at(-1)?.id : last?.id };
}

/** Lists entries, newest first, from those older than the entry `after`. */
export async function listAuditEntries(
  { db, tables: { auditEntries } }: Database,
  filter: AuditFilter,
  { size, after, skipped = 0 }: AuditStart & { readonly skipped?: number },
): Promise<readonly AuditEntry[]> {
  const conditions: (SQL | undefined)[] = [
    filter.accountId === undefined ? undefined : eq(auditEntries.accountId, filter.accountId),
    filter.actor
      ? or(containsText([auditEntries.actorName], filter.actor), eq(auditEntries.actorId, filter.actor))
      : undefined,
    filter.actorKind === undefined ? undefined : eq(auditEntries.actorKind, filter.actorKind),
    filter.action === undefined ? undefined : isActionOf(auditEntries.action, filter.action),
    filter.fromMs === undefined ? undefined : gte(auditEntries.atMs, filter.fromMs),
    filter.toMs === undefined ? undefined : lt(auditEntries.atMs, filter.toMs),
    filter.fromId === undefined ? undefined : gte(auditEntries.id, filter.fromId),
    after === undefined ? undefined : lt(auditEntries.id, after),
  ];
  return db
    .select()
    .from(auditEntries)
    .where(and(...conditions))
    .orderBy(desc(auditEntries.id))
    .limit(size)
    .offset(skipped);
}

/** A range instead of a pattern: "." is followed by "/" in the order of bytes. */
function isActionOf(column: Database["tables"]["auditEntries"]["action"], action: string) {
  return or(eq(column, action), and(gte(column, `${action}.`), lt(column, `${action}/`)));
}

type NamedTable = Tables["accounts" | "apiKeys" | "invitations" | "managementKeys" | "people" | "projects"];

interface Named {
  readonly table: NamedTable;
  readonly name:
    | Tables["accounts" | "apiKeys" | "managementKeys" | "projects"]["name"]
    | Tables["invitations" | "people"]["email"];
}

const ofPeople = ({ people }: Tables): Named => ({ table: people, name: people.email });

/** Where the names of targets are, by the noun of the action. Targets of other nouns have no name. */
const NAMES: Readonly<Record<string, (tables: Tables) => Named>> = {
  account: ({ accounts }) => ({ table: accounts, name: accounts.name }),
  invitation: ({ invitations }) => ({ table: invitations, name: invitations.email }),
  key: ({ apiKeys }) => ({ table: apiKeys, name: apiKeys.name }),
  management_key: ({ managementKeys }) => ({ table: managementKeys, name: managementKeys.name }),
  member: ofPeople,
  operator: ofPeople,
  password: ofPeople,
  project: ({ projects }) => ({ table: projects, name: projects.name }),
  person: ofPeople,
  session: ofPeople,
  sessions: ofPeople,
};

/**
 * Finds the present names of the targets of up to 1,000 entries, by their ids: e-mails of people and
 * invitations, names of accounts and keys. One query for each kind of target.
 */
export async function findTargetNames(
  { db, tables }: Database,
  entries: readonly AuditEntry[],
): Promise<ReadonlyMap<string, string>> {
  const byNoun = Map.groupBy(entries, ({ action }) => action.split(".", 1)[0] ?? "");
  const found = await Promise.all(
    [...byNoun].map(async ([noun, ofNoun]) => {
      const named = NAMES[noun]?.(tables);
      if (!named) return [];
      const { table, name } = named;
      const ids = [...new Set(ofNoun.map(({ target }) => target))];
      return db.select({ id: table.id, name }).from(table).where(inArray(table.id, ids));
    }),
  );
  return new Map(found.flat().map(({ id, name }) => [id, name]));
}

/** What a person or a management key may do in one account. */
export type Role = "owner" | "developer" | "viewer";

/** From the least rights to the most. */
const ROLES_UP: readonly Role[] = ["viewer", "developer", "owner"];

export function isMoreThan(role: Role, before: Role | undefined): boolean {
  return before === undefined || ROLES_UP.indexOf(role) > ROLES_UP.indexOf(before);
}

/** Who sends a request to the console, as authenticated by a session or a management key. */
export interface Actor {
  readonly kind: "person" | "management_key";
  readonly id: string;
  /** The e-mail of a person or the hint of a management key, for the audit trail. */
  readonly name: string;
  /** Platform operators reach the operator's routes; in an account they act only by {@link Actor.acting}. */
  readonly isOperator: boolean;
  /** Set for a management key of one account: it reaches no other account. */
  readonly role: { readonly accountId: string; readonly role: Role } | undefined;
  /** The account inside which an operator acts, by a logged session. */
  readonly acting: { readonly accountId: string; readonly untilMs: number } | undefined;
  readonly session: SessionState | undefined;
  /** The address of the caller, for the audit trail; behind a trusted proxy that of its client. */
  readonly address: string | undefined;
}

/** What a session adds to its person. */
export interface SessionState {
  readonly id: string;
  /** Set with a one-time password: only a new password is accepted first. */
  readonly mustChangePassword: boolean;
  /** When the person last gave a password or another proof in this session, in Unix milliseconds. */
  readonly confirmedAtMs: number | undefined;
  /** Whether the person must set up a second factor first, by the file. */
  readonly mustSetUpFactor?: boolean | undefined;
  /** The identity at a provider that opened the session. Rights that its groups gave count in such sessions alone. */
  readonly identityId?: string | undefined;
  /** The issuer of that identity. */
  readonly issuer?: string | undefined;
}
