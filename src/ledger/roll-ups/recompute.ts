import { DAY_MS, HOUR_MS, hourOf, startOf } from "../../domain/id-time.ts";
import { createValues } from "../queries/query.ts";
import { columnsOf, countRolledUp, sumDay, sumHour, sumTotalDay, sumTotalHours } from "./aggregate.ts";
import { isInScopeDays, writeScopeDay } from "./scope-days.ts";
import {
  GRACE_MS,
  type GroupsWrite,
  type RecomputedHour,
  type RollUpGroup,
  type RollUpJob,
  type RollUpStore,
  writeGroups,
} from "./store.ts";

/** The most stale hours that a step chooses from. */
const STALE_MAX = 10_000;

/**
 * Recomputes the stale hours of one wallet and day, then the totals of these hours, and then the day, at last by
 * scope. Returns whether it has. Hours with open holds stay stale, and so do hours that are not over, as after the
 * clock was set back.
 */
export async function recomputeStale(job: RollUpJob): Promise<boolean> {
  const { hours, isWholeDay } = await chooseHours(job);
  const [first] = hours;
  if (!first) return false;
  const { store, cursor } = job;
  const groups: RollUpGroup[] = [];
  for (const hour of hours) groups.push(...(await sumAgain(store, hour)));
  const dayMs = startOf(first.startMs, DAY_MS);
  const isDayClosed = dayMs >= cursor.days.fromMs && dayMs < cursor.days.toMs;
  const starts = hours.map(({ startMs }) => startMs);
  const writes: (() => Promise<GroupsWrite>)[] = [
    async () => ({ table: "usage_hours", groups }),
    async () => ({ table: "usage_total_hours", groups: await sumTotalHours(store, starts) }),
  ];
  if (isDayClosed) {
    const scope = { startMs: dayMs, walletId: first.walletId };
    writes.push(
      async () => ({ table: "usage_days", groups: await sumDay(store, scope) }),
      async () => ({ table: "usage_total_days", groups: await sumTotalDay(store, dayMs) }),
    );
  }
  let version = await writeInTurn(job, writes);
  if (version !== undefined && isWholeDay && isInScopeDays(job, dayMs)) {
    version = await writeScopeDay(job, version, { startMs: dayMs, walletId: first.walletId });
  }
  return version !== undefined && store.write({ version, fresh: hours });
}

/** Makes and applies writes, each of which sums what the one before has written. Returns the version after them. */
async function writeInTurn(
  { store, cursor }: RollUpJob,
  writes: readonly (() => Promise<GroupsWrite>)[],
): Promise<number | undefined> {
  let version: number | undefined = cursor.version;
  for (const make of writes) {
    const write = await make();
    if (write.groups?.length) version = await writeGroups(store, version, write);
    if (version === undefined) return undefined;
  }
  return version;
}

interface ChosenHours {
  readonly hours: readonly RecomputedHour[];
  /** Whether no other hour of their wallet and day is stale: scopes are not read before. */
  readonly isWholeDay: boolean;
}

/** Chooses closed stale hours without open holds, of one wallet and one day. */
async function chooseHours({ store, cursor, nowMs }: RollUpJob): Promise<ChosenHours> {
  const { runShort: run, dialect } = store;
  const values = createValues(dialect);
  const endMs = Math.min(cursor.hours.toMs, startOf(nowMs - GRACE_MS, HOUR_MS));
  const sql = `SELECT wallet_id, start_ms, changes FROM usage_stale
    WHERE start_ms >= ${values.add(cursor.hours.fromMs)} AND start_ms < ${values.add(endMs)}
    ORDER BY wallet_id, start_ms LIMIT ${STALE_MAX}`;
  const rows = await run({ sql, values: values.all });
  const stale = rows.map((row) => ({
    walletId: String(row.wallet_id),
    startMs: Number(row.start_ms),
    changes: Number(row.changes),
  }));
  const open = stale.length === 0 ? new Set<string>() : await readOpenHours(store);
  const isEnded = ({ walletId, startMs }: RecomputedHour) => !open.has(`${startMs} ${walletId}`);
  const first = stale.find(isEnded);
  if (!first) return { hours: [], isWholeDay: false };
  const dayMs = startOf(first.startMs, DAY_MS);
  const ofDay = stale.filter(
    ({ walletId, startMs }) => walletId === first.walletId && startOf(startMs, DAY_MS) === dayMs,
  );
  const hours = ofDay.filter(isEnded);
  return { hours, isWholeDay: hours.length === ofDay.length };
}

async function readOpenHours({ runShort: run, dialect }: RollUpStore): Promise<ReadonlySet<string>> {
  const sql = `SELECT wallet_id, hold_id FROM ${dialect.openHolds} WHERE state = 'held'`;
  const rows = await run({ sql, values: [] });
  return new Set(rows.map((row) => `${hourOf(String(row.hold_id))} ${row.wallet_id}`));
}

const REQUESTS = columnsOf("usage_hours").indexOf("requests");

/** Sums an hour of a wallet again. An hour whose receipts are gone keeps its roll-up. */
async function sumAgain(store: RollUpStore, hour: RecomputedHour): Promise<readonly RollUpGroup[]> {
  const groups = await sumHour(store, hour);
  const requests = groups
    .flatMap(({ rows }) => rows)
    .reduce((sum, row) => sum + Number(row[REQUESTS] ?? 0), 0);
  return requests < (await countRolledUp(store, hour)) ? [] : groups;
}
