import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** How far the log of a SQLite file was written, by the header of its index. */
interface LogMark {
  /** Changes when the log begins anew. */
  readonly salt: string;
  /** The frames of committed transactions. */
  readonly frames: number;
}

interface LogIndex extends LogMark {
  readonly pageBytes: number;
  /** Frames that a checkpoint has copied, after it synced them. */
  readonly copied: number;
}

const INDEX_BYTES = 132;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Knows which commits of the SQLite files of a folder were synced, and what a loss of power leaves of them.
 *
 * @see https://www.sqlite.org/walformat.html
 */
export class PowerModel {
  readonly #marks = new Map<string, LogMark>();

  /** Returns a function that records that the log of a file, as it is now, has been synced. */
  syncing(path: string): () => void {
    const mark = readIndex(path);
    return () => {
      const before = this.#marks.get(path);
      // A sync that began earlier may end later. It must not forget what another one has synced.
      const isNews = before?.salt !== mark?.salt || (before?.frames ?? 0) < (mark?.frames ?? 0);
      if (mark && isNews && mark.salt === readIndex(path)?.salt) this.#marks.set(path, mark);
    };
  }

  /**
   * Loses power: `stop` must close every connection to the files. Afterwards they have what was synced before.
   */
  lose(folder: string, stop: () => void): void {
    const kept = databasesOf(folder).map((path) => ({ path, ...this.#durable(path) }));
    stop();
    this.#marks.clear();
    for (const { path, data, log } of kept) {
      // New files: SQLite keeps what it knows of an old one until the last statement of a connection is collected.
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
      writeFileSync(path, data);
      if (log) writeFileSync(`${path}-wal`, log);
    }
  }

  #durable(path: string): { readonly data: Buffer; readonly log: Buffer | undefined } {
    const data = readFileSync(path);
    const index = readIndex(path);
    if (!index || !existsSync(`${path}-wal`)) return { data, log: undefined };
    const mark = this.#marks.get(path);
    const synced = mark?.salt === index.salt ? mark.frames : 0;
    const frames = Math.max(synced, index.copied);
    const bytes = LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + index.pageBytes);
    return { data, log: readFileSync(`${path}-wal`).subarray(0, frames === 0 ? 0 : bytes) };
  }
}

function databasesOf(folder: string): readonly string[] {
  const journal = join(folder, "journal");
  const outboxes = readdirSync(journal).filter((name) => name.endsWith(".db"));
  return [join(folder, "tollgate.db"), ...outboxes.map((name) => join(journal, name))];
}

function readIndex(path: string): LogIndex | undefined {
  if (!existsSync(`${path}-shm`)) return undefined;
  const bytes = Buffer.alloc(INDEX_BYTES);
  const descriptor = openSync(`${path}-shm`, "r");
  readSync(descriptor, bytes, 0, INDEX_BYTES, 0);
  closeSync(descriptor);
  const pageSize = bytes.readUInt16LE(14);
  return {
    salt: bytes.toString("hex", 32, 40),
    frames: bytes.readUInt32LE(16),
    pageBytes: pageSize === 1 ? 65_536 : pageSize,
    copied: bytes.readUInt32LE(128),
  };
}
