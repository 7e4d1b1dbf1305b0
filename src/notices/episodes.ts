import { and, eq } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import type { Mails } from "../delivery/mail/mails.ts";
import { printTime } from "../domain/id-time.ts";
import type { ScopeKind } from "../domain/scope.ts";
import { platform } from "../platform.ts";
import type { NoticeRule } from "./rule.ts";

/** The content of a notice in JSON: numbers as decimal text. */
export interface NoticeData {
  readonly kind: NoticeRule["kind"] | "subject_summary" | "test";
  /** One sentence with the numbers of the moment. */
  readonly text: string;
  readonly threshold: string;
  readonly value: string;
  /** What the subject of a limit is. */
  readonly subject_kind?: ScopeKind;
}

/** A threshold that is crossed now. */
export interface Crossing {
  /** The id of the account or key, or the name of the upstream. */
  readonly subject: string;
  readonly data: NoticeData;
}

export interface EpisodeParts {
  readonly database: Database;
  readonly mails: Mails;
  /** Wakes the worker of webhooks in this process. Those of other processes look every five seconds. */
  readonly wakeWebhooks?: (() => void) | undefined;
  readonly now: () => number;
}

/**
 * Begins an episode: the notice, its mails and its webhook in one transaction. Resolves with `false` when the
 * episode had begun, by another process, or when the rule was changed or deleted.
 */
export async function raiseNotice(
  parts: EpisodeParts,
  rule: NoticeRule,
  { subject, data }: Crossing,
): Promise<boolean> {
  const { database, now } = parts;
  const { openNotices } = database.tables;
  const noticeId = platform.uuidV7(now());
  return database.transact(async (tx) => {
    if (!(await lockRule(database, tx, rule))) return false;
    const began = await tx
      .insert(openNotices)
      .values({ ruleId: rule.id, subject, noticeId })
      .onConflictDoNothing()
      .returning({ noticeId: openNotices.noticeId });
    if (began.length === 0) return false;
    await writeNotice(parts, tx, rule, { id: noticeId, subject, data, endedAtMs: null });
    return true;
  });
}

/** Delivers a notice that begins no episode, to try out a rule. Returns its id. */
export async function raiseTest(parts: EpisodeParts, rule: NoticeRule): Promise<string> {
  const nowMs = parts.now();
  const id = platform.uuidV7(nowMs);
  const text = "This is a test of a notice rule. No threshold is crossed.";
  const data: NoticeData = { kind: "test", text, threshold: "0", value: "0" };
  const notice = { id, subject: rule.accountId, data, endedAtMs: nowMs };
  await parts.database.transact((tx) => writeNotice(parts, tx, rule, notice));
  return id;
}

/** Ends the episode of a rule and subject. Does nothing when it has ended. */
export async function endNotice(
  { database, now }: Pick<EpisodeParts, "database" | "now">,
  { ruleId, subject }: { readonly ruleId: string; readonly subject: string },
): Promise<void> {
  const { notices, openNotices } = database.tables;
  const isOpen = and(eq(openNotices.ruleId, ruleId), eq(openNotices.subject, subject));
  await database.transact(async (tx) => {
    const [ended] = await tx.delete(openNotices).where(isOpen).returning();
    if (!ended) return;
    await tx.update(notices).set({ endedAtMs: now() }).where(eq(notices.id, ended.noticeId));
  });
}

/** Ends all episodes of a rule that is being paused or deleted, in its transaction, and forgets its crossings. */
export async function closeNoticesOf(
  { tables }: Database,
  tx: Db,
  ruleId: string,
  nowMs: number,
): Promise<void> {
  const { notices, openNotices, subjectCrossings } = tables;
  await tx.delete(subjectCrossings).where(eq(subjectCrossings.ruleId, ruleId));
  const ended = await tx.delete(openNotices).where(eq(openNotices.ruleId, ruleId)).returning();
  for (const { noticeId } of ended) {
    await tx.update(notices).set({ endedAtMs: nowMs }).where(eq(notices.id, noticeId));
  }
}

/** Locks the row of a rule until the transaction ends. Returns whether it is still as it was read. */
export async function lockRule({ tables }: Database, tx: Db, { id, version }: NoticeRule): Promise<boolean> {
  const { noticeRules: rules } = tables;
  const isSame = and(eq(rules.id, id), eq(rules.version, version));
  const locked = await tx.update(rules).set({ version }).where(isSame).returning({ id: rules.id });
  return locked.length > 0;
}

interface NewNotice extends Crossing {
  readonly id: string;
  readonly endedAtMs: number | null;
  /** Default: false. Its mails are counted apart. */
  readonly ofSubject?: boolean;
}

/** Writes a notice with its mails and its webhook. */
export async function writeNotice(
  { database, mails, wakeWebhooks, now }: EpisodeParts,
  tx: Db,
  rule: NoticeRule,
  { id, subject, data, endedAtMs, ofSubject = false }: NewNotice,
): Promise<void> {
  const { accounts, notices, webhookCalls } = database.tables;
  const { id: ruleId, accountId } = rule;
  const raisedAtMs = now();
  const printed = JSON.stringify(data);
  const row = { id, accountId, ruleId, subject, data: printed, ofSubject, raisedAtMs, endedAtMs };
  await tx.insert(notices).values(row);
  const [account] = await tx.select({ name: accounts.name }).from(accounts).where(eq(accounts.id, accountId));
  const shown = { text: data.text, account_id: accountId, account_name: account?.name };
  for (const [index, address] of rule.emails.entries()) {
    const template = ofSubject ? "subject_notice" : "notice";
    await mails.enqueue(tx, { template, address, data: shown }, { id: mailIdOf(id, index) });
  }
  if (rule.webhookUrl === undefined) return;
  const body = printEvent(rule, { id, subject, data, raisedAtMs });
  const call = { id: platform.uuidV7(raisedAtMs), noticeId: id, url: rule.webhookUrl, body };
  await tx.insert(webhookCalls).values({ ...call, createdAtMs: raisedAtMs, nextAtMs: raisedAtMs });
  wakeWebhooks?.();
}

/** The ids of a notice's mails: their number is in the id, so that a mail belongs to one notice. */
export function mailIdOf(noticeId: string, index: number): string {
  return `${noticeId}.${index}`;
}

/** The body of a webhook, as docs/notices.md describes it. */
function printEvent(
  { id: ruleId, accountId }: NoticeRule,
  {
    id,
    subject,
    data,
    raisedAtMs,
  }: Omit<NewNotice, "endedAtMs" | "ofSubject"> & { readonly raisedAtMs: number },
): string {
  return JSON.stringify({
    type: data.kind === "test" ? "notice.test" : "notice.raised",
    id,
    raised_at: printTime(raisedAtMs),
    account_id: accountId,
    rule_id: ruleId,
    subject,
    ...data,
  });
}
