import { and, eq, inArray, isNotNull, isNull } from "drizzle-orm";
import { findNames } from "../accounts/find-items.ts";
import type { Database } from "../db/database.ts";
import { chunksOf } from "../domain/chunks.ts";
import { readRunId, type Scope } from "../domain/scope.ts";
import { describeEndUser, showName } from "../domain/shown-name.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Balances, SpendLimitUsage } from "../ledger/records.ts";
import { platform } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { describeUse, isFull, SCOPE_NOUNS } from "./crossings.ts";
import type { EpisodeParts } from "./episodes.ts";
import type { PercentRule } from "./rule.ts";
import { type SubjectCrossing, sumUpSubjects, tellSubjects } from "./subject-crossings.ts";

interface SubjectParts extends EpisodeParts {
  readonly ledger: Pick<Ledger, "fullLimits">;
  readonly log: Log;
}

/** Pieces of the transfers of one account in one pass. */
const PIECES_MAX = 10;
/** How long one pass may begin with further accounts. The next one goes on there. */
const PASS_MS_MAX = 5_000;

/** A limit that counts a subject by itself. */
interface SubjectLimit {
  readonly limit: SpendLimitUsage;
  readonly scope: Scope;
}

/**
 * Finds the end users, members, runs and child keys that have used a percentage of a limit. It follows the transfers of
 * each account, from a position in the database on: a pass costs what was spent since the one before.
 */
export class SubjectWatch {
  readonly #parts: SubjectParts;
  /** What was last searched to its end: the rules of an account and its money. */
  readonly #searched = new Map<string, string>();
  #lastAccount = "";
  #isStopped = false;

  constructor(parts: SubjectParts) {
    this.#parts = parts;
  }

  /** Lets the next pass search every account. */
  forget(): void {
    this.#searched.clear();
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** `balances` are those of the accounts of the rules. */
  async run(rules: readonly PercentRule[], balances: ReadonlyMap<string, Balances>): Promise<void> {
    const byAccount = Map.groupBy(rules, ({ accountId }) => accountId);
    const positions = await readPositions(this.#parts.database, byAccount);
    for (const accountId of this.#searched.keys())
      if (!byAccount.has(accountId)) this.#searched.delete(accountId);
    const beganMs = platform.monotonicMs();
    for (const accountId of this.#inTurn(byAccount.keys())) {
      if (this.#isStopped || platform.monotonicMs() - beganMs > PASS_MS_MAX) break;
      const own = byAccount.get(accountId) ?? [];
      const money = balances.get(accountId);
      const mark = money && markOf(own, money);
      if (mark === undefined || this.#searched.get(accountId) === mark) continue;
      this.#lastAccount = accountId;
      try {
        const isSearched = await this.#search(own, positions.get(accountId));
        if (isSearched) this.#searched.set(accountId, mark);
      } catch (fault) {
        const what = { account: accountId, ...describeFault(fault) };
        this.#parts.log.warn(what, "subjects of an account not watched");
      }
    }
    await sumUpSubjects(this.#parts, new Map(rules.map((rule) => [rule.id, rule])));
  }

  /** Orders accounts so that the one searched last comes last. */
  #inTurn(accountIds: Iterable<string>): readonly string[] {
    const sorted = [...accountIds].toSorted();
    const next = sorted.findIndex((accountId) => accountId > this.#lastAccount);
    return next <= 0 ? sorted : [...sorted.slice(next), ...sorted.slice(0, next)];
  }

  /** Searches from a position on; from the newest transfer without one. Resolves with whether it came to the end. */
  async #search(rules: readonly PercentRule[], position: number | undefined): Promise<boolean> {
    const { database, ledger } = this.#parts;
    const [{ accountId }] = rules as readonly [PercentRule, ...PercentRule[]];
    const percent = Math.min(...rules.map((rule) => Number(rule.percent)));
    let after = position;
    for (let piece = 0; piece < PIECES_MAX && !this.#isStopped; piece++) {
      const { limits, end, isAtEnd } = await ledger.fullLimits(accountId, { percent, after });
      const found = await readSubjects(database, accountId, limits);
      for (const rule of rules) if (!(await this.#tell(rule, found))) return false;
      if (end !== after) await keepPosition(database, accountId, end);
      after = end;
      if (isAtEnd) return true;
    }
    return false;
  }

  async #tell(rule: PercentRule, found: readonly SubjectLimit[]): Promise<boolean> {
    const full = found.filter(({ limit }) => isFull(rule, limit));
    if (full.length === 0) return true;
    const names = await readNames(this.#parts.database, rule.accountId, full);
    const crossings = full.map(({ limit, scope }): SubjectCrossing => {
      const owner = () => describeSubject(scope, limit, names);
      return {
        limitId: limit.limitId,
        scope,
        resetsAtMs: limit.resetsAtMs ?? 0,
        describe: () => ({ ...describeUse(rule, limit, owner()), subject_kind: scope.kind }),
      };
    });
    return tellSubjects(this.#parts, rule, crossings);
  }
}

/** Text that differs when the rules of an account or the money of its wallet have changed. */
export function markOf(
  rules: readonly { readonly id: string; readonly version: number }[],
  { posted, held, available }: Balances,
): string {
  return [posted, held, available, ...rules.map(({ id, version }) => `${id}:${version}`)].join(" ");
}

/** Leaves the limits of whole accounts, projects, single members and keys of people to other rules. */
async function readSubjects(
  database: Database,
  accountId: string,
  limits: readonly SpendLimitUsage[],
): Promise<readonly SubjectLimit[]> {
  const children = await readChildren(database, accountId, limits);
  return limits.flatMap((limit) => {
    const { keyId, scope, each, subject } = limit;
    if (each !== undefined)
      return subject === undefined ? [] : [{ limit, scope: { kind: each, id: subject } }];
    if (scope?.kind === "run") return [{ limit, scope }];
    return keyId !== undefined && children.has(keyId) ? [{ limit, scope: { kind: "key", id: keyId } }] : [];
  });
}

/** Ids of one query. */
const IDS_MAX = 500;

/** Finds which keys of limits were made by keys, and are in force. */
async function readChildren(
  { db, tables: { apiKeys } }: Database,
  accountId: string,
  limits: readonly SpendLimitUsage[],
): Promise<ReadonlySet<string>> {
  const ids = limits.flatMap(({ keyId, each }) => (keyId === undefined || each !== undefined ? [] : [keyId]));
  const children = new Set<string>();
  const isChild = and(
    eq(apiKeys.accountId, accountId),
    isNotNull(apiKeys.parentId),
    isNull(apiKeys.revokedAtMs),
  );
  for (const some of chunksOf(ids, IDS_MAX)) {
    const isOne = inArray(apiKeys.id, some);
    const rows = await db.select({ id: apiKeys.id }).from(apiKeys).where(and(isChild, isOne));
    for (const { id } of rows) children.add(id);
  }
  return children;
}

async function readNames(
  database: Database,
  accountId: string,
  full: readonly SubjectLimit[],
): Promise<ReadonlyMap<string, string>> {
  const scopes = full.flatMap(({ limit, scope }): readonly Scope[] => {
    const own = scope.kind === "run" ? { kind: "key" as const, id: readRunId(scope.id).keyId } : scope;
    return limit.scope?.kind === "project" ? [own, limit.scope] : [own];
  });
  const unique = new Map(scopes.map((scope) => [`${scope.kind} ${scope.id}`, scope]));
  return findNames(database, accountId, [...unique.values()]);
}

/** Names a subject at the beginning of a sentence: by its owner's name, as far as it has one. */
function describeSubject(
  { kind, id }: Scope,
  { scope: bound }: SpendLimitUsage,
  names: ReadonlyMap<string, string>,
): string {
  if (kind === "run") {
    const { keyId, runId } = readRunId(id);
    return `Run ${showName(runId)} of key ${showName(names.get(keyId) ?? keyId)}`;
  }
  const own =
    kind === "end_user" ? describeEndUser(id) : `${SCOPE_NOUNS[kind]} ${showName(names.get(id) ?? id)}`;
  return bound?.kind === "project" ? `${own} of project ${showName(names.get(bound.id) ?? bound.id)}` : own;
}

/** Reads the positions of accounts, and deletes those of accounts without a rule: a later rule begins anew. */
async function readPositions(
  { db, transact, tables: { subjectPositions: table } }: Database,
  watched: ReadonlyMap<string, unknown>,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.select().from(table);
  const left = rows.map(({ accountId }) => accountId).filter((accountId) => !watched.has(accountId));
  for (const some of chunksOf(left, IDS_MAX)) {
    const isLeft = inArray(table.accountId, some);
    await transact(async (tx) => void (await tx.delete(table).where(isLeft)));
  }
  return new Map(rows.map(({ accountId, position }) => [accountId, position]));
}

async function keepPosition(
  { transact, tables: { subjectPositions: table } }: Database,
  accountId: string,
  position: number,
): Promise<void> {
  await transact(async (tx) => {
    await tx
      .insert(table)
      .values({ accountId, position })
      .onConflictDoUpdate({ target: table.accountId, set: { position } });
  });
}
