import type { Batch } from "../engine/store.ts";
import { spoil, VersionedBooks } from "./books.ts";
import { storeErrorOf } from "./faults.ts";
import type { Connection } from "./session.ts";
import { encodeCheckedWrite, type Write, type WriteFence } from "./write.ts";

/** What the batches of one connection leave to the next ones. */
export class BatchMemory {
  readonly connection: Connection;
  readonly books = new VersionedBooks();
  /** A clock for tests. */
  readonly now: (() => number) | undefined;
  #known: { readonly fence: WriteFence; readonly databaseMs: number; readonly uptimeMs: number } | undefined;

  constructor(connection: Connection, now: (() => number) | undefined) {
    this.connection = connection;
    this.now = now;
  }

  /** Must be called with what each batch has read, as soon as it has read it. */
  learn(fence: WriteFence, databaseMs: number): void {
    this.#known = { fence, databaseMs, uptimeMs: performance.now() };
  }

  /** Before the first batch `undefined`. */
  get fence(): WriteFence | undefined {
    return this.#known?.fence;
  }

  /** The database's clock, late by the time that its last answer was on its way. */
  nowMs(): number {
    if (this.now) return this.now();
    const { databaseMs, uptimeMs } = this.#known ?? { databaseMs: Date.now(), uptimeMs: performance.now() };
    return databaseMs + Math.floor(performance.now() - uptimeMs);
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
  const opened = books.open(commands, nowMs);
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
