// One page of what an export has not taken yet.
import { DAY_MS, firstIdOf, HOUR_MS, ID_TIME_MAX, timeOf } from "../../domain/id-time.ts";
import { createValues, type Row } from "../queries/query.ts";
import { readReceipt, receiptColumns } from "../queries/receipts.ts";
import { readJournalLine, TRANSFER_COLUMNS } from "../queries/transfers.ts";
import type { JournalLine, Receipt } from "../records.ts";
import { findHold } from "../roll-ups/aggregate.ts";
import type { ExportConnection } from "./connection.ts";
import type { CursorMove, ExportCursor } from "./cursor.ts";

/** A transfer with its receipt, or a receipt that ended without a transfer. */
export interface ExportEntry {
  readonly walletId: string;
  /** `undefined` where the ledger's database does not have the account. */
  readonly accountName: string | undefined;
  readonly keyName: string | undefined;
  readonly transfer: JournalLine | undefined;
  /** `undefined` for a top-up and the end of a credit, and for a receipt that is no longer kept. */
  readonly receipt: Receipt | undefined;
  /** How the cursor moves when this entry and all before it are taken. */
  readonly move: CursorMove;
}

export interface ExportPage {
  readonly entries: readonly ExportEntry[];
  /** A move beside those of the entries: of a search that found nothing. */
  readonly move: CursorMove | undefined;
  /** Whether the page had no room for everything that was committed. */
  readonly isCut: boolean;
}

/** The connection and dialect that reads need. */
export type ExportReads = Pick<ExportConnection, "run" | "dialect">;

/** A row found, before its receipt and names are read. */
export interface Found {
  readonly walletId: string;
  readonly holdId: string | undefined;
  readonly transfer: JournalLine | undefined;
  readonly move: CursorMove;
}

/** No position moves. */
const NONE: ReadonlyMap<string, number> = new Map();

/** The part of a page that uncharged ends fill first, so that a busy journal does not hold them up. */
const ENDS_SHARE = 4;

/**
 * Reads the next page of an export, at most `max` entries. The transfers of a wallet come in the order of its
 * journal; nothing that was committed before the call is left out for good.
 */
export async function readPage(
  connection: ExportConnection,
  cursor: ExportCursor,
  max: number,
): Promise<ExportPage> {
  await numberEnds(connection);
  const waiting = await readEnds(connection, cursor, max);
  const share = Math.min(waiting.length, Math.ceil(max / ENDS_SHARE));
  const journal = await readJournal(connection, cursor, max - share);
  const ends = waiting.slice(0, max - journal.found.length);
  const room = max - ends.length - journal.found.length;
  const searched =
    cursor.searchedTo === undefined || room === 0
      ? { found: [], move: undefined }
      : await searchOlder(connection, cursor, room);
  const found = [...ends, ...journal.found, ...searched.found];
  const isSearching = typeof searched.move?.searchedTo === "string";
  const entries = await complete(connection, found);
  return { entries, move: searched.move, isCut: found.length === max || journal.isCut || isSearching };
}

/** The most rows that one transaction numbers. */
const NUMBERED_MAX = 1_000;

/**
 * Numbers the rows that batches have added since. The numbers are given in the order of commits of this
 * function: a row whose batch commits late gets a higher number than all that were read before.
 */
async function numberEnds({ run, dialect, transact }: ExportConnection): Promise<void> {
  const found = await run({ sql: "SELECT 1 FROM export_ends WHERE position IS NULL LIMIT 1", values: [] });
  if (found.length === 0) return;
  const row = dialect.transferOrder === "rowid" ? "rowid" : "ctid";
  await transact(async (within) => {
    // Locks the row, so that a second process waits and then sees these numbers.
    await within({ sql: "UPDATE export_numbers SET last = last", values: [] });
    const numbered = await within({
      sql: `UPDATE export_ends AS e SET position = n.position FROM (SELECT ${row} AS place,
          (SELECT last FROM export_numbers) + row_number() OVER () AS position FROM export_ends
          WHERE position IS NULL LIMIT ${NUMBERED_MAX}) AS n
        WHERE e.${row} = n.place RETURNING 1`,
      values: [],
    });
    const values = createValues(dialect);
    await within({
      sql: `UPDATE export_numbers SET last = last + ${values.add(numbered.length)}`,
      values: values.all,
    });
    return true;
  });
}

async function readEnds(
  { run, dialect }: ExportReads,
  { endsPosition }: ExportCursor,
  max: number,
): Promise<readonly Found[]> {
  const values = createValues(dialect);
  const sql = `SELECT wallet_id, hold_id, position FROM export_ends WHERE position > ${values.add(endsPosition)}
    ORDER BY position LIMIT ${values.add(max)}`;
  const rows = await run({ sql, values: values.all });
  return rows.map((row) => ({
    walletId: String(row.wallet_id),
    holdId: String(row.hold_id),
    transfer: undefined,
    move: { positions: NONE, endsPosition: Number(row.position) },
  }));
}

/** Rows of the journal, and whether more were committed. */
interface JournalRows {
  readonly rows: readonly Row[];
  readonly isCut: boolean;
}

async function readJournal(reads: ExportReads, { name }: ExportCursor, max: number) {
  const isOneJournal = reads.dialect.transferOrder === "rowid";
  const read = isOneJournal ? readRows : readWallets;
  const { rows, isCut } = await read(reads, name, max);
  const found = rows.map((row) => {
    const found = readTransfer(row);
    return {
      ...found,
      move: { positions: new Map([[isOneJournal ? "" : found.walletId, Number(row.position)]]) },
    };
  });
  return { found, isCut };
}

/** Converts a row of the journal. */
export function readTransfer(row: Row): Found {
  const transfer = readJournalLine(row);
  return { walletId: String(row.wallet_id), holdId: transfer.holdId, transfer, move: { positions: NONE } };
}

/** The next transfers in SQLite, where one process writes at a time: rows are numbered as they are committed. */
async function readRows({ run, dialect }: ExportReads, name: string, max: number): Promise<JournalRows> {
  const values = createValues(dialect);
  const from = `(SELECT position FROM export_positions WHERE export = ${values.add(name)} AND wallet_id = '')`;
  const sql = `SELECT rowid AS position, wallet_id, ${TRANSFER_COLUMNS} FROM transfers
    WHERE rowid > coalesce(${from}, 0) ORDER BY rowid LIMIT ${values.add(max)}`;
  const rows = await run({ sql, values: values.all });
  return { rows, isCut: rows.length === max };
}

/**
 * The next transfers in PostgreSQL, wallet by wallet: they are committed in the order of their numbers within
 * a wallet, and in no order beyond. The wallets that are behind share the page.
 */
async function readWallets(reads: ExportReads, name: string, max: number): Promise<JournalRows> {
  const behind = await findBehind(reads, name, max);
  if (behind.length === 0) return { rows: [], isCut: false };
  const share = Math.max(1, Math.floor(max / behind.length));
  const ranges = behind.map(({ walletId, position, lastSeq }) => [
    walletId,
    position,
    Math.min(lastSeq, position + share),
  ]);
  const { dialect, run } = reads;
  const { item } = dialect;
  const columns = TRANSFER_COLUMNS.split(", ").map((column) => `t.${column}`);
  const sql = `SELECT t.seq AS position, t.wallet_id, ${columns.join(", ")}
    FROM (SELECT ${item(0, "text")} AS wallet_id, ${item(1, "integer")} AS after, ${item(2, "integer")} AS through
      FROM ${dialect.elements(dialect.placeholder(1))}) AS r
    JOIN transfers AS t ON t.wallet_id = r.wallet_id AND t.seq > r.after AND t.seq <= r.through
    ORDER BY t.wallet_id, t.seq`;
  const rows = await run({ sql, values: [JSON.stringify(ranges)] });
  const isCut = behind.length === max || behind.some(({ position, lastSeq }) => lastSeq > position + share);
  return { rows, isCut };
}

/** Wallets whose newest transfer is above the position of the export, in no order. */
async function findBehind({ run, dialect }: ExportReads, name: string, max: number) {
  const values = createValues(dialect);
  const sql = `SELECT w.wallet_id, w.last_seq, coalesce(p.position, 0) AS position FROM wallets AS w
    LEFT JOIN export_positions AS p ON p.export = ${values.add(name)} AND p.wallet_id = w.wallet_id
    WHERE w.last_seq > coalesce(p.position, 0) ORDER BY random() LIMIT ${values.add(max)}`;
  const rows = await run({ sql, values: values.all });
  return rows.map((row) => ({
    walletId: String(row.wallet_id),
    lastSeq: Number(row.last_seq),
    position: Number(row.position),
  }));
}

/** Clocks that differ: what ended later than this after the cursor's creation is among the recorded ends. */
const SKEW_MS = 600_000;

/** Searches what ended before the cursor was created. Later ends are recorded, and may be found here too. */
function searchOlder(reads: ExportReads, { createdAtMs, searchedTo = "" }: ExportCursor, room: number) {
  const ended = { fromMs: 0, toMs: createdAtMs + SKEW_MS };
  return searchEnds(reads, { after: searchedTo, room, ended, idsToMs: createdAtMs + DAY_MS });
}

interface EndsSearch {
  /** Hold id and wallet id to search after; "" for the first. */
  readonly after: string;
  /** The most receipts to find. */
  readonly room: number;
  /** When the receipts have ended. */
  readonly ended: { readonly fromMs: number; readonly toMs: number };
  /** The time in the ids at which the search is over. */
  readonly idsToMs: number;
}

/** Searches the next hour that has holds for receipts that ended without a charge. */
export async function searchEnds(
  reads: ExportReads,
  { after, room, ended, idsToMs }: EndsSearch,
): Promise<{ readonly found: readonly Found[]; readonly move: CursorMove | undefined }> {
  const done = (searchedTo: string | null) => ({ positions: NONE, searchedTo });
  const [afterHold = "", afterWallet = ""] = after.split(" ");
  const afterMs = afterHold === "" ? 0 : timeOf(afterHold);
  const first = await findHold(reads, { fromMs: afterMs, toMs: ID_TIME_MAX }, "oldest");
  if (first === undefined || timeOf(first) > idsToMs) return { found: [], move: done(null) };
  const endId = firstIdOf(timeOf(first) + HOUR_MS);
  const fromId = first > afterHold ? first : afterHold;
  const values = createValues(reads.dialect);
  const sql = `SELECT wallet_id, hold_id FROM holds WHERE hold_id >= ${values.add(fromId)}
    AND hold_id < ${values.add(endId)}
    AND (hold_id > ${values.add(fromId)} OR wallet_id > ${values.add(fromId === afterHold ? afterWallet : "")})
    AND state <> 'held' AND captured = 0
    AND resolved_at_ms >= ${values.add(ended.fromMs)} AND resolved_at_ms < ${values.add(ended.toMs)}
    ORDER BY hold_id, wallet_id LIMIT ${values.add(room)}`;
  const rows = await reads.run({ sql, values: values.all });
  const found = rows.map((row) => ({
    walletId: String(row.wallet_id),
    holdId: String(row.hold_id),
    transfer: undefined,
    move: done(`${row.hold_id} ${row.wallet_id}`),
  }));
  return { found, move: rows.length < room ? done(endId) : undefined };
}

/** Reads the receipts of what was found, and the names of accounts and keys. */
export async function complete(reads: ExportReads, found: readonly Found[]): Promise<readonly ExportEntry[]> {
  if (found.length === 0) return [];
  const receipts = await readReceipts(reads, found);
  const accounts = await readNames(
    reads,
    "accounts",
    found.map(({ walletId }) => walletId),
  );
  const keys = await readNames(
    reads,
    "api_keys",
    [...receipts.values()].map(({ keyId }) => keyId),
  );
  return found.map(({ walletId, holdId, transfer, move }) => {
    const receipt = holdId === undefined ? undefined : receipts.get(`${holdId} ${walletId}`);
    return {
      walletId,
      accountName: accounts.get(walletId),
      keyName: receipt && keys.get(receipt.keyId),
      transfer,
      receipt,
      move,
    };
  });
}

async function readReceipts(
  { run, dialect }: ExportReads,
  found: readonly Pick<Found, "walletId" | "holdId">[],
): Promise<ReadonlyMap<string, Receipt>> {
  const ids = new Map(
    found.flatMap(({ walletId, holdId }) => (holdId ? [[`${holdId} ${walletId}`, [holdId, walletId]]] : [])),
  );
  if (ids.size === 0) return new Map();
  const { item, elements, placeholder } = dialect;
  // The order of the join is fixed: ids first.
  const sql = `SELECT ${receiptColumns(dialect)} FROM
    (SELECT ${item(0, "uuid")} AS wanted_hold, ${item(1, "text")} AS wanted_wallet FROM ${elements(placeholder(1))}) AS wanted
    CROSS JOIN holds WHERE hold_id = wanted_hold AND wallet_id = wanted_wallet`;
  const rows = await run({ sql, values: [JSON.stringify([...ids.values()])] });
  return new Map(rows.map(readReceipt).map((receipt) => [`${receipt.holdId} ${receipt.walletId}`, receipt]));
}

async function readNames(
  { run, dialect }: ExportReads,
  table: "accounts" | "api_keys",
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { item, elements, placeholder } = dialect;
  const sql = `SELECT id, name FROM ${table}
    WHERE id IN (SELECT ${item(0, "text")} FROM ${elements(placeholder(1))})`;
  const rows = await run({ sql, values: [JSON.stringify([...new Set(ids)].map((id) => [id]))] });
  return new Map(rows.map((row) => [String(row.id), String(row.name)]));
}
