import { and, count, desc, eq, gte, inArray, isNull, lt, lte, sql } from "drizzle-orm";
import { containsText, memberOf } from "../accounts/contains-text.ts";
import type { Database } from "../db/database.ts";
import { firstIdOf } from "../domain/id-time.ts";
import { GatewayError } from "../errors.ts";
import { mailIdOf, type NoticeData } from "./episodes.ts";
import { type NoticeRule, RULE_EMAILS_MAX } from "./rule.ts";

/** A notice of an account. */
export interface Notice {
  readonly id: string;
  readonly ruleId: string;
  readonly subject: string;
  readonly data: NoticeData;
  readonly raisedAtMs: number;
  /** `undefined` while the threshold is crossed. */
  readonly endedAtMs: number | undefined;
  readonly readAtMs: number | undefined;
}

/** One mail or webhook call of a notice. */
export interface Delivery {
  readonly id: string;
  readonly noticeId: string;
  readonly channel: "mail" | "webhook";
  /** An e-mail address, or the origin of a webhook. */
  readonly target: string;
  readonly state: "waiting" | "delivered" | "failed";
  readonly attempts: number;
  /** HTTP status of the last webhook call; `undefined` for a mail, and when the receiver sent none. */
  readonly lastStatus: number | undefined;
  readonly createdAtMs: number;
  readonly nextAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
}

interface NoticePage {
  readonly items: readonly Notice[];
  /** The token of the next page; `undefined` on the last page. */
  readonly next: string | undefined;
}

interface NoticeSelection {
  /** The token of a page. Default: the first page. */
  readonly page: string | undefined;
  readonly size: number;
  /** Whether they are of the subjects of limits, or of the wallet, keys, projects and upstreams. Default: of both. */
  readonly ofSubjects?: boolean | undefined;
  /** Part of the sentence of a notice. */
  readonly text?: string | undefined;
  /** Those that no one has read, or whose threshold is crossed now. */
  readonly state?: "unread" | "crossed" | undefined;
}

/** The notices that one page searches. */
const SEARCHED_MAX = 10_000;

/** Lists the notices of an account, newest first. A page of a search may end unfilled, with a next one. */
export async function listNotices(
  database: Database,
  accountId: string,
  { page, size, ofSubjects, text, state }: NoticeSelection,
): Promise<NoticePage> {
  const { db, tables } = database;
  const { notices } = tables;
  const { id, readAtMs, endedAtMs } = notices;
  const isOlder = and(eq(notices.accountId, accountId), page === undefined ? undefined : lt(id, page));
  const isSearch = text !== undefined || state !== undefined;
  const searched = db.select({ id }).from(notices).where(isOlder).orderBy(desc(id)).limit(1);
  const [last] = isSearch ? await searched.offset(SEARCHED_MAX - 1) : [];
  const conditions = [
    isOlder,
    last && gte(id, last.id),
    ofSubjects === undefined ? undefined : eq(notices.ofSubject, ofSubjects),
    containsText([memberOf(database, notices.data, "text")], text),
    state && isNull(state === "unread" ? readAtMs : endedAtMs),
  ];
  const rows = await db
    .select()
    .from(notices)
    .where(and(...conditions))
    .orderBy(desc(id))
    .limit(size + 1);
  const items = rows.slice(0, size).map(readNotice);
  return { items, next: rows.length > size ? items.at(-1)?.id : last?.id };
}

/** Counts the notices that no one has marked as read, those of the subjects of limits left out. */
export async function countUnread({ db, tables: { notices } }: Database, accountId: string): Promise<number> {
  // The words of the condition of the index `notices_unread`, which is used for no others.
  const isUnread = and(isNull(notices.readAtMs), sql`NOT ${notices.ofSubject}`);
  const [row] = await db
    .select({ n: count() })
    .from(notices)
    .where(and(eq(notices.accountId, accountId), isUnread));
  return row?.n ?? 0;
}

/** Marks a notice as read, for all members; its first reader counts. Throws `unknown_item`. */
export async function readNoticeAt(
  { transact, tables: { notices } }: Database,
  { accountId, id }: { readonly accountId: string; readonly id: string },
  nowMs: number,
): Promise<Notice> {
  const isNotice = and(eq(notices.id, id), eq(notices.accountId, accountId));
  const readAtMs = sql<number>`coalesce(${notices.readAtMs}, ${nowMs})`;
  const [row] = await transact((tx) => tx.update(notices).set({ readAtMs }).where(isNotice).returning());
  if (!row) throw new GatewayError("unknown_item");
  return readNotice(row);
}

/** The notices of one account that are found by their ids. */
export async function findNotice(
  { db, tables: { notices } }: Database,
  id: string,
): Promise<Notice | undefined> {
  const [row] = await db.select().from(notices).where(eq(notices.id, id));
  return row && readNotice(row);
}

/** Counts the tests of rules that an account ran since a time. */
export async function countTests(
  { db, tables: { notices } }: Database,
  accountId: string,
  sinceMs: number,
): Promise<number> {
  const isRecent = gte(notices.id, firstIdOf(sinceMs));
  // A test begins no episode: it has ended as it is raised.
  const hasEnded = lte(notices.endedAtMs, notices.raisedAtMs);
  const rows = await db
    .select()
    .from(notices)
    .where(and(eq(notices.accountId, accountId), isRecent, hasEnded));
  return rows.filter((row) => readNotice(row).data.kind === "test").length;
}

/** The rules among these that have an episode now. */
export async function findRaised(
  { db, tables: { openNotices } }: Database,
  ruleIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ruleIds.length === 0) return new Set();
  const rows = await db
    .select({ ruleId: openNotices.ruleId })
    .from(openNotices)
    .where(inArray(openNotices.ruleId, [...ruleIds]));
  return new Set(rows.map(({ ruleId }) => ruleId));
}

const NOTICES_MAX = 50;

/** Lists mails and webhook calls of the newest 50 notices of a rule, newest first. */
export async function listDeliveries(
  { db, tables: { mails, notices, webhookCalls } }: Database,
  { id, accountId }: Pick<NoticeRule, "id" | "accountId">,
): Promise<readonly Delivery[]> {
  const raised = await db
    .select({ id: notices.id })
    .from(notices)
    .where(and(eq(notices.accountId, accountId), eq(notices.ruleId, id)))
    .orderBy(desc(notices.id))
    .limit(NOTICES_MAX);
  if (raised.length === 0) return [];
  const ids = raised.map((notice) => notice.id);
  const mailIds = ids.flatMap((noticeId) =>
    Array.from({ length: RULE_EMAILS_MAX }, (_, index) => mailIdOf(noticeId, index)),
  );
  const [calls, letters] = await Promise.all([
    db.select().from(webhookCalls).where(inArray(webhookCalls.noticeId, ids)),
    db.select().from(mails).where(inArray(mails.id, mailIds)),
  ]);
  const deliveries = [
    ...calls.map(({ url, noticeId, deliveredAtMs, ...row }) => {
      const target = new URL(url).origin;
      return readDelivery({ ...row, noticeId, target, channel: "webhook" }, deliveredAtMs);
    }),
    ...letters.map(({ address, sentAtMs, ...row }) => {
      const noticeId = row.id.slice(0, row.id.lastIndexOf("."));
      return readDelivery({ ...row, noticeId, target: address, channel: "mail" }, sentAtMs);
    }),
  ];
  return deliveries.sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1));
}

interface DeliveryRow
  extends Pick<Delivery, "id" | "noticeId" | "channel" | "target" | "attempts" | "createdAtMs"> {
  readonly lastStatus?: number | null;
  readonly nextAtMs: number | null;
  readonly failedAtMs: number | null;
}

function readDelivery(row: DeliveryRow, deliveredAtMs: number | null): Delivery {
  const { id, noticeId, channel, target, attempts, lastStatus, createdAtMs, nextAtMs, failedAtMs } = row;
  const ended = failedAtMs === null ? "waiting" : "failed";
  return {
    ...{ id, noticeId, channel, target, attempts, createdAtMs },
    lastStatus: lastStatus ?? undefined,
    state: deliveredAtMs === null ? ended : "delivered",
    nextAtMs: nextAtMs ?? undefined,
    endedAtMs: deliveredAtMs ?? failedAtMs ?? undefined,
  };
}

type NoticeRow = Database["tables"]["notices"]["$inferSelect"];

function readNotice({ id, ruleId, subject, data, raisedAtMs, endedAtMs, readAtMs }: NoticeRow): Notice {
  return {
    ...{ id, ruleId, subject, raisedAtMs },
    data: JSON.parse(data),
    endedAtMs: endedAtMs ?? undefined,
    readAtMs: readAtMs ?? undefined,
  };
}
