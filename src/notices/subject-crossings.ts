// Subjects that crossed the percentage of a rule. Each is reported once for a period of its limit, by a notice of its own
// or in the summary of the hour.
import { and, count, eq, inArray, isNotNull, isNull, lt } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import { chunksOf } from "../domain/chunks.ts";
import { DAY_MS, HOUR_MS, startOf } from "../domain/id-time.ts";
import type { Scope } from "../domain/scope.ts";
import { platform } from "../platform.ts";
import { type Crossing, type EpisodeParts, lockRule, writeNotice } from "./episodes.ts";
import type { PercentRule } from "./rule.ts";

/** A subject whose limit is full. */
export interface SubjectCrossing {
  readonly limitId: string;
  readonly scope: Scope;
  /** The end of the limit's period; 0 for a total. */
  readonly resetsAtMs: number;
  /** Called for a crossing that gets a notice of its own. */
  describe(): Crossing["data"];
}

/** Notices of single subjects of an account within a UTC hour. Further ones are summed up. */
const TOLD_MAX = 20;
/** Subjects that an account's rows of an hour count. Further ones count in a later hour, if they still spend. */
const COUNTED_MAX = 1_000;
/** Rows of one statement. */
const ROWS_MAX = 100;
/** A limit in total never resets: its subject may be reported again after this time. */
const TOTAL_KEPT_MS = 90 * DAY_MS;

/**
 * Reports subjects that have crossed, those that were reported left out. Resolves with `false` when the rule was changed
 * or deleted.
 */
export async function tellSubjects(
  parts: EpisodeParts,
  rule: PercentRule,
  crossings: readonly SubjectCrossing[],
): Promise<boolean> {
  const { database } = parts;
  const fresh = await leaveOutTold(database, rule, crossings);
  if (fresh.length === 0) return true;
  return database.transact(async (tx) => {
    if (!(await lockRule(database, tx, rule))) return false;
    const { told, counted } = await countHour(database, tx, rule.accountId, parts.now());
    const taken = fresh.slice(0, Math.max(COUNTED_MAX - counted, 0));
    const rows = taken.map((crossing, index) => rowOf(parts, rule, crossing, told + index < TOLD_MAX));
    const { subjectCrossings: table } = database.tables;
    for (const some of chunksOf(rows, ROWS_MAX)) await tx.insert(table).values(some);
    for (const [index, { noticeId, subject }] of rows.entries()) {
      const data = noticeId === null ? undefined : taken[index]?.describe();
      if (noticeId === null || !data) break;
      await writeNotice(parts, tx, rule, {
        id: noticeId,
        subject,
        data,
        endedAtMs: parts.now(),
        ofSubject: true,
      });
    }
    return true;
  });
}

async function leaveOutTold(
  { db, tables: { subjectCrossings: table } }: Database,
  { id: ruleId, percent }: PercentRule,
  crossings: readonly SubjectCrossing[],
): Promise<readonly SubjectCrossing[]> {
  const fresh = new Map(crossings.map((crossing) => [nameOf(crossing, crossing.scope.id), crossing]));
  const isOfRule = and(eq(table.ruleId, ruleId), eq(table.percent, Number(percent)));
  for (const some of chunksOf(crossings, ROWS_MAX)) {
    const isSome = and(
      inArray(table.limitId, [...new Set(some.map(({ limitId }) => limitId))]),
      inArray(table.subject, [...new Set(some.map(({ scope }) => scope.id))]),
    );
    const { limitId, subject, resetsAtMs } = table;
    const rows = await db.select({ limitId, subject, resetsAtMs }).from(table).where(and(isOfRule, isSome));
    for (const row of rows) fresh.delete(nameOf(row, row.subject));
  }
  return [...fresh.values()];
}

function nameOf(
  { limitId, resetsAtMs }: Pick<SubjectCrossing, "limitId" | "resetsAtMs">,
  subject: string,
): string {
  return `${resetsAtMs}\n${limitId}\n${subject}`;
}

/** Counts the subjects of an account's hour: those with a notice of their own, and all. */
async function countHour(
  { tables: { subjectCrossings: table } }: Database,
  tx: Db,
  accountId: string,
  nowMs: number,
): Promise<{ readonly told: number; readonly counted: number }> {
  const isOfHour = and(eq(table.accountId, accountId), eq(table.hourMs, startOf(nowMs, HOUR_MS)));
  const [all] = await tx.select({ n: count() }).from(table).where(isOfHour);
  const [told] = await tx
    .select({ n: count() })
    .from(table)
    .where(and(isOfHour, isNotNull(table.noticeId)));
  return { told: told?.n ?? 0, counted: all?.n ?? 0 };
}

function rowOf(
  { now }: EpisodeParts,
  { id: ruleId, accountId, percent }: PercentRule,
  { limitId, scope, resetsAtMs }: SubjectCrossing,
  isTold: boolean,
) {
  const nowMs = now();
  return {
    id: platform.uuidV7(nowMs),
    ...{ ruleId, accountId, limitId, resetsAtMs },
    percent: Number(percent),
    kind: scope.kind,
    subject: scope.id,
    hourMs: startOf(nowMs, HOUR_MS),
    keptUntilMs: resetsAtMs > 0 ? resetsAtMs : nowMs + TOTAL_KEPT_MS,
    noticeId: isTold ? platform.uuidV7(nowMs) : null,
  };
}

/** Rules and hours of one pass. */
const SUMMARIES_MAX = 200;

/** Raises one notice for each rule and past hour that has subjects without a notice of their own. */
export async function sumUpSubjects(
  parts: EpisodeParts,
  rules: ReadonlyMap<string, PercentRule>,
): Promise<void> {
  const { database, now } = parts;
  const { subjectCrossings: table } = database.tables;
  const isPending = and(isNull(table.noticeId), lt(table.hourMs, startOf(now(), HOUR_MS)));
  const { ruleId, hourMs } = table;
  const pending = await database.db
    .select({ ruleId, hourMs })
    .from(table)
    .where(isPending)
    .groupBy(ruleId, hourMs)
    .limit(SUMMARIES_MAX);
  for (const each of pending) {
    const rule = rules.get(each.ruleId);
    if (rule) await sumUpHour(parts, rule, each.hourMs);
  }
}

async function sumUpHour(parts: EpisodeParts, rule: PercentRule, hourMs: number): Promise<void> {
  const { database, now } = parts;
  const { subjectCrossings: table } = database.tables;
  const noticeId = platform.uuidV7(now());
  const isPending = and(eq(table.ruleId, rule.id), eq(table.hourMs, hourMs), isNull(table.noticeId));
  await database.transact(async (tx) => {
    if (!(await lockRule(database, tx, rule))) return;
    const rows = await tx.update(table).set({ noticeId }).where(isPending).returning({ kind: table.kind });
    if (rows.length === 0) return;
    const isOfHour = and(eq(table.accountId, rule.accountId), eq(table.hourMs, hourMs));
    const [all] = await tx.select({ n: count() }).from(table).where(isOfHour);
    const data = describeSummary(rule, { hourMs, rows, isCut: (all?.n ?? 0) >= COUNTED_MAX });
    const notice = { id: noticeId, subject: rule.accountId, data, endedAtMs: now(), ofSubject: true };
    await writeNotice(parts, tx, rule, notice);
  });
}

interface HourOfSubjects {
  readonly hourMs: number;
  readonly rows: readonly Pick<Scope, "kind">[];
  /** Whether there may have been more. */
  readonly isCut: boolean;
}

const PLURALS: Readonly<Record<Scope["kind"], readonly [one: string, many: string]>> = {
  key: ["key", "keys"],
  parent_key: ["key", "keys"],
  project: ["project", "projects"],
  member: ["member", "members"],
  end_user: ["end user", "end users"],
  tag: ["tag", "tags"],
  run: ["run", "runs"],
};

function describeSummary(rule: PercentRule, { hourMs, rows, isCut }: HourOfSubjects): Crossing["data"] {
  const parts = [...Map.groupBy(rows, ({ kind }) => kind)].map(
    ([kind, { length }]) => `${length} more ${PLURALS[kind][length === 1 ? 0 : 1]}`,
  );
  const who = `${isCut ? "At least " : ""}${parts.join(" and ")}`;
  const [from, to] = [hourMs, hourMs + HOUR_MS].map((ms) => new Date(ms).toISOString().slice(11, 16));
  const verb = rows.length === 1 ? "has" : "have";
  const text = `${who} ${verb} used ${rule.percent} % of a spending limit between ${from} and ${to} UTC.`;
  return { kind: "subject_summary", text, threshold: String(rule.percent), value: String(rows.length) };
}

const SWEPT_MAX = 500;

/** Deletes up to 500 crossings of periods that are over. Returns their number. */
export async function sweepCrossings(
  { db, transact, tables: { subjectCrossings: table } }: Database,
  nowMs: number,
): Promise<number> {
  // Those of the last hours may still wait for their summary.
  const isOver = and(lt(table.keptUntilMs, nowMs - DAY_MS), lt(table.hourMs, nowMs - DAY_MS));
  const rows = await db.select({ id: table.id }).from(table).where(isOver).limit(SWEPT_MAX);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0)
    await transact(async (tx) => void (await tx.delete(table).where(inArray(table.id, ids))));
  return ids.length;
}
