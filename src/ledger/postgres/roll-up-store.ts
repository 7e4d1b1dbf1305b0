import { SQL } from "bun";
import { JOURNAL_SUM_COLUMNS } from "../../db/usage-columns.ts";
import { POSTGRES, type RunQuery } from "../queries/query.ts";
import { isOfTotals, type RollUpTable } from "../queries/roll-up-tables.ts";
import { columnsOf } from "../roll-ups/aggregate.ts";
import type { RollUpStore, RollUpValue, RollUpWrite, ScopeGroup } from "../roll-ups/store.ts";
import { createClock, createJobLease, createRunQuery } from "./run-query.ts";

export interface PostgresRollUpParts {
  /** A pool whose connections return integers as bigint. */
  readonly client: SQL;
  readonly run: RunQuery;
  /** A clock for tests. Default: the database's clock, which all processes share. */
  readonly now: (() => number) | undefined;
}

const JOB = "usage_roll_ups";
/** Short, because every batch of the ledger queues behind a waiting lock of the fence. */
const LOCK_TIMEOUT = "200ms";
/** For the receipts of an hour on a busy server. */
const SCRATCH_TIMEOUT = "5min";
const LOCK_NOT_AVAILABLE = "55P03";

/** Stores roll-ups in PostgreSQL. */
export function createPostgresRollUpStore({ client, run, now }: PostgresRollUpParts): RollUpStore {
  const readNow = createClock(run, now);

  return {
    dialect: POSTGRES,
    runShort: run,
    run,
    async withScratch(work) {
      const connection = await client.reserve();
      try {
        await connection.unsafe(`SET statement_timeout = '${SCRATCH_TIMEOUT}'`);
        return await work(createRunQuery(connection));
      } finally {
        await connection.unsafe("RESET statement_timeout").catch(() => undefined);
        await connection.unsafe("DISCARD TEMP").catch(() => undefined);
        connection.release();
      }
    },
    now: readNow,
    takeLease: createJobLease(run, { now: readNow, job: JOB }),
    raiseFence: (fenceMs) =>
      ifUnlocked(
        client.begin(async (transaction) => {
          await transaction.unsafe(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
          // Waits for every batch that has read the fence; batches that begin now read the new one.
          await transaction.unsafe("LOCK TABLE usage_fence IN ACCESS EXCLUSIVE MODE");
          await transaction.unsafe("UPDATE usage_fence SET fence_ms = $1 WHERE fence_ms < $1", [fenceMs]);
        }),
      ),
    write: async (change) => {
      let isDone = false;
      await client.begin(async (transaction) => {
        isDone = await applyWrite(transaction, change);
      });
      return isDone;
    },
    async writeJournal(walletId, { position, sums }) {
      await run({ sql: JOURNAL, values: [walletId, position, ...sums] });
      return true;
    },
  };
}

async function ifUnlocked(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof SQL.PostgresError && error.errno === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

async function applyWrite(transaction: SQL, change: RollUpWrite): Promise<boolean> {
  const current = await transaction.unsafe(VERSION, [change.version]);
  if (current.length === 0) return false;
  const { table = "usage_hours", groups = [], stale = [], fresh = [], cursor } = change;
  // Sorted as batches sort them, and before anything that a batch may wait for.
  if (stale.length > 0) await transaction.unsafe(STALE, [printRows(stale)]);
  const replaced = groups.filter(({ isContinued }) => !isContinued);
  if (replaced.length > 0) await transaction.unsafe(removeFrom(table), [printRows(replaced)]);
  const rows = groups.flatMap((group) => group.rows);
  if (rows.length > 0) await transaction.unsafe(INSERTS[table], [printRollUps(table, rows)]);
  if (change.scopeGroups) await writeScopes(transaction, change.scopeGroups);
  if (cursor) {
    const { hours, days, totalsFromMs, scopes } = cursor;
    const ends = [hours.fromMs, hours.toMs, days.fromMs, days.toMs, totalsFromMs, scopes.fromMs, scopes.toMs];
    await transaction.unsafe(CURSOR, ends);
  }
  if (change.beginsTotals) await transaction.unsafe(BEGIN_TOTALS);
  if (change.beginsScopes) await transaction.unsafe(BEGIN_SCOPES);
  if (fresh.length > 0) await transaction.unsafe(FRESH, [printRows(fresh)]);
  return true;
}

async function writeScopes(transaction: SQL, groups: readonly ScopeGroup[]): Promise<void> {
  const replaced = groups.map(({ walletId, startMs, after, upTo }) => ({
    ...{ wallet_id: walletId, start_ms: startMs },
    ...{ after_kind: after.kind, after_id: after.id, last_kind: upTo.kind, last_id: upTo.id },
  }));
  await transaction.unsafe(REMOVE_SCOPES, [JSON.stringify(replaced)]);
  const rows = groups.flatMap((group) => group.rows);
  await transaction.unsafe(INSERTS.usage_scope_days, [printRollUps("usage_scope_days", rows)]);
}

interface HourRow {
  readonly walletId: string | undefined;
  readonly startMs: number;
  readonly changes?: number;
}

function printRows(rows: readonly HourRow[]): string {
  return JSON.stringify(
    rows.map(({ walletId, startMs, changes }) => ({ wallet_id: walletId, start_ms: startMs, changes })),
  );
}

/** Integers above 2^53 would be rounded as JSON numbers, so that all are texts. */
function printRollUps(table: RollUpTable, rows: readonly (readonly RollUpValue[])[]): string {
  const columns = columnsOf(table);
  return JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        columns.map((name, index) => [name, row[index] === null ? null : String(row[index])]),
      ),
    ),
  );
}

const VERSION = `UPDATE usage_cursor SET version = version + 1, totals_version = totals_version + 1,
  scopes_version = scopes_version + 1 WHERE version = $1 RETURNING 1`;
const CURSOR = `UPDATE usage_cursor SET hours_from_ms = $1, hours_to_ms = $2, days_from_ms = $3, days_to_ms = $4,
  totals_from_ms = $5, scopes_from_ms = $6, scopes_to_ms = $7`;
const BEGIN_TOTALS = "UPDATE usage_cursor SET totals_version = version";
const BEGIN_SCOPES = "UPDATE usage_cursor SET scopes_version = version";
const REMOVE_SCOPES = `DELETE FROM usage_scope_days AS u USING json_to_recordset($1::text::json) AS r (wallet_id text,
    start_ms bigint, after_kind text, after_id text, last_kind text, last_id text)
  WHERE u.wallet_id = r.wallet_id AND u.start_ms = r.start_ms
    AND (u.kind, u.scope_id) > (r.after_kind, r.after_id) AND (u.kind, u.scope_id) <= (r.last_kind, r.last_id)`;
const JOURNAL = `INSERT INTO journal_sums AS j (wallet_id, position, ${JOURNAL_SUM_COLUMNS.join(", ")})
  VALUES ($1, $2, ${JOURNAL_SUM_COLUMNS.map((_, index) => `$${index + 3}`).join(", ")}) ON CONFLICT (wallet_id) DO UPDATE
  SET ${["position", ...JOURNAL_SUM_COLUMNS].map((name) => `${name} = excluded.${name}`).join(", ")}
  WHERE j.position < excluded.position`;
const HOURS = "json_to_recordset($1::text::json) AS r (wallet_id text, start_ms bigint, changes bigint)";
const STALE = `INSERT INTO usage_stale (wallet_id, start_ms, changes) SELECT wallet_id, start_ms, 1
  FROM ${HOURS} ON CONFLICT DO NOTHING`;
/** Skips rows that a batch is changing: they stay stale. Waiting for them could end in a deadlock. */
const FRESH = `DELETE FROM usage_stale AS s USING (SELECT s.wallet_id, s.start_ms FROM usage_stale AS s
    JOIN ${HOURS} USING (wallet_id, start_ms) WHERE s.changes = r.changes FOR UPDATE OF s SKIP LOCKED) AS unchanged
  WHERE s.wallet_id = unchanged.wallet_id AND s.start_ms = unchanged.start_ms`;
function removeFrom(table: RollUpTable): string {
  const wallet = isOfTotals(table) ? "" : "AND u.wallet_id = r.wallet_id";
  return `DELETE FROM ${table} AS u USING ${HOURS} WHERE u.start_ms = r.start_ms ${wallet}`;
}

const INSERTS = {
  usage_hours: insertInto("usage_hours"),
  usage_days: insertInto("usage_days"),
  usage_total_hours: insertInto("usage_total_hours"),
  usage_total_days: insertInto("usage_total_days"),
  usage_scope_days: insertInto("usage_scope_days"),
};

function insertInto(table: RollUpTable): string {
  const columns = columnsOf(table).join(", ");
  return `INSERT INTO ${table} (${columns}) SELECT ${columns}
    FROM json_populate_recordset(NULL::${table}, $1::text::json)`;
}
