import type { Database } from "bun:sqlite";
import { JOURNAL_SUM_COLUMNS } from "../../db/usage-columns.ts";
import { type RunQuery, SQLITE } from "../queries/query.ts";
import { isOfTotals, type RollUpTable } from "../queries/roll-up-tables.ts";
import { columnsOf } from "../roll-ups/aggregate.ts";
import type { RollUpStore, RollUpValue, RollUpWrite } from "../roll-ups/store.ts";
import type { WorkerReader } from "./reads.ts";
import { createJobLease, createShortTransact } from "./short-transactions.ts";

export interface SqliteRollUpParts {
  /** The connection of the ledger: a commit of another one would drop its books. */
  readonly client: Database;
  /** Runs short queries on the event loop. */
  readonly runShort: RunQuery;
  /** Runs queries in the read worker. */
  readonly run: RunQuery;
  /** Opens a reader with a connection of its own, which can have temporary tables. */
  readonly openScratch: () => WorkerReader;
  readonly now: () => number;
  /** Must be called when the fence has changed. */
  forgetFence(): void;
}

const JOB = "usage_roll_ups";

/** Stores roll-ups in a SQLite file. Its transactions are short and never wait on the event loop. */
export function createSqliteRollUpStore(parts: SqliteRollUpParts): RollUpStore {
  const { client, runShort, run, openScratch, now, forgetFence } = parts;
  const statements = prepare(client);
  const transact = createShortTransact(client);

  return {
    dialect: SQLITE,
    runShort,
    run,
    async withScratch(work) {
      const scratch = openScratch();
      try {
        return await work(scratch.run);
      } finally {
        scratch.close();
      }
    },
    now: async () => now(),
    takeLease: createJobLease({ client, transact, now, job: JOB }),
    async raiseFence(fenceMs) {
      // Every transaction takes the file's only write lock, so none is running, and later ones see the fence.
      const isRaised = await transact(() => statements.fence.run(fenceMs, fenceMs).changes >= 0);
      forgetFence();
      return isRaised;
    },
    write: (change) => transact(() => applyWrite(statements, change)),
    writeJournal: (walletId, { position, sums }) =>
      transact(() => statements.journal.run(walletId, position, ...sums).changes >= 0),
  };
}

type Statements = ReturnType<typeof prepare>;

function applyWrite(statements: Statements, change: RollUpWrite): boolean {
  if (statements.version.run(change.version).changes === 0) return false;
  for (const { walletId, startMs, rows, isContinued } of change.groups ?? []) {
    const { remove, insert } = statements[change.table ?? "usage_hours"];
    if (!isContinued) remove.run(startMs, ...(walletId === undefined ? [] : [walletId]));
    for (const row of rows) insert.run(...row);
  }
  for (const { walletId, startMs, rows, after, upTo } of change.scopeGroups ?? []) {
    statements.removeScopes.run(walletId, startMs, after.kind, after.id, upTo.kind, upTo.id);
    for (const row of rows) statements.usage_scope_days.insert.run(...row);
  }
  if (change.cursor) {
    const { hours, days, totalsFromMs, scopes } = change.cursor;
    const ends = [hours.fromMs, hours.toMs, days.fromMs, days.toMs, totalsFromMs, scopes.fromMs, scopes.toMs];
    statements.cursor.run(...ends);
  }
  if (change.beginsTotals) statements.beginTotals.run();
  if (change.beginsScopes) statements.beginScopes.run();
  for (const { walletId, startMs } of change.stale ?? []) statements.stale.run(walletId, startMs);
  for (const { walletId, startMs, changes } of change.fresh ?? []) {
    statements.fresh.run(walletId, startMs, changes);
  }
  return true;
}

function prepare(client: Database) {
  const tableOf = (table: RollUpTable) => {
    const columns = columnsOf(table);
    const wallet = isOfTotals(table) ? "" : "AND wallet_id = ?";
    return {
      remove: client.query<never, RollUpValue[]>(`DELETE FROM ${table} WHERE start_ms = ? ${wallet}`),
      insert: client.query<never, RollUpValue[]>(
        `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      ),
    };
  };
  return {
    usage_hours: tableOf("usage_hours"),
    usage_days: tableOf("usage_days"),
    usage_total_hours: tableOf("usage_total_hours"),
    usage_total_days: tableOf("usage_total_days"),
    usage_scope_days: tableOf("usage_scope_days"),
    version: client.query<never, [number]>(
      `UPDATE usage_cursor SET version = version + 1, totals_version = totals_version + 1,
        scopes_version = scopes_version + 1 WHERE version = ?`,
    ),
    cursor: client.query<never, number[]>(
      `UPDATE usage_cursor SET hours_from_ms = ?, hours_to_ms = ?, days_from_ms = ?, days_to_ms = ?,
        totals_from_ms = ?, scopes_from_ms = ?, scopes_to_ms = ?`,
    ),
    removeScopes: client.query<never, (string | number)[]>(
      `DELETE FROM usage_scope_days WHERE wallet_id = ? AND start_ms = ?
        AND (kind, scope_id) > (?, ?) AND (kind, scope_id) <= (?, ?)`,
    ),
    beginTotals: client.query<never, []>("UPDATE usage_cursor SET totals_version = version"),
    beginScopes: client.query<never, []>("UPDATE usage_cursor SET scopes_version = version"),
    journal: client.query<never, [string, bigint, ...bigint[]]>(
      `INSERT INTO journal_sums (wallet_id, position, ${JOURNAL_SUM_COLUMNS.join(", ")})
        VALUES (?, ?, ${JOURNAL_SUM_COLUMNS.map(() => "?").join(", ")}) ON CONFLICT DO UPDATE
        SET ${["position", ...JOURNAL_SUM_COLUMNS].map((name) => `${name} = excluded.${name}`).join(", ")}
        WHERE position < excluded.position`,
    ),
    fence: client.query<never, [number, number]>("UPDATE usage_fence SET fence_ms = ? WHERE fence_ms < ?"),
    stale: client.query<never, [string, number]>(
      "INSERT INTO usage_stale (wallet_id, start_ms, changes) VALUES (?, ?, 1) ON CONFLICT DO NOTHING",
    ),
    fresh: client.query<never, [string, number, number]>(
      "DELETE FROM usage_stale WHERE wallet_id = ? AND start_ms = ? AND changes = ?",
    ),
  };
}
