import { and, asc, count, eq, inArray } from "drizzle-orm";
import { EditConflict } from "../accounts/accounts.ts";
import { type AuditActor, recordChange } from "../accounts/audit-trail.ts";
import type { Database, Db } from "../db/database.ts";
import { findUrlProblem } from "../delivery/webhook-address.ts";
import { isMailAddress } from "../domain/mail-address.ts";
import { NANOS_MAX, parseUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import { closeNoticesOf } from "./episodes.ts";
import {
  type NoticeRule,
  printThreshold,
  type RuleKind,
  readRule,
  type Threshold,
  thresholdOf,
  writeRule,
} from "./rule.ts";

export interface RuleParts {
  readonly database: Database;
  readonly now: () => number;
  /** For tests: webhooks may be sent to this machine, without TLS. */
  readonly allowsLoopback: boolean;
}

export interface NewRule {
  readonly kind: RuleKind;
  /** Decimal USD, percent or days. */
  readonly threshold: string;
  readonly emails: readonly string[];
  readonly webhookUrl: string | null;
}

/** New values of a rule; absent ones stay. */
export interface RuleEdit {
  /** The version that the editor has read. */
  readonly version: number;
  readonly threshold?: string | undefined;
  readonly emails?: readonly string[] | undefined;
  readonly webhookUrl?: string | null | undefined;
  readonly isPaused?: boolean | undefined;
}

/** Who changes rules. An operator may enter addresses of strangers. */
export type RuleAuthor = AuditActor & { readonly isOperator?: boolean };

const RULES_MAX = 20;

/** Lists the rules of an account, oldest first. */
export async function listRules({ db, tables }: Database, accountId: string): Promise<readonly NoticeRule[]> {
  const { noticeRules: rules } = tables;
  const rows = await db.select().from(rules).where(eq(rules.accountId, accountId)).orderBy(asc(rules.id));
  return rows.map(readRule);
}

/** Throws `unknown_item` for a rule of another account. */
export async function findRule({ db, tables }: Database, accountId: string, id: string): Promise<NoticeRule> {
  const { noticeRules: rules } = tables;
  const isRule = and(eq(rules.id, id), eq(rules.accountId, accountId));
  const [row] = await db.select().from(rules).where(isRule);
  if (!row) throw new GatewayError("unknown_item");
  return readRule(row);
}

/**
 * Creates a rule. Throws `wrong_shape` for bad values, for the address of a stranger, and for one more than 20 rules.
 */
export async function createRule(
  parts: RuleParts,
  actor: RuleAuthor,
  accountId: string,
  { kind, threshold, emails, webhookUrl }: NewRule,
): Promise<NoticeRule> {
  const { database, now } = parts;
  const { noticeRules: rules } = database.tables;
  const createdAtMs = now();
  const rule: NoticeRule = {
    id: platform.uuidV7(createdAtMs),
    accountId,
    ...readThreshold(kind, threshold),
    emails: readEmails(emails),
    webhookUrl: readWebhookUrl(webhookUrl, parts),
    version: 1,
    createdAtMs,
    pausedAtMs: undefined,
  };
  await database.transact(async (tx) => {
    const [counted] = await tx.select({ n: count() }).from(rules).where(eq(rules.accountId, accountId));
    if ((counted?.n ?? 0) >= RULES_MAX) {
      throw new GatewayError("wrong_shape", { message: `An account has at most ${RULES_MAX} notice rules.` });
    }
    await requireConfirmed(database, tx, actor, rule);
    await tx.insert(rules).values(writeRule(rule));
    const change = { accountId, action: "notice_rule.created", target: rule.id, after: describeRule(rule) };
    await recordChange(database, tx, actor, change, createdAtMs);
  });
  return rule;
}

/** Changes a rule; pausing it ends its notices. Throws {@link EditConflict} for an older version, `unknown_item` and `wrong_shape`. */
export async function updateRule(
  parts: RuleParts,
  actor: RuleAuthor,
  { accountId, id }: Pick<NoticeRule, "accountId" | "id">,
  edit: RuleEdit,
): Promise<NoticeRule> {
  const { database, now } = parts;
  const { noticeRules: rules } = database.tables;
  return database.transact(async (tx) => {
    const before = await findRule({ ...database, db: tx }, accountId, id);
    if (before.version !== edit.version) throw new EditConflict(before);
    const { threshold, emails, webhookUrl, isPaused } = edit;
    const after: NoticeRule = {
      ...before,
      version: before.version + 1,
      ...(threshold === undefined ? {} : readThreshold(before.kind, threshold)),
      ...(emails === undefined ? {} : { emails: readEmails(emails) }),
      ...(webhookUrl === undefined ? {} : { webhookUrl: readWebhookUrl(webhookUrl, parts) }),
      ...(isPaused === undefined ? {} : { pausedAtMs: isPaused ? (before.pausedAtMs ?? now()) : undefined }),
    };
    await requireConfirmed(database, tx, actor, {
      accountId,
      emails: after.emails.filter((email) => !before.emails.includes(email)),
    });
    const isUnchanged = and(eq(rules.id, id), eq(rules.version, before.version));
    const [row] = await tx.update(rules).set(writeRule(after)).where(isUnchanged).returning();
    if (!row) throw new EditConflict(await findRule({ ...database, db: tx }, accountId, id));
    if (after.pausedAtMs !== undefined) await closeNoticesOf(database, tx, id, now());
    const texts = { before: describeRule(before), after: describeRule(after) };
    await recordChange(
      database,
      tx,
      actor,
      { accountId, action: "notice_rule.updated", target: id, ...texts },
      now(),
    );
    return after;
  });
}

/** Deletes a rule and ends its notices. Throws `unknown_item`. */
export async function deleteRule(
  { database, now }: Pick<RuleParts, "database" | "now">,
  actor: AuditActor,
  { accountId, id }: Pick<NoticeRule, "accountId" | "id">,
): Promise<void> {
  const { noticeRules: rules } = database.tables;
  await database.transact(async (tx: Db) => {
    const isRule = and(eq(rules.id, id), eq(rules.accountId, accountId));
    const [row] = await tx.delete(rules).where(isRule).returning();
    if (!row) throw new GatewayError("unknown_item");
    await closeNoticesOf(database, tx, id, now());
    const before = describeRule(readRule(row));
    await recordChange(
      database,
      tx,
      actor,
      { accountId, action: "notice_rule.deleted", target: id, before },
      now(),
    );
  });
}

/**
 * Throws `wrong_shape` unless every address is that of a member who has confirmed it. Operators and the program may
 * enter any other, such as a mailing list: rules of other people would send mails to strangers.
 */
async function requireConfirmed(
  { tables: { members, people } }: Database,
  tx: Db,
  actor: RuleAuthor,
  { accountId, emails }: Pick<NoticeRule, "accountId" | "emails">,
): Promise<void> {
  const isTrusted = actor.kind === "system" || actor.kind === "command_line" || actor.isOperator === true;
  if (isTrusted || emails.length === 0) return;
  const isAddressed = and(
    eq(members.accountId, accountId),
    inArray(people.email, [...emails].map(lowerCase)),
  );
  const found = await tx
    .select({ email: people.email })
    .from(members)
    .innerJoin(people, eq(people.id, members.personId))
    .where(and(isAddressed, eq(people.emailVerified, true)));
  const confirmed = new Set(found.map(({ email }) => email));
  const stranger = emails.findIndex((email) => !confirmed.has(lowerCase(email)));
  if (stranger < 0) return;
  throw new GatewayError("wrong_shape", {
    path: `emails[${stranger}]`,
    message: "A notice is mailed to members of the account who have confirmed their address.",
  });
}

function lowerCase(email: string): string {
  return email.normalize("NFC").toLowerCase();
}

function readThreshold(kind: RuleKind, text: string): Threshold {
  const wrong = new GatewayError("wrong_shape", { path: "threshold" });
  if (kind !== "balance_below") {
    if (!/^\d{1,3}$/.test(text) || Number(text) < 1 || Number(text) > 100) throw wrong;
    return thresholdOf(kind, BigInt(text));
  }
  try {
    const balance = parseUsd(text);
    if (balance <= NANOS_MAX) return { kind, balance };
  } catch (reason) {
    throw new GatewayError("wrong_shape", { path: "threshold", reason });
  }
  throw wrong;
}

function readEmails(emails: readonly string[]): readonly string[] {
  for (const [index, email] of emails.entries()) {
    if (!isMailAddress(email)) throw new GatewayError("wrong_shape", { path: `emails[${index}]` });
  }
  return [...new Set(emails)];
}

function readWebhookUrl(text: string | null, parts: Pick<RuleParts, "allowsLoopback">): string | undefined {
  if (text === null) return undefined;
  const problem = findUrlProblem(text, parts);
  if (problem)
    throw new GatewayError("wrong_shape", { path: "webhook_url", message: `The webhook ${problem}.` });
  return new URL(text).href;
}

/** The origin alone of a webhook: its path may hold a secret of the receiver. */
function describeRule(rule: NoticeRule): object {
  const { kind, emails, webhookUrl, pausedAtMs } = rule;
  const webhook = webhookUrl === undefined ? null : new URL(webhookUrl).origin;
  return { kind, threshold: printThreshold(rule), emails, webhook, is_paused: pausedAtMs !== undefined };
}
