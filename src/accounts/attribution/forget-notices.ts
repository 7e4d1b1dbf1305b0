import { and, asc, eq, gt, inArray, like } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { describeEndUser } from "../../domain/shown-name.ts";

/** An end user of an account whose name is to be replaced. */
interface Forgetting {
  readonly walletId: string;
  readonly endUser: string;
  readonly pseudonym: string;
}

/** Notices of one transaction. */
const PAGE = 200;

/**
 * Replaces the name of an end user in the notices of an account, with their mails and webhook calls, and drops that
 * its limits were reported. What was delivered is with its receivers.
 */
export async function forgetInNotices(database: Database, forgetting: Forgetting): Promise<void> {
  const { walletId, endUser } = forgetting;
  const { notices, subjectCrossings: crossings } = database.tables;
  const isNamed = and(eq(notices.accountId, walletId), like(notices.data, '%"End user %'));
  for (let after = ""; ; ) {
    const rows = await database.db
      .select({ id: notices.id, subject: notices.subject, data: notices.data })
      .from(notices)
      .where(and(isNamed, gt(notices.id, after)))
      .orderBy(asc(notices.id))
      .limit(PAGE);
    const named = rows.filter((row) => names(row, endUser));
    if (named.length > 0)
      await database.transact(async (tx) => {
        for (const row of named) await renameNotice(database, tx, row, forgetting);
      });
    const last = rows.at(-1);
    if (rows.length < PAGE || !last) break;
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
