import { ACCOUNTS, TRANSFER_KINDS } from "../core/book.ts";
import { LedgerError } from "../ledger.ts";
import type {
  JournalLine,
  JournalTotals,
  Page,
  PageRequest,
  TransferKindName,
  TransferRange,
} from "../records.ts";
import { DAY_MS } from "./hold-time.ts";
import { createPage, type PagedList, readPage } from "./page.ts";
import { createValues, type Dialect, isStorable, type Row, type RunQuery, type Values } from "./query.ts";

const KIND_NAMES: ReadonlyMap<number, TransferKindName> = new Map<number, TransferKindName>([
  [TRANSFER_KINDS.topUp, "top_up"],
  [TRANSFER_KINDS.settlement, "settlement"],
  [TRANSFER_KINDS.expiryCapture, "expiry_capture"],
  [TRANSFER_KINDS.lateSettlement, "late_settlement"],
  [TRANSFER_KINDS.refund, "refund"],
  [TRANSFER_KINDS.charge, "charge"],
]);

/** The journal of a wallet, in the order of its numbers or the reverse. */
export function createTransferList(run: RunQuery, dialect: Dialect) {
  return async (
    walletId: string,
    page: PageRequest,
    range: TransferRange = {},
  ): Promise<Page<JournalLine>> => {
    const values = createValues(dialect);
    const conditions = conditionsOf(walletId, range, values);
    const isAscending = range.order === "oldest_first";
    const list: PagedList = { name: nameOf(walletId, range), isPosition };
    const { after, rowsMax } = readPage(list, page);
    const order = dialect.transferOrder;
    if (after !== undefined) {
      // The position is in the order of the rows, so that no page reads those of another again.
      conditions.push(`${order} ${isAscending ? ">" : "<"} ${values.add(BigInt(after))}`);
    } else if (order === "rowid") {
      conditions.push(...(await rowsBetween(run, range.fromMs ?? 0, range.toMs, values)));
    }
    const sql = `SELECT ${order} AS position, seq, transfer_id, kind, credit_account, amount, posted_after, hold_id,
      created_at_ms FROM transfers WHERE ${conditions.join(" AND ")}
      ORDER BY ${order} ${isAscending ? "ASC" : "DESC"} LIMIT ${values.add(rowsMax)}`;
    const rows = await run({ sql, values: values.all });
    const positionOf = () => `${rows[page.size - 1]?.position}`;
    return createPage(list, page, { rows, read: readLine, positionOf });
  };
}

function nameOf(walletId: string, { fromMs, toMs, order }: TransferRange): PagedList["name"] {
  const isWhole = fromMs === undefined && toMs === undefined && order !== "oldest_first";
  return isWhole ? ["transfers", walletId] : ["transfers", walletId, { fromMs, toMs, order }];
}

function conditionsOf(walletId: string, { fromMs, toMs, order }: TransferRange, values: Values): string[] {
  const isOrder = order === undefined || order === "newest_first" || order === "oldest_first";
  if (!isStorable(walletId) || !isTime(fromMs) || !isTime(toMs) || !isOrder)
    throw new LedgerError("invalid_query");
  const conditions = [`wallet_id = ${values.add(walletId)}`];
  if (fromMs !== undefined) conditions.push(`created_at_ms >= ${values.add(fromMs)}`);
  if (toMs !== undefined) conditions.push(`created_at_ms < ${values.add(toMs)}`);
  return conditions;
}

function isTime(ms: number | undefined): boolean {
  return ms === undefined || (Number.isInteger(ms) && ms >= 0 && ms < 2 ** 48);
}

/** High and low parts are summed separately: a sum of 64-bit amounts may exceed 64 bits. */
const PART = 1_000_000_000n;

/** Sums the whole journal of a wallet by what the transfers were for. */
export function createJournalTotalsRead(run: RunQuery, dialect: Dialect) {
  return async (walletId: string): Promise<JournalTotals> => {
    if (!isStorable(walletId)) throw new LedgerError("invalid_query");
    const values = createValues(dialect);
    const sql = `SELECT kind, count(*) AS count, sum(amount / ${PART}) AS high, sum(amount % ${PART}) AS low
      FROM transfers WHERE wallet_id = ${values.add(walletId)} GROUP BY kind`;
    const sums = (await run({ sql, values: values.all })).map((row) => ({
      kind: Number(row.kind),
      count: Number(row.count),
      amount: BigInt(String(row.high)) * PART + BigInt(String(row.low)),
    }));
    const total = (matches: (kind: number) => boolean) =>
      sums.reduce((sum, { kind, amount }) => (matches(kind) ? sum + amount : sum), 0n);
    const { topUp, refund } = TRANSFER_KINDS;
    return {
      toppedUp: total((kind) => kind === topUp),
      charged: total((kind) => kind !== topUp && kind !== refund),
      refunded: total((kind) => kind === refund),
      transfers: sums.reduce((sum, { count }) => sum + count, 0),
    };
  };
}

function isPosition(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}

/** How far the clock may have been set back between two transfers, so that a range of time has all of its own. */
const CLOCK_SLACK_MS = 2 * DAY_MS;

/**
 * Returns the conditions on the row numbers of a range of time, for a table without an index by time. Rows
 * are in the order of their commits, so that a binary search finds both ends.
 */
async function rowsBetween(
  run: RunQuery,
  fromMs: number,
  toMs: number | undefined,
  values: Values,
): Promise<readonly string[]> {
  const conditions: string[] = [];
  if (fromMs > CLOCK_SLACK_MS)
    conditions.push(`rowid >= ${values.add(await firstRowFrom(run, fromMs - CLOCK_SLACK_MS))}`);
  if (toMs !== undefined)
    conditions.push(`rowid < ${values.add(await firstRowFrom(run, toMs + CLOCK_SLACK_MS))}`);
  return conditions;
}

/** The number of the first row of a time or a later one. */
async function firstRowFrom(run: RunQuery, atMs: number): Promise<number> {
  const [bounds] = await run({
    sql: "SELECT min(rowid) AS low, max(rowid) AS high FROM transfers",
    values: [],
  });
  let low = Number(bounds?.low ?? 1);
  let end = Number(bounds?.high ?? 0) + 1;
  while (low < end) {
    const middle = Math.floor((low + end) / 2);
    const sql = "SELECT rowid AS row, created_at_ms FROM transfers WHERE rowid >= ?1 ORDER BY rowid LIMIT 1";
    const [row] = await run({ sql, values: [middle] });
    if (row === undefined || Number(row.created_at_ms) >= atMs) end = middle;
    else low = Number(row.row) + 1;
  }
  return low;
}

interface TransferRow {
  readonly seq: bigint;
  readonly transfer_id: string;
  /** PostgreSQL returns its small integers as numbers. */
  readonly kind: bigint | number;
  readonly credit_account: bigint | number;
  readonly amount: bigint;
  readonly posted_after: bigint;
  readonly hold_id: string | null;
  readonly created_at_ms: bigint;
}

function readLine(given: Row): JournalLine {
  // Safe because the statement selects these columns, which have the schema's types.
  const row = given as unknown as TransferRow;
  const kind = KIND_NAMES.get(Number(row.kind));
  if (!kind)
    throw new LedgerError("unavailable", new Error(`Cannot read a transfer: its kind is ${row.kind}`));
  return {
    seq: Number(row.seq),
    transferId: row.transfer_id,
    kind,
    amount: Number(row.credit_account) === ACCOUNTS.wallet ? row.amount : -row.amount,
    postedAfter: row.posted_after,
    holdId: row.hold_id ?? undefined,
    createdAtMs: Number(row.created_at_ms),
  };
}
