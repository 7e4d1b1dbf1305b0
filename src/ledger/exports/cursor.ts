// The cursor of an export: created once, moved after each batch that a sink has taken.

import { ID_TIME_MAX, timeOf } from "../../domain/id-time.ts";
import { createValues, type Dialect, type Row, type RunQuery } from "../queries/query.ts";
import { findHold } from "../roll-ups/aggregate.ts";
import type { ExportConnection } from "./connection.ts";

/** Where an export goes on. Every change of the cursor increases `version`. */
export interface ExportCursor {
  readonly name: string;
  readonly version: number;
  /** No earlier than the newest hold of that moment: after a clock was set back, ends before it seem later. */
  readonly createdAtMs: number;
  /** The number of the last uncharged end that was exported. */
  readonly endsPosition: number;
  /** The last older receipt that was searched for uncharged ends; `undefined` when none is left. */
  readonly searchedTo: string | undefined;
}

/** Where a new export starts: at the first transfer of the journal, or with what is committed from now on. */
type ExportStart = "beginning" | "now";

/** How far a cursor moves when a sink has taken a batch. Members that are absent stay. */
export interface CursorMove {
  /** The last transfer taken, by wallet. SQLite has one position, under the wallet id "". */
  readonly positions: ReadonlyMap<string, number>;
  readonly endsPosition?: number | undefined;
  /** null ends the search. */
  readonly searchedTo?: string | null | undefined;
}

/** Joins moves that follow each other: the last position of each wallet, and the last of the others. */
export function joinMoves(moves: readonly CursorMove[]): CursorMove {
  const positions = new Map<string, number>();
  let joined: CursorMove = { positions };
  for (const { positions: own, ...rest } of moves) {
    for (const [walletId, position] of own) positions.set(walletId, position);
    joined = { ...joined, ...rest, positions };
  }
  return joined;
}

/** Reads a cursor. `undefined` for an unknown export. */
export async function readCursor(
  { run, dialect }: Pick<ExportConnection, "run" | "dialect">,
  name: string,
): Promise<ExportCursor | undefined> {
  const sql = `SELECT * FROM exports WHERE name = ${dialect.placeholder(1)}`;
  const [row] = await run({ sql, values: [name] });
  return row && readRow(row);
}

function readRow(row: Row): ExportCursor {
  return {
    name: String(row.name),
    version: Number(row.version),
    createdAtMs: Number(row.created_at_ms),
    endsPosition: Number(row.ends_position),
    searchedTo: row.searched_to === null ? undefined : String(row.searched_to),
  };
}

/**
 * Creates the cursor of a new export; one that exists stays as it is. From its commit on, batches record the
 * receipts that end without a transfer. Returns `false` while the database is busy.
 */
export async function openCursor(
  connection: ExportConnection,
  { name, start, nowMs }: { readonly name: string; readonly start: ExportStart; readonly nowMs: number },
): Promise<boolean> {
  if (await readCursor(connection, name)) return true;
  const { dialect } = connection;
  const isDone = await connection.transact(async (run) => {
    await connection.lockFence(run);
    await run({ sql: "UPDATE usage_fence SET records_ends = 1", values: [] });
    const newest = await findHold({ run, dialect }, { fromMs: 0, toMs: ID_TIME_MAX }, "newest");
    const createdAtMs = Math.max(nowMs, newest === undefined ? 0 : timeOf(newest));
    const values = createValues(dialect);
    const searchedTo = start === "beginning" ? "" : null;
    const sql = `INSERT INTO exports (name, version, created_at_ms, ends_position, searched_to)
      SELECT ${values.add(name)}, 1, ${values.add(createdAtMs)}, last, ${values.add(searchedTo)} FROM export_numbers WHERE true
      ON CONFLICT DO NOTHING RETURNING 1`;
    const isNew = (await run({ sql, values: values.all })).length > 0;
    if (isNew && start === "now") await run({ sql: lastPositions(connection), values: [name] });
    return true;
  });
  return isDone === true;
}

function lastPositions({ dialect }: ExportConnection): string {
  const name = dialect.placeholder(1);
  const last =
    dialect.transferOrder === "rowid"
      ? `SELECT ${name}, '', coalesce(max(rowid), 0) FROM transfers`
      : `SELECT ${name}, wallet_id, last_seq FROM wallets`;
  return `INSERT INTO export_positions (export, wallet_id, position) ${last}`;
}

/**
 * Moves a cursor that still has the version given. Returns `false` otherwise: another process has moved it, or
 * it was forgotten.
 */
export async function moveCursor(
  { dialect, transact }: ExportConnection,
  { name, version }: Pick<ExportCursor, "name" | "version">,
  { positions, endsPosition, searchedTo }: CursorMove,
): Promise<boolean> {
  const moved = await transact(async (run) => {
    const values = createValues(dialect);
    const set = ["version = version + 1"];
    if (endsPosition !== undefined) set.push(`ends_position = ${values.add(endsPosition)}`);
    if (searchedTo !== undefined) set.push(`searched_to = ${values.add(searchedTo)}`);
    const where = `name = ${values.add(name)} AND version = ${values.add(version)}`;
    const sql = `UPDATE exports SET ${set.join(", ")} WHERE ${where} RETURNING 1`;
    if ((await run({ sql, values: values.all })).length === 0) return undefined;
    if (positions.size > 0)
      await run({ sql: upsert(dialect), values: [name, JSON.stringify([...positions])] });
    // Rows that every export has taken.
    if (endsPosition !== undefined) await run({ sql: DELETE_TAKEN, values: [] });
    return true;
  });
  return moved === true;
}

const DELETE_TAKEN = "DELETE FROM export_ends WHERE position <= (SELECT min(ends_position) FROM exports)";

function upsert({ placeholder, elements, item }: ExportConnection["dialect"]): string {
  return `INSERT INTO export_positions (export, wallet_id, position)
    SELECT ${placeholder(1)}, ${item(0, "text")}, ${item(1, "integer")} FROM ${elements(placeholder(2))} WHERE true
    ON CONFLICT (export, wallet_id) DO UPDATE SET position = excluded.position`;
}

/**
 * Forgets an export, so that nothing is kept for it any more. Returns `false` for an unknown name. An export of
 * that name that is configured starts anew.
 */
export async function forgetCursor({ dialect, transact }: ExportConnection, name: string): Promise<boolean> {
  const isDone = await transact(async (run) => {
    // Waits for an export that is being opened, which is counted below.
    await run({ sql: "UPDATE usage_fence SET records_ends = records_ends", values: [] });
    const gone = await run({
      sql: `DELETE FROM exports WHERE name = ${dialect.placeholder(1)} RETURNING 1`,
      values: [name],
    });
    if (gone.length === 0) return undefined;
    await run({
      sql: `DELETE FROM export_positions WHERE export = ${dialect.placeholder(1)}`,
      values: [name],
    });
    const left = await run({ sql: "SELECT 1 FROM exports LIMIT 1", values: [] });
    if (left.length > 0) await run({ sql: DELETE_TAKEN, values: [] });
    else {
      await run({ sql: "UPDATE usage_fence SET records_ends = 0", values: [] });
      await run({ sql: "DELETE FROM export_ends", values: [] });
    }
    return true;
  });
  return isDone === true;
}

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
