import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { type Store, StoreError, type TransactionFate, type Turn } from "../engine/store.ts";
import { createDueRead } from "./due.ts";
import { storeErrorOf } from "./faults.ts";
import { loadBooks } from "./load.ts";
import { lockWallets } from "./lock.ts";
import { type Connection, createSession } from "./session.ts";
import { printWrites, type Write } from "./write.ts";

export interface PostgresStoreParts {
  readonly database: PostgresDatabase;
  /** A clock of tests; else the time is the database's, read under the lock. */
  readonly now: (() => number) | undefined;
}

const SETTINGS = {
  // Behind whoever holds a wallet for this long, the batch is given up and tried again.
  lock_timeout: "1s",
  statement_timeout: "4s",
  idle_in_transaction_session_timeout: "5s",
  // Planned once: the statements look up the same few rows however large the tables grow.
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/** A transaction that takes longer than its statements may has lost its server. */
const TRANSACTION_MS = 6_000;
const PING_MS = 2_000;

/**
 * Keeps the books in PostgreSQL. Several processes may share a database: a transaction locks the rows of
 * its wallets first, and every other row is touched only under the lock of its wallet.
 */
export function createPostgresStore({
  database,
  now,
}: PostgresStoreParts): Store & { close(): Promise<void> } {
  const session = createSession(database, SETTINGS);
  const probe = createSession(database);
  const due = createDueRead(database, now);

  const transact = async (connection: Connection, walletIds: ReadonlySet<string>, turn: Turn) => {
    const wallets = await lockWallets(connection, walletIds);
    const commands = turn.collect();
    const { books, nowMs, transactionId } = await loadBooks(connection, { commands, wallets, now });
    turn.decide(books, nowMs);
    await commit(connection, printWrites(books), transactionId);
  };

  return {
    transact: (walletIds, turn) =>
      withFaults(session.run(TRANSACTION_MS, (connection) => transact(connection, walletIds, turn))),
    async fateOf(transaction) {
      const fate = await withFaults(session.run(PING_MS, (connection) => readFate(connection, transaction)));
      if (fate !== "in progress") return fate;
      throw new StoreError("busy", new Error("The transaction is still running"));
    },
    ping: () =>
      withFaults(
        probe.run(PING_MS, async ({ client }) => {
          await client.unsafe("SELECT 1 FROM wallets LIMIT 1");
        }),
      ),
    findDue: (limit) => withFaults(due.find(limit)),
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

/**
 * Sends the writes and COMMIT one behind the other and waits for all at once: when one fails, COMMIT rolls
 * back. The driver sends when the event loop turns, so the server works on one write while the next is printed.
 */
async function commit(
  { client, server }: Connection,
  writes: Iterable<Write>,
  transactionId: string,
): Promise<void> {
  const sent: Promise<unknown>[] = [];
  try {
    for (const { sql, values } of writes) {
      if (sent.length > 0) await new Promise((resolve) => setImmediate(resolve));
      sent.push(client.unsafe(sql, values).execute());
    }
    const end = sent.length > 0 ? client`COMMIT`.execute() : client`ROLLBACK`.execute();
    await Promise.all([...sent, end]);
  } catch (error) {
    throw storeErrorOf(error, `${transactionId} ${server}`);
  }
}

async function readFate(
  { client, server }: Connection,
  transaction: string,
): Promise<TransactionFate | "in progress"> {
  const [transactionId = "", ...rest] = transaction.split(" ");
  // Another server, or another history of this one: there the number means another transaction.
  if (rest.join(" ") !== server) return "unknown";
  const [row] = await client.unsafe("SELECT pg_xact_status($1::text::xid8) AS fate", [transactionId]);
  return row.fate ?? "unknown";
}
