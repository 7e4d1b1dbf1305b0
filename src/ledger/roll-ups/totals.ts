import { DAY_MS, startOf } from "../../domain/id-time.ts";
import { findHour, sumTotalDay, sumTotalHours } from "./aggregate.ts";
import { type RollUpJob, writeGroups } from "./store.ts";

// Totals of hours and days that were closed before the database had totals.

/** Begins with no totals: there are none yet, or another program has changed roll-ups without them. */
export function beginTotals({ store, cursor }: RollUpJob): Promise<boolean> {
  const { version, hours } = cursor;
  return store.write({ version, cursor: { ...cursor, totalsFromMs: hours.toMs }, beginsTotals: true });
}

/** Adds up the closed hours of one day before the totals, and the day, or skips to the last that has roll-ups. */
export async function closeOlderTotals(job: RollUpJob): Promise<boolean> {
  const { store, cursor } = job;
  const { hours, totalsFromMs } = cursor;
  if (totalsFromMs <= hours.fromMs) return false;
  const dayMs = startOf(totalsFromMs - 1, DAY_MS);
  const fromMs = Math.max(dayMs, hours.fromMs);
  const groups = await sumTotalHours(store, { fromMs, toMs: totalsFromMs });
  if (groups.length === 0) return skipTotals(job);
  const version = await writeGroups(store, cursor.version, { table: "usage_total_hours", groups });
  if (version === undefined) return false;
  const final = {
    table: "usage_total_days",
    groups: await sumTotalDay(store, dayMs),
    cursor: { ...cursor, totalsFromMs: fromMs },
  } as const;
  return (await writeGroups(store, version, final)) !== undefined;
}

async function skipTotals({ store, cursor }: RollUpJob): Promise<boolean> {
  const { version, hours, totalsFromMs } = cursor;
  const lastMs = await findHour(store, "max", { fromMs: hours.fromMs, toMs: totalsFromMs });
  const fromMs = lastMs === undefined ? hours.fromMs : startOf(lastMs, DAY_MS) + DAY_MS;
  return store.write({ version, cursor: { ...cursor, totalsFromMs: Math.max(fromMs, hours.fromMs) } });
}
