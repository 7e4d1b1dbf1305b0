import { SQL, type TransactionSQL } from "bun";
import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { listPartitions } from "../../db/postgres/partitions.ts";
import { firstIdOf, HOUR_MS } from "../../domain/id-time.ts";
import { POSTGRES } from "../queries/query.ts";
import {
  FIND_PRUNABLE,
  PRUNE_COUNTERS,
  PRUNE_DELETED,
  PRUNE_LIMITS,
  type PrunedCounter,
} from "../retention/counters.ts";
import type { DropProgress, DropUnit, RetentionStore } from "../retention/job.ts";
import { recordStatements } from "../retention/sums.ts";
import { createClock, createJobLease, createRunQuery, encodeArray } from "./run-query.ts";

const JOB = "retention";
/** Short, because every request queues behind a waiting lock of the table. */
const LOCK_TIMEOUT = "100ms";
const LOCK_NOT_AVAILABLE = "55P03";
/** How often the lock is tried, and the longest pause between. */
const TRIES_MAX = 30;
const PAUSE_MS_MAX = 1_000;

/** Drops receipts of PostgreSQL: whole partitions, and hours of the default partition. */
export function createPostgresRetentionStore(
  database: Pick<PostgresDatabase, "connect">,
  now: (() => number) | undefined,
  triesMax = TRIES_MAX,
): RetentionStore {
  let connection: SQL | undefined;
  // A connection of its own without a timeout: adding up a month may take minutes.
  const client = () => {
    connection ??= database.connect({ max: 1, session: { statement_timeout: 0 } });
    return connection;
  };
  const run: RetentionStore["run"] = (query) => createRunQuery(client())(query);
  const readNow = createClock(run, now);
  return {
    dialect: POSTGRES,
    run,
    now: readNow,
    takeLease: createJobLease(run, { now: readNow, job: JOB }),
    async saveClock({ seenAtMs, pausedUntilMs }) {
      await client().unsafe("UPDATE retention SET seen_at_ms = $1, paused_until_ms = $2", [
        seenAtMs,
        pausedUntilMs,
      ]);
    },
    async unitOf(hourMs, boundaryMs) {
      const partitions = await listPartitions(client());
      const found = partitions.find(({ fromMs, toMs }) => hourMs >= fromMs && hourMs < toMs);
      if (!found) return { fromMs: hourMs, toMs: hourMs + HOUR_MS, table: undefined };
      const { name: table, fromMs, toMs } = found;
      return toMs <= boundaryMs ? { fromMs, toMs, table } : undefined;
    },
    drop: (unit) =>
      unit.table === undefined ? dropHour(client(), unit) : dropPartition(client(), unit, triesMax),
    pruneCounters: (beforeMs) => prune(client(), beforeMs),
    shrink: async () => 0,
    async close() {
      await connection?.close({ timeout: 1 });
    },
  };
}

/** Rolls a transaction back, with the state to report. */
class Stopped extends Error {
  readonly state: "changed" | "busy";

  constructor(state: "changed" | "busy") {
    super(state);
    this.state = state;
  }
}

async function orStopped(work: Promise<number>): Promise<DropProgress> {
  try {
    return { receipts: await work, state: "dropped" };
  } catch (error) {
    if (error instanceof Stopped) return { receipts: 0, state: error.state };
    throw error;
  }
}

/**
 * Adds up a partition without a lock, then locks all receipts for a moment and drops it. When a receipt of it
 * was changed meanwhile, its hour is stale, or was summed up again under another version.
 */
function dropPartition(client: SQL, { table, toMs }: DropUnit, triesMax: number): Promise<DropProgress> {
  const source = { table: table ?? "", condition: "true" };
  return orStopped(
    client.begin(async (transaction) => {
      const before = await readVersion(transaction);
      for (const sql of recordStatements(POSTGRES, source)) await transaction.unsafe(sql);
      const [row] = await transaction.unsafe(`SELECT count(*) AS count FROM ${source.table}`);
      await lockReceipts(transaction, triesMax);
      const changed = await transaction.unsafe(
        `SELECT 1 FROM usage_stale WHERE start_ms < $1 UNION ALL SELECT 1 FROM ${source.table} WHERE state = 'held' LIMIT 1`,
        [toMs],
      );
      if (changed.length > 0 || (await readVersion(transaction)) !== before) throw new Stopped("changed");
      await transaction.unsafe(RAISE, [toMs]);
      await transaction.unsafe(CLEAR, [toMs]);
      await transaction.unsafe(`DROP TABLE ${source.table}`);
      return Number(row.count);
    }),
  );
}

async function readVersion(transaction: SQL): Promise<number> {
  const [row] = await transaction.unsafe("SELECT version FROM usage_cursor");
  return Number(row.version);
}

/** Tries in short waits, between which requests go on: while a long query reads receipts, none gets the lock. */
async function lockReceipts(transaction: TransactionSQL, triesMax: number): Promise<void> {
  await transaction.unsafe(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
  for (let tries = 1; ; tries++) {
    try {
      await transaction.savepoint((point) => point.unsafe("LOCK TABLE ONLY holds IN ACCESS EXCLUSIVE MODE"));
      return;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (tries === triesMax) throw new Stopped("busy");
      await Bun.sleep(Math.random() * PAUSE_MS_MAX);
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof SQL.PostgresError && error.errno === LOCK_NOT_AVAILABLE;
}

/** Drops an hour of the default partition, wallet by wallet, each under its lock: a refund waits or came before. */
async function dropHour(client: SQL, { fromMs, toMs }: DropUnit): Promise<DropProgress> {
  const bounds = [firstIdOf(fromMs), firstIdOf(toMs)] as const;
  const wallets: readonly { readonly wallet_id: string }[] = await client.unsafe(
    "SELECT DISTINCT wallet_id FROM holds WHERE hold_id >= $1::uuid AND hold_id < $2::uuid",
    [...bounds],
  );
  let receipts = 0;
  for (const { wallet_id } of wallets) {
    const done = await orStopped(client.begin((transaction) => dropOfWallet(transaction, wallet_id, fromMs)));
    receipts += done.receipts;
    if (done.state !== "dropped") return { ...done, receipts };
  }
  await client.unsafe(CLEAR, [toMs]);
  return { receipts, state: "dropped" };
}

async function dropOfWallet(transaction: SQL, walletId: string, fromMs: number): Promise<number> {
  const values = [firstIdOf(fromMs), firstIdOf(fromMs + HOUR_MS), walletId];
  const condition = "hold_id >= $1::uuid AND hold_id < $2::uuid AND wallet_id = $3";
  const source = { table: "holds", condition };
  await transaction.unsafe("SELECT 1 FROM wallets WHERE wallet_id = $1 FOR UPDATE", [walletId]);
  const changed = await transaction.unsafe(
    `SELECT 1 FROM usage_stale WHERE wallet_id = $1 AND start_ms = $2
      UNION ALL SELECT 1 FROM holds WHERE state = 'held' AND wallet_id = $1 AND hold_id >= $3::uuid
        AND hold_id < $4::uuid LIMIT 1`,
    [walletId, fromMs, values[0], values[1]],
  );
  if (changed.length > 0) throw new Stopped("changed");
  await transaction.unsafe(RAISE, [fromMs + HOUR_MS]);
  for (const sql of recordStatements(POSTGRES, source)) await transaction.unsafe(sql, [...values]);
  const { count } = await transaction.unsafe(`DELETE FROM holds WHERE ${condition}`, [...values]);
  return Number(count);
}

/** The counters or limits of one transaction. */
const PRUNED_MAX = 2_000;

/** Deletes counters of past periods, else what deleted limits of one wallet left. Returns how many rows. */
async function prune(client: SQL, beforeMs: number): Promise<number> {
  const counters = await client.begin((transaction) =>
    pruneCounters(transaction, PRUNE_COUNTERS, [beforeMs, PRUNED_MAX]),
  );
  if (counters > 0) return counters;
  const [wallet] = await client.unsafe(FIND_PRUNABLE, [beforeMs]);
  if (!wallet) return 0;
  return client.begin((transaction) => pruneWallet(transaction, wallet.wallet_id, beforeMs));
}

/** Locks the wallet: a limit of the same id may be set again, and no memory may have its counters of before. */
async function pruneWallet(transaction: SQL, walletId: string, beforeMs: number): Promise<number> {
  await transaction.unsafe("UPDATE wallets SET state = state WHERE wallet_id = $1", [walletId]);
  const values = [beforeMs, walletId, PRUNED_MAX];
  const counters = await pruneCounters(transaction, PRUNE_DELETED, values);
  const limits = await transaction.unsafe(PRUNE_LIMITS, values);
  return counters + limits.length;
}

async function pruneCounters(
  transaction: SQL,
  sql: string,
  values: readonly (string | number)[],
): Promise<number> {
  const pruned: readonly PrunedCounter[] = await transaction.unsafe(sql, [...values]);
  const [walletIds, limitIds] = [
    pruned.map(({ wallet_id }) => wallet_id),
    pruned.map(({ limit_id }) => limit_id),
  ];
  const starts = encodeArray(pruned.map(({ period_start_ms }) => period_start_ms));
  await transaction.unsafe(
    `DELETE FROM dropped_counters WHERE (wallet_id, limit_id, period_start_ms) IN
      (SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]))`,
    [encodeArray(walletIds), encodeArray(limitIds), starts],
  );
  return pruned.length;
}

const RAISE = "UPDATE retention SET receipts_from_ms = $1 WHERE receipts_from_ms < $1";
const CLEAR = "UPDATE retention SET cleared_to_ms = $1 WHERE cleared_to_ms < $1";
