import { MEASURE_COLUMNS, UNKNOWN } from "../../db/usage-columns.ts";
import type { TimeRange } from "../queries/coverage.ts";
import { DAY_MS, firstIdOf, HOUR_MS } from "../queries/hold-time.ts";
import { createValues, type Row } from "../queries/query.ts";
import { SUMS_OF_RECEIPTS, SUMS_OF_SUMS } from "../queries/usage-columns.ts";
import type { RollUpGroup, RollUpStore, RollUpValue } from "./store.ts";

const KEY_COLUMNS = ["key_id", "model", "upstream", "outcome"] as const;

/** The columns of a roll-up, as its rows are written. */
export const ROLL_UP_COLUMNS: readonly string[] = [
  "wallet_id",
  "start_ms",
  ...KEY_COLUMNS,
  ...MEASURE_COLUMNS,
];

/** The wallets of an aggregation: one, or all. */
export interface Scope {
  readonly startMs: number;
  readonly walletId?: string | undefined;
}

/** Sums the receipts of an hour by wallet and group. */
export async function sumHour({ run, dialect }: RollUpStore, scope: Scope): Promise<readonly RollUpGroup[]> {
  const values = createValues(dialect);
  const conditions = [
    `hold_id >= ${values.add(firstIdOf(scope.startMs))}`,
    `hold_id < ${values.add(firstIdOf(scope.startMs + HOUR_MS))}`,
    ...(scope.walletId === undefined ? [] : [`wallet_id = ${values.add(scope.walletId)}`]),
  ];
  const sql = `SELECT wallet_id, key_id, model, coalesce(upstream, '${UNKNOWN}') AS upstream,
      coalesce(outcome, '${UNKNOWN}') AS outcome, ${SUMS_OF_RECEIPTS.join(", ")}
    FROM holds WHERE ${conditions.join(" AND ")} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1`;
  return groupRows(await run({ sql, values: values.all }), scope.startMs);
}

/** Sums the hours of a UTC day by wallet and group. */
export async function sumDay({ run, dialect }: RollUpStore, scope: Scope): Promise<readonly RollUpGroup[]> {
  const values = createValues(dialect);
  const isAll = scope.walletId === undefined;
  const from = isAll ? "(SELECT wallet_id AS owner FROM wallets) AS w CROSS JOIN usage_hours" : "usage_hours";
  const wallet = scope.walletId === undefined ? "owner" : values.add(scope.walletId);
  const sql = `SELECT wallet_id, ${KEY_COLUMNS.join(", ")}, ${SUMS_OF_SUMS.join(", ")}
    FROM ${from} WHERE wallet_id = ${wallet} AND start_ms >= ${values.add(scope.startMs)}
      AND start_ms < ${values.add(scope.startMs + DAY_MS)} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1`;
  return groupRows(await run({ sql, values: values.all }), scope.startMs);
}

/** How many receipts the roll-up of an hour of a wallet counts. */
export async function countRolledUp(
  { run, dialect }: RollUpStore,
  { walletId, startMs }: { readonly walletId: string; readonly startMs: number },
): Promise<number> {
  const values = createValues(dialect);
  const sql = `SELECT sum(requests) AS requests FROM usage_hours
    WHERE wallet_id = ${values.add(walletId)} AND start_ms = ${values.add(startMs)}`;
  const [row] = await run({ sql, values: values.all });
  return Number(row?.requests ?? 0);
}

/** Finds the id of the nearest hold within a range; `undefined` for a range without holds. */
export async function findHold(
  { run, dialect }: RollUpStore,
  range: TimeRange,
  order: "oldest" | "newest",
): Promise<string | undefined> {
  const values = createValues(dialect);
  const sql = `SELECT hold_id FROM holds WHERE hold_id >= ${values.add(firstIdOf(range.fromMs))}
    AND hold_id < ${values.add(firstIdOf(range.toMs))}
    ORDER BY hold_id ${order === "oldest" ? "ASC" : "DESC"} LIMIT 1`;
  const [row] = await run({ sql, values: values.all });
  return row && String(row.hold_id);
}

function groupRows(rows: readonly Row[], startMs: number): readonly RollUpGroup[] {
  const groups = new Map<string, (readonly RollUpValue[])[]>();
  for (const row of rows) {
    const walletId = String(row.wallet_id);
    const values = [walletId, startMs, ...KEY_COLUMNS.map((name) => String(row[name])), ...measuresOf(row)];
    const group = groups.get(walletId);
    if (group) group.push(values);
    else groups.set(walletId, [values]);
  }
  return [...groups].map(([walletId, each]) => ({ walletId, startMs, rows: each, isContinued: false }));
}

/** Null is 0: most buckets of most rows are empty. */
function measuresOf(row: Row): readonly RollUpValue[] {
  return MEASURE_COLUMNS.map((name) => {
    // Safe because sums are integers, or the text of one.
    const value = BigInt((row[name] ?? 0) as bigint | string | number);
    return value === 0n ? null : value;
  });
}
