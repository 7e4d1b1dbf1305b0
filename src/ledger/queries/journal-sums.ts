import { JOURNAL_SUM_COLUMNS } from "../../db/usage-columns.ts";
import type { Nanos } from "../../domain/money.ts";
import { ACCOUNTS, TRANSFER_KINDS } from "../core/book.ts";
import { LedgerError } from "../ledger.ts";
import type { JournalTotals, JournalTotalsOptions } from "../records.ts";
import { createValues, type Dialect, isStorable, type Query, type Row, type RunQuery } from "./query.ts";
import { PART } from "./usage-columns.ts";

const { topUp: TOP_UP, refund: REFUND } = TRANSFER_KINDS;

/** The amount of a transfer, negative for a correction: a top-up that takes money off. */
export const CREDITED = `CASE WHEN kind = ${TOP_UP} AND debit_account = ${ACCOUNTS.wallet} THEN -amount ELSE amount END`;

/** Which transfers an amount sums up. Together they are all transfers. */
const CONDITIONS = {
  topped_up: `kind = ${TOP_UP}`,
  // With what credits lost at their ends, which their rows sum up.
  charged: `kind NOT IN (${TOP_UP}, ${REFUND})`,
  refunded: `kind = ${REFUND}`,
} as const;

/** The SQL of the columns of the sums, over transfers. */
const SUMS_OF_TRANSFERS = [
  "count(*) AS transfers",
  ...Object.entries(CONDITIONS).flatMap(([name, condition]) => [
    `coalesce(sum((${CREDITED}) / ${PART}) FILTER (WHERE ${condition}), 0) AS ${name}_high`,
    `coalesce(sum((${CREDITED}) % ${PART}) FILTER (WHERE ${condition}), 0) AS ${name}_low`,
  ]),
];

/** The sums of a wallet's transfers up to a position. */
export interface JournalSums {
  readonly position: bigint;
  /** In the order of `JOURNAL_SUM_COLUMNS`. */
  readonly sums: readonly bigint[];
}

/**
 * Sums up the journal of a wallet, at most `limit` transfers after the ones that are summed up. Two
 * statements, because PostgreSQL would plan one for an unknown position. Sums of a position never change.
 */
export async function sumJournalOf(
  run: RunQuery,
  dialect: Dialect,
  { walletId, limit }: { readonly walletId: string; readonly limit?: number | undefined },
): Promise<JournalSums> {
  const columns = JOURNAL_SUM_COLUMNS.join(", ");
  const sql = `SELECT position, ${columns} FROM journal_sums WHERE wallet_id = ${dialect.placeholder(1)}`;
  const [row] = await run({ sql, values: [walletId] });
  const summed = readSums(row, 0n);
  const [rest] = await run(sumsAfter(dialect, { walletId, limit, position: summed.position }));
  const { position, sums } = readSums(rest, summed.position);
  return { position, sums: sums.map((sum, index) => sum + (summed.sums[index] ?? 0n)) };
}

interface Rest {
  readonly walletId: string;
  readonly position: bigint;
  readonly limit: number | undefined;
}

function sumsAfter(dialect: Dialect, { walletId, position, limit }: Rest): Query {
  const values = createValues(dialect);
  const order = dialect.transferOrder;
  const rows = `SELECT ${order} AS position, kind, debit_account, amount FROM transfers
    WHERE wallet_id = ${values.add(walletId)} AND ${order} > ${values.add(position)}`;
  const limited = limit === undefined ? rows : `${rows} ORDER BY ${order} LIMIT ${values.add(limit)}`;
  const sql = `SELECT max(position) AS position, ${SUMS_OF_TRANSFERS.join(", ")} FROM (${limited}) AS rest`;
  return { sql, values: values.all };
}

function readSums(row: Row | undefined, position: bigint): JournalSums {
  // Safe because sums and positions are integers, or the text of one.
  const read = (name: string) => BigInt((row?.[name] ?? 0) as bigint | string | number);
  const last = read("position");
  return { position: last > position ? last : position, sums: JOURNAL_SUM_COLUMNS.map(read) };
}

const SUMS = `kind, count(*) AS count, sum((${CREDITED}) / ${PART}) AS high, sum((${CREDITED}) % ${PART}) AS low`;

/** Sums the whole journal of a wallet by what the transfers were for: exact to the last transfer. */
export function createJournalTotalsRead(run: RunQuery, dialect: Dialect) {
  return async (
    walletId: string,
    { derivesCharged = false }: JournalTotalsOptions = {},
  ): Promise<JournalTotals> => {
    if (!isStorable(walletId)) throw new LedgerError("invalid_query");
    const values = createValues(dialect);
    const wallet = values.add(walletId);
    if (derivesCharged) return deriveCharged(await run({ sql: derivedSums(wallet), values: values.all }));
    const [row] = await run({
      sql: `SELECT ${EXPIRED} FROM (${expiredSums(wallet)}) AS e`,
      values: values.all,
    });
    return totalsOf((await sumJournalOf(run, dialect, { walletId })).sums, expiredIn(row));
  };
}

/** Reads the balance and the few transfers into the wallet, for which there is an index, in one statement. */
function derivedSums(wallet: string): string {
  return `SELECT posted, last_seq, ${EXPIRED}, sums.* FROM wallets CROSS JOIN (${expiredSums(wallet)}) AS e LEFT JOIN (
      SELECT ${SUMS} FROM transfers WHERE wallet_id = ${wallet} AND kind IN (${TOP_UP}, ${REFUND}) GROUP BY kind
    ) AS sums ON true WHERE wallet_id = ${wallet}`;
}

const EXPIRED = "expired_high, expired_low";

function expiredSums(wallet: string): string {
  return `SELECT coalesce(sum(expired / ${PART}), 0) AS expired_high, coalesce(sum(expired % ${PART}), 0) AS expired_low
    FROM credits WHERE wallet_id = ${wallet}`;
}

function expiredIn(row: Row | undefined): Nanos {
  return BigInt(String(row?.expired_high ?? 0)) * PART + BigInt(String(row?.expired_low ?? 0));
}

function totalsOf([transfers = 0n, ...parts]: readonly bigint[], expired: Nanos): JournalTotals {
  const amount = (index: number) => (parts[2 * index] ?? 0n) * PART + (parts[2 * index + 1] ?? 0n);
  const charged = amount(1) - expired;
  return { toppedUp: amount(0), charged, refunded: amount(2), expired, transfers: Number(transfers) };
}

/** The numbers of transfers have no gaps, so that the last one is their count. */
function deriveCharged(rows: readonly Row[]): JournalTotals {
  const toppedUp = sumAmounts(rows, (kind) => kind === TOP_UP);
  const refunded = sumAmounts(rows, (kind) => kind === REFUND);
  const { posted = 0n, last_seq = 0n } = rows[0] ?? {};
  const expired = expiredIn(rows[0]);
  const charged = toppedUp + refunded - expired - BigInt(String(posted));
  return { toppedUp, charged, refunded, expired, transfers: Number(last_seq) };
}

function sumAmounts(rows: readonly Row[], matches: (kind: number) => boolean): Nanos {
  return rows
    .filter(({ kind }) => kind !== null && matches(Number(kind)))
    .reduce((sum, { high, low }) => sum + BigInt(String(high)) * PART + BigInt(String(low)), 0n);
}
