import type { Wallet } from "../core/book.ts";
import { fitCredits } from "../core/fit-credits.ts";
import { isId } from "../core/validate.ts";
import type { Batch } from "../engine/store.ts";
import { readWallet, type WalletRow } from "../queries/rows.ts";
import { spoil, VersionedBooks } from "./books.ts";
import { completeBooks } from "./complete-books.ts";
import { storeErrorOf } from "./faults.ts";
import { loadBooks } from "./load.ts";
import { encodeArray } from "./run-query.ts";
import type { Connection } from "./session.ts";
import { encodeCheckedWrite, encodeWrites, type Write, type WriteFence } from "./write.ts";
import { CLOCK_OFF_MAX_MS } from "./write-statements.ts";

/** What the batches of one connection leave to the next ones. */
export class BatchMemory {
  readonly connection: Connection;
  readonly books = new VersionedBooks();
  /** A clock for tests. */
  readonly now: (() => number) | undefined;
  #fence: WriteFence | undefined;
  /** Milliseconds from this process's monotonic clock to the database's clock. */
  #aheadMs = Number.NEGATIVE_INFINITY;

  constructor(connection: Connection, now: (() => number) | undefined) {
    this.connection = connection;
    this.now = now;
  }

  /**
   * Must be called with what each batch has read, as soon as it has read it. Of all answers, the one that was on its
   * way for the shortest time knows the clock best, until the clock is set back.
   */
  learn(fence: WriteFence, databaseMs: number): void {
    const aheadMs = databaseMs - performance.now();
    const isSetBack = this.#aheadMs - aheadMs > CLOCK_OFF_MAX_MS;
    this.#aheadMs = isSetBack ? aheadMs : Math.max(this.#aheadMs, aheadMs);
    this.#fence = fence;
  }

  /** Before the first batch `undefined`. */
  get fence(): WriteFence | undefined {
    return this.#fence;
  }

  /** The database's clock, late by the time that one of its answers was on its way. */
  nowMs(): number {
    return this.now ? this.now() : Math.floor(performance.now() + this.#aheadMs);
  }
}

/**
 * Decides a batch on the books in memory, and writes it in one round trip if its wallets still have the versions of
 * these books. Returns `false` when the batch must be decided under the lock; nothing was written then.
 */
export async function decideFromMemory(
  memory: BatchMemory,
  walletIds: ReadonlySet<string>,
  batch: Batch,
): Promise<boolean> {
  const { books, fence } = memory;
  if (!fence || !books.areKept(walletIds)) return false;
  const commands = batch.collect();
  if (commands.length === 0) return true;
  const nowMs = memory.nowMs();
  let opened = books.open(commands, nowMs);
  if (!opened && (await completeBooks(memory.connection, books, { commands, nowMs })))
    opened = books.open(commands, nowMs);
  if (!opened) return false;
  // A decline or a repetition may depend on a row that memory lacks, and nothing that is written would show it.
  const isDecided = batch.decide(opened, nowMs);
  const assumed = { fence, nowMs: memory.now ? null : nowMs };
  const written = isDecided ? await write(memory, encodeCheckedWrite(opened, assumed)) : undefined;
  if (!written) {
    spoil(opened.values());
    return false;
  }
  memory.learn(fence, Number(written.now_ms));
  books.keep(opened, written.version);
  return true;
}

/** The row that a checked write returns. */
interface Written {
  readonly version: string;
  readonly now_ms: bigint;
}

/**
 * Runs one statement, which is its own transaction. Returns `undefined` when the database rejects it: under the lock
 * it shows whether memory or a command is wrong.
 */
async function write(
  { connection: { client } }: BatchMemory,
  { sql, values }: Write,
): Promise<Written | undefined> {
  try {
    const [written] = await client.unsafe(sql, values);
    return written;
  } catch (error) {
    const fault = storeErrorOf(error, {});
    if (fault.fault === "rejected") return undefined;
    throw fault;
  }
}

/** Locks the wallets of a batch, reads what it needs, decides it, and writes it: three round trips. */
export async function decideUnderLock(
  memory: BatchMemory,
  walletIds: ReadonlySet<string>,
  batch: Batch,
): Promise<void> {
  const { connection, books, now } = memory;
  const wallets = await lockWallets(connection, walletIds);
  // After the lock, so that commands that arrived during the wait share the transaction.
  const commands = batch.collect();
  const { nowMs, transactionId, fence, ...read } = await loadBooks(connection, { commands, wallets, now });
  memory.learn(fence, nowMs);
  const opened = new Map(
    Array.from(read.books, ([walletId, loaded]) => {
      const version = wallets.get(walletId)?.version;
      const bindings = read.bindings.get(walletId) ?? [];
      return [
        walletId,
        books.merge(walletId, { loaded, bindings, kinds: read.kinds.get(walletId), version }),
      ];
    }),
  );
  for (const book of opened.values()) fitCredits(book);
  batch.decide(opened, nowMs);
  await commit(connection, encodeWrites(opened, fence), transactionId);
  books.keep(opened, versionOf(transactionId));
}

/** A wallet as it was locked, with its version. */
type LockedWallet = Wallet & { readonly version: string };

/**
 * Begins a transaction and locks wallets in the order of their ids, so that two batches never deadlock. Must
 * not read other rows: a statement that waits for a lock sees them as of its start, before the commit that
 * ended the wait.
 */
async function lockWallets(
  { client }: Connection,
  walletIds: Iterable<string>,
): Promise<ReadonlyMap<string, LockedWallet>> {
  const possible = [...walletIds].filter(isId);
  const [, rows]: [unknown, (WalletRow & { readonly version: string })[]] = await Promise.all([
    client`BEGIN`.execute(),
    client.unsafe(LOCK, [encodeArray(possible)]).execute(),
  ]);
  return new Map(rows.map((row) => [row.wallet_id, { ...readWallet(row), version: row.version }]));
}

const LOCK = `SELECT wallet_id, posted, held, credit_limit, state, last_seq, created_at_ms, newest_credit,
    mixed::integer::bigint AS mixed, newest_hold_ms, xmin::text AS version
  FROM wallets WHERE wallet_id = ANY($1::text[]) ORDER BY wallet_id FOR UPDATE`;

/** Sends the writes and COMMIT at once, in one round trip. When a write fails, COMMIT rolls back. */
async function commit(
  { client, server }: Connection,
  writes: readonly Write[],
  transactionId: string,
): Promise<void> {
  const end = writes.length > 0 ? client`COMMIT` : client`ROLLBACK`;
  try {
    const sent = writes.map(({ sql, values }) => client.unsafe(sql, values).execute());
    await Promise.all([...sent, end.execute()]);
  } catch (error) {
    throw storeErrorOf(error, { transaction: `${transactionId} ${server}` });
  }
}

/** Returns a transaction's number as `xmin` has it: without the epoch. */
function versionOf(transactionId: string): string {
  return String(BigInt(transactionId) & 0xffff_ffffn);
}
