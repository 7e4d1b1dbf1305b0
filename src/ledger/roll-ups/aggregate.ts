import { COST_COLUMNS, MEASURE_COLUMNS, UNKNOWN } from "../../db/usage-columns.ts";
import { DAY_MS, firstIdOf, HOUR_MS } from "../../domain/id-time.ts";
import type { TimeRange } from "../queries/coverage.ts";
import { sumJournalOf } from "../queries/journal-sums.ts";
import { createValues, type Row } from "../queries/query.ts";
import { isOfTotals, type RollUpTable } from "../queries/roll-up-tables.ts";
import { measuresOfReceipts, measuresOfSums, parseMeasures } from "../queries/usage-columns.ts";
import type { RollUpGroup, RollUpStore, RollUpValue } from "./store.ts";

const ANSWER_COLUMNS = ["model", "upstream", "outcome"] as const;

/** The columns of a roll-up that name its wallet, its time and its group. */
const KEY_COLUMNS = {
  wallets: ["wallet_id", "start_ms", "key_id", ...ANSWER_COLUMNS],
  totals: ["start_ms", ...ANSWER_COLUMNS],
  scopes: ["wallet_id", "start_ms", "kind", "scope_id", "ok"],
} as const;

/** The columns of a roll-up, as its rows are written. */
export function columnsOf(table: RollUpTable): readonly string[] {
  if (table === "usage_scope_days") return [...KEY_COLUMNS.scopes, ...MEASURE_COLUMNS];
  return [...KEY_COLUMNS[isOfTotals(table) ? "totals" : "wallets"], ...MEASURE_COLUMNS];
}

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
      coalesce(outcome, '${UNKNOWN}') AS outcome, ${measuresOfReceipts(dialect)}
    FROM holds WHERE ${conditions.join(" AND ")} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1`;
  return groupWallets(await run({ sql, values: values.all }), scope.startMs);
}

/** Sums the hours of a UTC day by wallet and group. */
export async function sumDay({ run, dialect }: RollUpStore, scope: Scope): Promise<readonly RollUpGroup[]> {
  const values = createValues(dialect);
  const isAll = scope.walletId === undefined;
  const from = isAll ? `${WALLETS} CROSS JOIN usage_hours` : "usage_hours";
  const wallet = scope.walletId === undefined ? "owner" : values.add(scope.walletId);
  const sql = `SELECT wallet_id, key_id, ${ANSWER_COLUMNS.join(", ")}, ${measuresOfSums(dialect)}
    FROM ${from} WHERE wallet_id = ${wallet} AND start_ms >= ${values.add(scope.startMs)}
      AND start_ms < ${values.add(scope.startMs + DAY_MS)} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1`;
  return groupWallets(await run({ sql, values: values.all }), scope.startMs);
}

/** Every wallet: the roll-ups of wallets are sorted by wallet first. */
const WALLETS = "(SELECT wallet_id AS owner FROM wallets) AS w";

/** Sums hours of all wallets: each that is given, or all of a range. */
export async function sumTotalHours(
  { run, dialect }: RollUpStore,
  hours: TimeRange | readonly number[],
): Promise<readonly RollUpGroup[]> {
  const values = createValues(dialect);
  const condition =
    "fromMs" in hours
      ? `start_ms >= ${values.add(hours.fromMs)} AND start_ms < ${values.add(hours.toMs)}`
      : `start_ms IN (${hours.map((startMs) => values.add(startMs)).join(", ")})`;
  const sql = `SELECT start_ms, ${ANSWER_COLUMNS.join(", ")}, ${measuresOfSums(dialect)}
    FROM ${WALLETS} CROSS JOIN usage_hours WHERE wallet_id = owner AND ${condition}
    GROUP BY 1, 2, 3, 4 ORDER BY 1`;
  const rows = await run({ sql, values: values.all });
  return groupRows(rows, (row) => ({ walletId: undefined, startMs: Number(row.start_ms) }));
}

/** Sums the totals of hours of a UTC day. */
export async function sumTotalDay({ run, dialect }: RollUpStore, startMs: number) {
  const values = createValues(dialect);
  const sql = `SELECT ${ANSWER_COLUMNS.join(", ")}, ${measuresOfSums(dialect)} FROM usage_total_hours
    WHERE start_ms >= ${values.add(startMs)} AND start_ms < ${values.add(startMs + DAY_MS)} GROUP BY 1, 2, 3`;
  return groupRows(await run({ sql, values: values.all }), () => ({ walletId: undefined, startMs }));
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
  { run, dialect }: Pick<RollUpStore, "run" | "dialect">,
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

/** The first or last hour of a range that has roll-ups. */
export async function findHour(
  { run, dialect }: RollUpStore,
  end: "min" | "max",
  { fromMs, toMs }: TimeRange,
): Promise<number | undefined> {
  const values = createValues(dialect);
  const sql = `SELECT ${end}(start_ms) AS hour_ms FROM usage_hours
    WHERE start_ms >= ${values.add(fromMs)} AND start_ms < ${values.add(toMs)}`;
  const [row] = await run({ sql, values: values.all });
  return row === undefined || row.hour_ms === null ? undefined : Number(row.hour_ms);
}

/** A wallet's journal is summed up when this many transfers are not. */
const TRANSFERS_MIN = 5_000;
/** The most transfers that a step adds. */
const TRANSFERS_MAX = 20_000;

/**
 * Adds transfers to the sums of one wallet's journal. Returns whether it has. Transfers never change and are
 * committed in the order of their positions, so that equal positions have equal sums, from every process.
 */
export async function sumJournal(store: RollUpStore): Promise<boolean> {
  const walletId = await findWallet(store);
  if (walletId === undefined) return false;
  const sums = await sumJournalOf(store.run, store.dialect, { walletId, limit: TRANSFERS_MAX });
  return store.writeJournal(walletId, sums);
}

/** Finds a wallet with many transfers that are not summed up. They are numbered without gaps. */
async function findWallet({ run }: RollUpStore): Promise<string | undefined> {
  const sql = `SELECT wallets.wallet_id FROM wallets LEFT JOIN journal_sums USING (wallet_id)
    WHERE last_seq - coalesce(transfers, 0) >= ${TRANSFERS_MIN} ORDER BY last_seq - coalesce(transfers, 0) DESC LIMIT 1`;
  const [row] = await run({ sql, values: [] });
  return row && String(row.wallet_id);
}

function groupWallets(rows: readonly Row[], startMs: number): readonly RollUpGroup[] {
  return groupRows(rows, (row) => ({ walletId: String(row.wallet_id), startMs }));
}

type GroupKey = Pick<RollUpGroup, "walletId" | "startMs">;

/** Makes the rows that are written. Rows of one group must be adjacent. */
function groupRows(rows: readonly Row[], keyOf: (row: Row) => GroupKey): readonly RollUpGroup[] {
  const groups: (RollUpGroup & { readonly rows: (readonly RollUpValue[])[] })[] = [];
  for (const row of rows) {
    const { walletId, startMs } = keyOf(row);
    const answer = ANSWER_COLUMNS.map((name) => String(row[name]));
    const key = walletId === undefined ? [startMs] : [walletId, startMs, String(row.key_id)];
    const values = [...key, ...answer, ...measuresOf(row)];
    const last = groups.at(-1);
    if (last && last.walletId === walletId && last.startMs === startMs) last.rows.push(values);
    else groups.push({ walletId, startMs, rows: [values], isContinued: false });
  }
  return groups;
}

/**
 * The measures of a row as they are written. Null is 0: most buckets of most rows are empty. Costs are never null,
 * which tells them from unknown ones.
 */
export function measuresOf(row: Row, names = MEASURE_COLUMNS): readonly RollUpValue[] {
  return parseMeasures(row).map((value, index) =>
    Number(value) !== 0 || COST_COLUMNS.includes(names[index] ?? "") ? value : null,
  );
}
