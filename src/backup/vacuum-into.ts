import { type LongWork, unlessAborted } from "../domain/long-work.ts";
import { LedgerError } from "../ledger/ledger.ts";
import { createWorkerReader } from "../ledger/sqlite/reads.ts";
import { createPrivateFile, sizeOf, syncToDisk } from "./files.ts";

const POLL_MS = 100;
/** The longest copy: a day. */
const COPY_MS_MAX = 86_400_000;

/**
 * Copies a SQLite database at one moment, while other processes write to it. They do not wait. Reports the bytes
 * written. Rejects with one sentence when the disk is full, the file is damaged, or the work is aborted.
 *
 * @see https://www.sqlite.org/lang_vacuum.html#vacuuminto
 */
export async function vacuumInto(from: string, to: string, { at, signal }: LongWork): Promise<void> {
  // SQLite fills an empty file, and keeps its mode.
  createPrivateFile(to);
  const reader = createWorkerReader({ path: from, replyMsMax: COPY_MS_MAX });
  const poll = setInterval(() => at(sizeOf(to)), POLL_MS);
  try {
    await unlessAborted(signal, reader.run({ sql: "VACUUM INTO ?1", values: [to] }));
  } catch (thrown) {
    throw signal.aborted ? thrown : new Error(`Cannot copy the database: ${reasonOf(thrown)}.`);
  } finally {
    clearInterval(poll);
    reader.close();
  }
  syncToDisk(to);
}

/** Returns the bytes that a copy will have, about: free pages are not copied. */
export async function sizeOfCopy(path: string, signal: AbortSignal): Promise<number> {
  const reader = createWorkerReader({ path });
  const read = async (name: string) => {
    const query = { sql: `SELECT ${name} AS value FROM pragma_${name}`, values: [] };
    const [row] = await unlessAborted(signal, reader.run(query));
    return Number(row?.value);
  };
  try {
    return ((await read("page_count")) - (await read("freelist_count"))) * (await read("page_size"));
  } catch (thrown) {
    throw signal.aborted ? thrown : new Error(`Cannot read the database: ${reasonOf(thrown)}.`);
  } finally {
    reader.close();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  SQLITE_FULL: "the disk is full",
  SQLITE_CORRUPT: "its file is damaged",
  SQLITE_NOTADB: "the file is not a database",
};

/** The reader's error carries the code of SQLite in its cause. */
function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof LedgerError ? thrown.cause : thrown;
  const code = cause instanceof Error ? cause.message : String(cause);
  return REASONS[code.split("_").slice(0, 2).join("_")] ?? code;
}
