import { firstIdOf, HOUR_MS } from "../../domain/id-time.ts";
import { createValues, type Row } from "../queries/query.ts";
import { TRANSFER_COLUMNS } from "../queries/transfers.ts";
import { complete, type ExportEntry, type ExportReads, readTransfer, searchEnds } from "./page.ts";

/** Unix milliseconds; `toMs` is exclusive. */
export interface ExportRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const PAGE = 500;

/**
 * Reads the entries of a range, page by page: transfers by the time of their commit, then receipts that ended
 * without a charge. Reads the whole journal once, and needs no cursor.
 */
export async function* readRange(
  reads: ExportReads,
  range: ExportRange,
): AsyncGenerator<readonly ExportEntry[]> {
  for (let after: Row | undefined; ; ) {
    const rows = await readTransfers(reads, range, after);
    if (rows.length > 0) yield complete(reads, rows.map(readTransfer));
    after = rows.at(-1);
    if (rows.length < PAGE) break;
  }
  yield* readUncharged(reads, range);
}

async function readTransfers(
  { run, dialect }: ExportReads,
  { fromMs, toMs }: ExportRange,
  after: Row | undefined,
) {
  const isOneJournal = dialect.transferOrder === "rowid";
  const values = createValues(dialect);
  const position = Number(after?.position ?? 0);
  const next = isOneJournal
    ? `rowid > ${values.add(position)}`
    : `(wallet_id, seq) > (${values.add(String(after?.wallet_id ?? ""))}, ${values.add(position)})`;
  const sql = `SELECT ${dialect.transferOrder} AS position, wallet_id, ${TRANSFER_COLUMNS} FROM transfers WHERE ${next}
    AND created_at_ms >= ${values.add(fromMs)} AND created_at_ms < ${values.add(toMs)}
    ORDER BY ${isOneJournal ? "rowid" : "wallet_id, seq"} LIMIT ${PAGE}`;
  return run({ sql, values: values.all });
}

/** Ids may be a day off the clock of the ledger, and a request may run for hours. */
const AROUND_MS = 48 * HOUR_MS;

async function* readUncharged(
  reads: ExportReads,
  range: ExportRange,
): AsyncGenerator<readonly ExportEntry[]> {
  const beginMs = Math.max(0, range.fromMs - AROUND_MS);
  const idsToMs = range.toMs + AROUND_MS;
  for (let after: string | null = firstIdOf(beginMs); after !== null; ) {
    const { found, move } = await searchEnds(reads, { after, room: PAGE, ended: range, idsToMs });
    if (found.length > 0) yield complete(reads, found);
    after = (move ?? found.at(-1)?.move)?.searchedTo ?? null;
  }
}
