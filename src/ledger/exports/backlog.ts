import { timeOf } from "../../domain/id-time.ts";
import type { Dialect, RunQuery } from "../queries/query.ts";

/** What an export has not taken yet. */
export interface ExportBacklog {
  readonly name: string;
  /**
   * Unix milliseconds: the commit of the oldest transfer, or the begin of the oldest receipt, that is not
   * exported. 0 while the search for receipts has not begun; `undefined` when everything is exported.
   */
  readonly oldestAtMs: number | undefined;
  /** Unix milliseconds since which the export lags: `oldestAtMs`, or its creation while that is not known. */
  readonly lagsFromMs: number | undefined;
}

/** Reads the backlog of every export that this database has a cursor of, also of those no longer configured. */
export async function readExportBacklogs(run: RunQuery, dialect: Dialect): Promise<readonly ExportBacklog[]> {
  const journal = dialect.transferOrder === "rowid" ? OLDEST_ROW : OLDEST_OF_WALLETS;
  // Ids are texts in SQLite and of a type without min() in PostgreSQL.
  const sql = `SELECT e.name, e.created_at_ms, e.searched_to, (${journal}) AS journal_ms,
    (SELECT hold_id FROM export_ends WHERE position > e.ends_position ORDER BY position LIMIT 1) AS next_end,
    (SELECT hold_id FROM export_ends WHERE position IS NULL LIMIT 1) AS new_end
    FROM exports AS e ORDER BY e.name`;
  const rows = await run({ sql, values: [] });
  return rows.map((row) => {
    const times = [
      row.journal_ms === null ? [] : [Number(row.journal_ms)],
      ...[row.next_end, row.new_end].map((id) => (id === null ? [] : [timeOf(String(id))])),
      // A search that has not begun needs every receipt there is.
      row.searched_to === null ? [] : [row.searched_to === "" ? 0 : timeOf(String(row.searched_to))],
    ].flat();
    const oldestAtMs = times.length === 0 ? undefined : Math.min(...times);
    return { name: String(row.name), oldestAtMs, lagsFromMs: oldestAtMs || lagOf(row, times) };
  });
}

/** The known times count: a new export may have to deliver transfers that are older than itself. */
function lagOf(row: Readonly<Record<string, unknown>>, times: readonly number[]): number | undefined {
  if (times.length === 0) return undefined;
  return Math.min(Number(row.created_at_ms), ...times.filter((time) => time > 0));
}

const OLDEST_ROW = `SELECT t.created_at_ms FROM transfers AS t WHERE t.rowid > coalesce((SELECT position
    FROM export_positions AS p WHERE p.export = e.name AND p.wallet_id = ''), 0) ORDER BY t.rowid LIMIT 1`;

const OLDEST_OF_WALLETS = `SELECT min(t.created_at_ms) FROM wallets AS w
    LEFT JOIN export_positions AS p ON p.export = e.name AND p.wallet_id = w.wallet_id
    JOIN transfers AS t ON t.wallet_id = w.wallet_id AND t.seq = coalesce(p.position, 0) + 1
    WHERE w.last_seq > coalesce(p.position, 0)`;

/** Ids of receipts may be a day older than their hold, and a request may run for hours before it is charged. */
const RECEIPT_AGE_MS = 2 * 86_400_000;

/**
 * Returns the time in Unix milliseconds from which on receipts must be kept for exports: retention may drop
 * those with an earlier time in their ids. `undefined` when every export has taken everything.
 */
export async function keepReceiptsFrom(run: RunQuery, dialect: Dialect): Promise<number | undefined> {
  const backlogs = await readExportBacklogs(run, dialect);
  const times = backlogs.flatMap(({ oldestAtMs }) => (oldestAtMs === undefined ? [] : [oldestAtMs]));
  return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - RECEIPT_AGE_MS);
}
