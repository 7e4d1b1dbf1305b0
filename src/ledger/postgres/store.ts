import type { SQL } from "bun";
import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { ensurePartitions } from "../../db/postgres/partitions.ts";
import { HOUR_MS } from "../../domain/id-time.ts";
import { CLOCK_SKEW_MAX_MS } from "../core/book.ts";
import type { ExpireRequest } from "../core/command.ts";
import { type Batch, type CommitStatus, type Store, StoreError } from "../engine/store.ts";
import { BatchMemory, decideFromMemory, decideUnderLock } from "./decide-batch.ts";
import { storeErrorOf } from "./faults.ts";
import { type Connection, createSession } from "./session.ts";

export interface PostgresStoreParts {
  readonly database: PostgresDatabase;
  /** A clock for tests. Default: the database's clock. */
  readonly now: (() => number) | undefined;
}

const SETTINGS = {
  // A batch waits at most this long for a wallet's lock, then fails and is tried again.
  lock_timeout: "1s",
  statement_timeout: "4s",
  // A gateway that stops or vanishes in a transaction keeps its locks for less time than the others try again.
  idle_in_transaction_session_timeout: "1500ms",
  // Planned once: the statements look up the same few rows however large the tables grow.
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/** Above the statement timeout: a transaction that takes longer has lost its server. */
const TRANSACTION_MS = 6_000;
const PING_MS = 2_000;

/**
 * Stores the ledger in PostgreSQL. Several processes may share a database. A batch is decided from memory and written
 * in one round trip, if its wallets still have the versions of their books. Otherwise its transaction first locks
 * the rows of its wallets; every other row is read or written under the lock of its wallet only.
 */
export function createPostgresStore({
  database,
  now,
}: PostgresStoreParts): Store & { close(): Promise<void> } {
  const session = createSession(database, SETTINGS);
  const probe = createSession(database);
  const due = createDueRead(database, now);
  let memory: BatchMemory | undefined;

  const transact = async (connection: Connection, walletIds: ReadonlySet<string>, batch: Batch) => {
    // A connection that ended may have committed or not, and a new one may lead to another server.
    if (memory?.connection !== connection) memory = new BatchMemory(connection, now);
    const isCommitted = await decideFromMemory(memory, walletIds, batch);
    if (!isCommitted) await decideUnderLock(memory, walletIds, batch);
  };

  return {
    transact: (walletIds, batch) =>
      withFaults(session.run(TRANSACTION_MS, (connection) => transact(connection, walletIds, batch))),
    async commitStatusOf(transaction) {
      const status = await withFaults(
        session.run(PING_MS, (connection) => readCommitStatus(connection, transaction)),
      );
      if (status !== "in progress") return status;
      throw new StoreError("busy", new Error("The transaction is still running"));
    },
    ping: () =>
      withFaults(
        probe.run(PING_MS, async ({ client }) => {
          await client.unsafe("SELECT 1 FROM wallets LIMIT 1");
        }),
      ),
    findDue: (limit) => withFaults(due.find(limit)),
    findDueCredits: (limit) => withFaults(due.findCredits(limit)),
    async close() {
      await Promise.all([session.close(), probe.close(), due.close()]);
    },
  };
}

async function withFaults<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/** @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT */
async function readCommitStatus(
  { client, server }: Connection,
  transaction: string,
): Promise<CommitStatus | "in progress"> {
  const [transactionId = "", ...rest] = transaction.split(" ");
  // On another server, or after a crash of this one, the number belongs to another transaction.
  if (rest.join(" ") !== server) return "unknown";
  const [row] = await client.unsafe("SELECT pg_xact_status($1::text::xid8) AS status", [transactionId]);
  return row.status ?? "unknown";
}

/** Finds the holds to sweep, over a connection of its own. */
export interface DueRead {
  /** See {@link Store.findDue}. */
  find(limit: number): Promise<readonly ExpireRequest[]>;
  /** See {@link Store.findDueCredits}. */
  findCredits(limit: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The longest search. Without a bound, a server that no longer answers would block every later sweep. */
const SEARCH_MS = 10_000;

/**
 * Every hour, and in a new month, the search first creates the partitions of the months ahead: after a jump of the
 * clock, few holds are to be moved there. One search runs at a time, because they share the connection.
 */
export function createDueRead(
  database: Pick<PostgresDatabase, "connect">,
  now: (() => number) | undefined,
  searchMaxMs = SEARCH_MS,
): DueRead {
  const session = createSession(database, { statement_timeout: "8s" });
  let last: Promise<unknown> = Promise.resolve();
  let partitioned = { atMs: Number.NEGATIVE_INFINITY, month: -1 };

  const search = async (client: SQL, limit: number) => {
    // A monotonic clock: after a correction of the wall clock, an hour could last much longer.
    const atMs = performance.now();
    const wallMs = Date.now();
    const month = new Date(wallMs).getUTCMonth();
    if (atMs - partitioned.atMs >= HOUR_MS || month !== partitioned.month) {
      // Set first, so that a failure to create partitions fails one sweep an hour and not every sweep.
      partitioned = { atMs, month };
      await ensurePartitions(client, wallMs);
    }
    const due: DueRow[] = await client.unsafe(DUE, [now?.() ?? null, limit]);
    const ahead: DueRow[] = await client.unsafe(AHEAD, [now?.() ?? null, limit, CLOCK_SKEW_MAX_MS]);
    const rows = [...due, ...ahead].slice(0, limit);
    return rows.map((row) => ({ walletId: row.wallet_id, holdId: row.hold_id }));
  };

  const inTurn = <Result>(read: (client: SQL) => Promise<Result>): Promise<Result> => {
    const found = last.then(() => session.run(searchMaxMs, ({ client }) => read(client)));
    last = found.catch(() => undefined);
    return found;
  };

  return {
    find: (limit) => inTurn((client) => search(client, limit)),
    findCredits: (limit) =>
      inTurn(async (client) => {
        const rows: { readonly wallet_id: string }[] = await client.unsafe(DUE_CREDITS, [
          now?.() ?? null,
          limit,
        ]);
        return rows.map(({ wallet_id }) => wallet_id);
      }),
    close: session.close,
  };
}

interface DueRow {
  readonly wallet_id: string;
  readonly hold_id: string;
}

const NOW_MS = "coalesce($1::bigint, (extract(epoch FROM now()) * 1000)::bigint)";

const DUE = `SELECT wallet_id, hold_id FROM holds WHERE state = 'held' AND expires_at_ms <= ${NOW_MS}
  ORDER BY expires_at_ms LIMIT $2::bigint`;

const DUE_CREDITS = `SELECT DISTINCT wallet_id FROM credits
  WHERE live AND claims IS NULL AND expires_at_ms <= ${NOW_MS} LIMIT $2::bigint`;

const AHEAD = `SELECT wallet_id, hold_id FROM
    (SELECT wallet_id, hold_id, created_at_ms, expires_at_ms, ttl_ms FROM holds WHERE state = 'held'
      ORDER BY expires_at_ms DESC LIMIT $2::bigint) AS last_to_expire
  WHERE created_at_ms > ${NOW_MS} + $3::bigint AND expires_at_ms > ${NOW_MS} + ttl_ms`;
