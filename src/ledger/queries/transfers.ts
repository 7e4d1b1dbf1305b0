import { DAY_MS } from "../../domain/id-time.ts";
import { ACCOUNTS, TRANSFER_KINDS, type TransferKind } from "../core/book.ts";
import { isTime } from "../core/validate.ts";
import { LedgerError } from "../ledger.ts";
import type { JournalLine, Page, PageRequest, TransferKindName, TransferRange } from "../records.ts";
import {
  createPage,
  createValues,
  type Dialect,
  isStorable,
  type PagedList,
  printToken,
  type Row,
  type RunQuery,
  readPage,
  type Values,
} from "./query.ts";

/** The journal of a wallet, in the order of its numbers or the reverse. */
export function createTransferList(run: RunQuery, dialect: Dialect) {
  return async (
    walletId: string,
    page: PageRequest,
    range: TransferRange = {},
  ): Promise<Page<JournalLine>> => {
    checkRange(walletId, range);
    const values = createValues(dialect);
    const list: PagedList = { name: nameOf(walletId, range), isPosition };
    const { after, rowsMax } = readPage(list, page);
    const isAscending = range.order === "oldest_first";
    const kinds = selectKinds(range.kinds);
    const order = dialect.transferOrder;
    const conditions = [`wallet_id = ${values.add(walletId)}`];
    // The position is in the order of the rows, so that no page reads those of another again.
    if (after !== undefined) {
      // Few are found by their own index: a condition on an expression chooses no other one.
      const position = kinds?.isFew ? `+${order}` : order;
      conditions.push(`${position} ${isAscending ? ">" : "<"} ${values.add(BigInt(after))}`);
    }
    if (kinds ? !kinds.isFew : after === undefined) {
      const search = createPositionSearch(run, dialect, walletId);
      conditions.push(...(await positionsBetween(search, range, values)));
    }
    const select: TransferSelect = { dialect, values, conditions, isAscending };
    const scanned = kinds?.isFew === false ? await endOfScan(run, select) : undefined;
    if (scanned !== undefined)
      conditions.push(`${order} ${isAscending ? "<=" : ">="} ${values.add(scanned)}`);
    conditions.push(...timesOf(range, values), ...(kinds ? [kinds.condition] : []));
    const sql = printSelect(select, rowsMax, kinds?.isFew);
    const rows = await run({ sql, values: values.all });
    const positionOf = () => `${rows[page.size - 1]?.position}`;
    const found = createPage(list, page, { rows, read: readJournalLine, positionOf });
    const goesOn = found.nextToken === undefined && scanned !== undefined;
    return goesOn ? { ...found, nextToken: printToken(list, `${scanned}`) } : found;
  };
}

interface TransferSelect {
  readonly dialect: Dialect;
  readonly values: Values;
  readonly conditions: readonly string[];
  readonly isAscending: boolean;
}

function printSelect(select: TransferSelect, rowsMax: number, isOfFew = false): string {
  const { dialect, values, conditions, isAscending } = select;
  const columns = `${dialect.transferOrder} AS position, ${TRANSFER_COLUMNS}`;
  const found = `SELECT ${columns} FROM transfers WHERE ${conditions.join(" AND ")}`;
  const sorted = `ORDER BY position ${isAscending ? "ASC" : "DESC"} LIMIT ${values.add(rowsMax)}`;
  // Found before they are sorted, so that no planner walks the whole wallet in its order instead.
  return isOfFew ? `WITH few AS MATERIALIZED (${found}) SELECT * FROM few ${sorted}` : `${found} ${sorted}`;
}

/** The transfers that one page of some kinds reads, so that a rare kind holds no reader for seconds. */
export const SCANNED_MAX = 50_000;

/** Resolves to the position of the last transfer that a page reads; `undefined` where it can read all. */
async function endOfScan(
  run: RunQuery,
  { dialect, values, conditions, isAscending }: TransferSelect,
): Promise<bigint | undefined> {
  const order = dialect.transferOrder;
  const sql = `SELECT ${order} AS position FROM transfers WHERE ${conditions.join(" AND ")}
    ORDER BY ${order} ${isAscending ? "ASC" : "DESC"} LIMIT 1 OFFSET ${SCANNED_MAX - 1}`;
  const [last] = await run({ sql, values: values.all });
  return last && BigInt(String(last.position));
}

function nameOf(walletId: string, { fromMs, toMs, order, kinds = [] }: TransferRange): PagedList["name"] {
  const isWhole = fromMs === undefined && toMs === undefined && order !== "oldest_first";
  const name = isWhole ? ["transfers", walletId] : ["transfers", walletId, { fromMs, toMs, order }];
  return kinds.length === 0 ? name : [...name, kinds.toSorted()];
}

export function checkRange(walletId: string, { fromMs, toMs, order }: TransferRange): void {
  const isOrder = order === undefined || order === "newest_first" || order === "oldest_first";
  if (!isStorable(walletId) || !isBound(fromMs) || !isBound(toMs) || !isOrder)
    throw new LedgerError("invalid_query");
}

export function timesOf({ fromMs, toMs }: TransferRange, values: Values): readonly string[] {
  return [
    ...(fromMs === undefined ? [] : [`created_at_ms >= ${values.add(fromMs)}`]),
    ...(toMs === undefined ? [] : [`created_at_ms < ${values.add(toMs)}`]),
  ];
}

function isBound(ms: number | undefined): boolean {
  return ms === undefined || isTime(ms);
}

function isPosition(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}

/** How far the clock may have been set back between two transfers, so that a range of time has all of its own. */
export const CLOCK_SLACK_MS = 2 * DAY_MS;

/**
 * Returns the conditions on the positions of a range of time: no index has the times of transfers. They are
 * in the order of their commits, so that a binary search finds both ends.
 */
async function positionsBetween(
  { order, firstFrom }: PositionSearch,
  { fromMs = 0, toMs }: TransferRange,
  values: Values,
): Promise<readonly string[]> {
  const conditions: string[] = [];
  if (fromMs > CLOCK_SLACK_MS)
    conditions.push(`${order} >= ${values.add(await firstFrom(fromMs - CLOCK_SLACK_MS))}`);
  if (toMs !== undefined) conditions.push(`${order} < ${values.add(await firstFrom(toMs + CLOCK_SLACK_MS))}`);
  return conditions;
}

export interface PositionSearch {
  readonly order: string;
  /** Resolves to the position of the first transfer of a time or a later one. */
  firstFrom(atMs: number): Promise<number>;
}

export function createPositionSearch(run: RunQuery, dialect: Dialect, walletId: string): PositionSearch {
  const order = dialect.transferOrder;
  const wallet = `wallet_id = ${dialect.placeholder(1)}`;
  const end = (direction: string) =>
    `(SELECT ${order} FROM transfers WHERE ${wallet} ORDER BY ${order} ${direction} LIMIT 1)`;
  return {
    order,
    async firstFrom(atMs) {
      // Two selections, because SQLite reads the whole table for a minimum and a maximum in one.
      const ends = `SELECT ${end("ASC")} AS low, ${end("DESC")} AS high`;
      const [bounds] = await run({ sql: ends, values: [walletId] });
      let low = Number(bounds?.low ?? 1);
      let after = Number(bounds?.high ?? 0) + 1;
      while (low < after) {
        const middle = Math.floor((low + after) / 2);
        const sql = `SELECT ${order} AS position, created_at_ms FROM transfers
          WHERE ${wallet} AND ${order} >= ${dialect.placeholder(2)} ORDER BY ${order} LIMIT 1`;
        const [row] = await run({ sql, values: [walletId, middle] });
        if (row === undefined || Number(row.created_at_ms) >= atMs) after = middle;
        else low = Number(row.position) + 1;
      }
      return low;
    },
  };
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

/** The columns that {@link readJournalLine} reads. */
export const TRANSFER_COLUMNS =
  "seq, transfer_id, kind, credit_account, amount, posted_after, hold_id, created_at_ms";

export function readJournalLine(given: Row): JournalLine {
  // Safe because the statement selects these columns, which have the schema's types.
  const row = given as unknown as TransferRow;
  const isCredit = Number(row.credit_account) === ACCOUNTS.wallet;
  return {
    seq: Number(row.seq),
    transferId: row.transfer_id,
    kind: kindOf(row.kind, isCredit),
    amount: isCredit ? row.amount : -row.amount,
    postedAfter: row.posted_after,
    holdId: row.hold_id ?? undefined,
    createdAtMs: Number(row.created_at_ms),
  };
}

/** The name of a stored kind, of a transfer into the wallet or out of it. Throws `unavailable` for an unknown one. */
export function kindOf(stored: unknown, isCredit: boolean): TransferKindName {
  const kind = KIND_NAMES.get(`${stored}`);
  if (!kind) throw new LedgerError("unavailable", new Error(`Cannot read a transfer: its kind is ${stored}`));
  return kind === "top_up" && !isCredit ? "correction" : kind;
}

/** Of transfers into the wallet; one out of it is a correction where it is none of the others. */
const NAMES: Readonly<Record<TransferKind, TransferKindName>> = {
  [TRANSFER_KINDS.topUp]: "top_up",
  [TRANSFER_KINDS.settlement]: "settlement",
  [TRANSFER_KINDS.expiryCapture]: "expiry_capture",
  [TRANSFER_KINDS.lateSettlement]: "late_settlement",
  [TRANSFER_KINDS.refund]: "refund",
  [TRANSFER_KINDS.charge]: "charge",
  [TRANSFER_KINDS.creditExpiry]: "credit_expiry",
};
const KIND_NAMES: ReadonlyMap<string, TransferKindName> = new Map(Object.entries(NAMES));

/** What transfers of some kinds match, and whether there is an index of them. */
interface KindsWanted {
  readonly condition: string;
  readonly isFew: boolean;
}

/** `undefined` for every kind. Throws `invalid_query` for a kind that is none. */
function selectKinds(kinds: readonly TransferKindName[] = []): KindsWanted | undefined {
  if (kinds.length === 0) return undefined;
  const conditions = kinds.map((kind) => KIND_CONDITIONS[kind]);
  if (conditions.some((condition) => condition === undefined)) throw new LedgerError("invalid_query");
  const isFew = kinds.every((kind) => FEW.has(kind));
  const few = isFew ? `${FEW_CONDITION} AND ` : "";
  return { condition: `${few}(${conditions.join(" OR ")})`, isFew };
}

const KIND_CONDITIONS: Readonly<Record<TransferKindName, string>> = {
  top_up: `(kind = ${TRANSFER_KINDS.topUp} AND credit_account = ${ACCOUNTS.wallet})`,
  correction: `(kind = ${TRANSFER_KINDS.topUp} AND credit_account <> ${ACCOUNTS.wallet})`,
  settlement: `kind = ${TRANSFER_KINDS.settlement}`,
  expiry_capture: `kind = ${TRANSFER_KINDS.expiryCapture}`,
  late_settlement: `kind = ${TRANSFER_KINDS.lateSettlement}`,
  refund: `kind = ${TRANSFER_KINDS.refund}`,
  charge: `kind = ${TRANSFER_KINDS.charge}`,
  credit_expiry: `kind = ${TRANSFER_KINDS.creditExpiry}`,
};

const FEW: ReadonlySet<TransferKindName> = new Set(["top_up", "correction", "refund"]);
/** That of their index. */
const FEW_CONDITION = `kind IN (${TRANSFER_KINDS.topUp}, ${TRANSFER_KINDS.refund})`;
