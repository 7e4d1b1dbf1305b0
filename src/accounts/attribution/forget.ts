import { and, asc, eq, gt, inArray, like } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { nameOfEndUser } from "../../domain/scope.ts";
import { describeEndUser } from "../../domain/shown-name.ts";
import { platform } from "../../platform.ts";
import { type AuditActor, recordChange } from "../audit-trail.ts";
import { deleteAccountRecordings } from "../keys/key-recording.ts";
import { createEndUserHash } from "./end-user-names.ts";

const PSEUDONYM_BYTES = 8;

/** An end user whose name is to be replaced. */
interface Forgetting {
  readonly walletId: string;
  /** As receipts name the end user. */
  readonly endUser: string;
  readonly pseudonym: string;
}

interface Forgotten {
  /** Receipts whose name was replaced. */
  readonly receipts: number;
  /** Running requests, whose receipts keep the name. */
  readonly running: number;
}

/** Replaces a name on receipts, in sums of usage and in counters of limits. */
export type ForgetEndUser = (forgetting: Forgetting) => Promise<Forgotten>;

interface ForgetParts {
  readonly database: Database;
  readonly now: () => number;
  readonly forget: ForgetEndUser;
}

/**
 * Replaces the name of an end user of an account by a new pseudonym, wherever it is kept: as it was sent, and as its
 * hash. Recordings of the account are deleted. The audit entry has the pseudonym alone.
 */
export async function forgetEndUser(
  { database, now, forget }: ForgetParts,
  actor: AuditActor,
  { accountId, endUser }: { readonly accountId: string; readonly endUser: string },
): Promise<Forgotten & { readonly pseudonym: string }> {
  const pseudonym = `deleted-${platform.randomBytes(PSEUDONYM_BYTES).toString("hex")}`;
  const names = [nameOfEndUser(endUser), await createEndUserHash(database)(accountId, endUser)];
  let [receipts, running] = [0, 0];
  for (const name of names) {
    const forgetting = { walletId: accountId, endUser: name, pseudonym };
    const done = await forget(forgetting);
    receipts += done.receipts;
    running += done.running;
    await forgetRefusals(database, forgetting);
    await forgetInNotices(database, forgetting);
  }
  // The text of any body may name the end user.
  await deleteAccountRecordings(database, accountId);
  await database.transact((tx) => {
    const change = {
      accountId,
      action: "end_user.forgotten",
      target: pseudonym,
      after: { receipts, running },
    };
    return recordChange(database, tx, actor, change, now());
  });
  return { receipts, running, pseudonym };
}

/** Refused requests name the limit that refused, and so whom it counted. */
async function forgetRefusals(
  database: Database,
  { walletId, endUser, pseudonym }: Forgetting,
): Promise<void> {
  const { refusedRequests: table } = database.tables;
  const isNamed = and(eq(table.accountId, walletId), like(table.facts, '%"end_user"%'));
  const [before, after] = [printScope(endUser), printScope(pseudonym)];
  const rows = await database.db.select().from(table).where(isNamed);
  for (const { minuteMs, keyId, cause, model, gatewayId, facts } of rows) {
    if (!facts.includes(before)) continue;
    const isRow = and(
      eq(table.accountId, walletId),
      eq(table.minuteMs, minuteMs),
      eq(table.keyId, keyId),
      eq(table.cause, cause),
      eq(table.model, model),
      eq(table.gatewayId, gatewayId),
    );
    await database.transact(async (tx) => {
      await tx
        .update(table)
        .set({ facts: facts.replaceAll(before, after) })
        .where(isRow);
    });
  }
}

/** A scope as the facts of a refused request have it. */
function printScope(id: string): string {
  return JSON.stringify({ kind: "end_user", id });
}

/** Notices of one transaction. */
const NOTICES_PAGE = 200;

/**
 * Replaces the name of an end user in the notices of an account, with their mails and webhook calls, and drops that
 * its limits were reported. What was delivered is with its receivers.
 */
async function forgetInNotices(database: Database, forgetting: Forgetting): Promise<void> {
  const { walletId, endUser } = forgetting;
  const { notices, subjectCrossings: crossings } = database.tables;
  const isNamed = and(eq(notices.accountId, walletId), like(notices.data, '%"End user %'));
  for (let after = ""; ; ) {
    const rows = await database.db
      .select({ id: notices.id, subject: notices.subject, data: notices.data })
      .from(notices)
      .where(and(isNamed, gt(notices.id, after)))
      .orderBy(asc(notices.id))
      .limit(NOTICES_PAGE);
    const named = rows.filter((row) => names(row, endUser));
    if (named.length > 0)
      await database.transact(async (tx) => {
        for (const row of named) await renameNotice(database, tx, row, forgetting);
      });
    const last = rows.at(-1);
    if (rows.length < NOTICES_PAGE || !last) break;
    after = last.id;
  }
  const isCrossing = and(
    eq(crossings.accountId, walletId),
    eq(crossings.kind, "end_user"),
    eq(crossings.subject, endUser),
  );
  await database.transact(async (tx) => void (await tx.delete(crossings).where(isCrossing)));
}

interface NoticeRow {
  readonly id: string;
  readonly subject: string;
  readonly data: string;
}

/** Whether a notice is about the end user: as its subject, or as the one end user that a limit binds. */
function names({ subject, data }: NoticeRow, endUser: string): boolean {
  const { text, subject_kind } = JSON.parse(data);
  if (subject_kind !== undefined) return subject_kind === "end_user" && subject === endUser;
  return typeof text === "string" && text.startsWith(`${describeEndUser(endUser)} `);
}

async function renameNotice(
  { tables: { mails, notices, webhookCalls } }: Database,
  tx: Db,
  { id, subject, data }: NoticeRow,
  { endUser, pseudonym }: Forgetting,
): Promise<void> {
  const rename = (printed: string) => {
    const { text, ...others } = JSON.parse(printed);
    const renamed = describeEndUser(pseudonym) + String(text).slice(describeEndUser(endUser).length);
    const about = others.subject === endUser ? { subject: pseudonym } : {};
    return JSON.stringify({ ...others, ...about, text: renamed });
  };
  const after = { data: rename(data), subject: subject === endUser ? pseudonym : subject };
  await tx.update(notices).set(after).where(eq(notices.id, id));
  const calls = await tx.select().from(webhookCalls).where(eq(webhookCalls.noticeId, id));
  for (const call of calls)
    await tx
      .update(webhookCalls)
      .set({ body: rename(call.body) })
      .where(eq(webhookCalls.id, call.id));
  const ids = Array.from({ length: NOTICE_MAILS_MAX }, (_, index) => `${id}.${index}`);
  const letters = await tx.select().from(mails).where(inArray(mails.id, ids));
  for (const letter of letters)
    await tx
      .update(mails)
      .set({ data: rename(letter.data) })
      .where(eq(mails.id, letter.id));
}

/** The mails of one notice, whose ids end with their numbers. */
const NOTICE_MAILS_MAX = 10;
