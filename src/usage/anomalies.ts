import { findKeyNames } from "../accounts/find-items.ts";
import type { Database } from "../db/database.ts";
import { DAY_MS } from "../domain/id-time.ts";
import { type Nanos, parseUsd } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";

/** The latest days that are judged, today included. */
const DAYS_JUDGED = 28;
/** Each day is compared with so many equal weekdays before it. */
const WEEKS = 8;
/** A day is judged only with so many equal weekdays since the first request. */
const WEEKS_MIN = 3;
const TIMES = 3n;
/** Smaller days are no anomaly, whatever the others were. */
const COST_MIN = parseUsd("0.01");

/** A day that cost more than usual. */
export interface Anomaly {
  readonly dayMs: number;
  readonly cost: Nanos;
  /** The median of the equal weekdays before. */
  readonly usual: Nanos;
}

/**
 * Finds days that cost more than 3 × the median of the same weekday in the 8 weeks before, newest first. Days
 * without a request count as 0 since the first day with one. `costs` is by the start of the UTC day.
 */
export function findAnomalies(costs: ReadonlyMap<number, Nanos>, nowMs: number): readonly Anomaly[] {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const firstMs = Math.min(...costs.keys());
  const anomalies: Anomaly[] = [];
  for (let day = 0; day < DAYS_JUDGED; day += 1) {
    const dayMs = todayMs - day * DAY_MS;
    const cost = costs.get(dayMs) ?? 0n;
    const before = Array.from({ length: WEEKS }, (_, week) => dayMs - (week + 1) * 7 * DAY_MS);
    const known = before.filter((each) => each >= firstMs).map((each) => costs.get(each) ?? 0n);
    if (known.length < WEEKS_MIN || cost < COST_MIN) continue;
    const usual = medianOf(known);
    if (cost > TIMES * usual) anomalies.push({ dayMs, cost, usual });
  }
  return anomalies;
}

/** The lower median, of at least one amount. */
function medianOf(amounts: readonly Nanos[]): Nanos {
  const sorted = amounts.toSorted((one, other) => (one < other ? -1 : 1));
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0n;
}

/** A day that cost more than usual, and the key that cost the most on it. */
export interface AccountAnomaly extends Anomaly {
  readonly key: { readonly id: string; readonly name: string | undefined } | undefined;
}

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "usage">;
  readonly now: () => number;
}

/** Lists the anomalies of an account, newest first. */
export async function listAnomalies(
  { database, ledger, now }: Parts,
  accountId: string,
): Promise<readonly AccountAnomaly[]> {
  const nowMs = now();
  const toMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  const fromMs = toMs - (DAYS_JUDGED + WEEKS * 7) * DAY_MS;
  const { rows } = await ledger.usage({ walletId: accountId, fromMs, toMs, groupBy: ["day"] });
  const costs = new Map(rows.map((row) => [Number(row.group.day), row.captured - row.refunded]));
  const anomalies = findAnomalies(costs, nowMs);
  const keys = await Promise.all(anomalies.map(({ dayMs }) => dearestKey(ledger, accountId, dayMs)));
  const known = keys.filter((key) => key !== undefined);
  const names = await findKeyNames(database, accountId, known);
  return anomalies.map((anomaly, index) => {
    const id = keys[index];
    return { ...anomaly, key: id === undefined ? undefined : { id, name: names.get(id) } };
  });
}

async function dearestKey(
  ledger: Parts["ledger"],
  walletId: string,
  dayMs: number,
): Promise<string | undefined> {
  const range = { fromMs: dayMs, toMs: dayMs + DAY_MS };
  const { rows } = await ledger.usage({ walletId, ...range, groupBy: ["key"] });
  const [first] = rows.toSorted((one, other) => (one.captured < other.captured ? 1 : -1));
  return typeof first?.group.key === "string" ? first.group.key : undefined;
}
