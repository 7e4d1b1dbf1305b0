import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LogMark, openLogIndex, type WriteAheadLogIndex } from "./log-index.ts";

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Knows which commits of the SQLite files of a folder were synced, and what a loss of power leaves of them.
 *
 * @see https://www.sqlite.org/walformat.html
 */
export class PowerModel {
  readonly #marks = new Map<string, LogMark & { readonly begun: number }>();
  readonly #indexes = new Map<string, WriteAheadLogIndex>();
  #begun = 0;

  /** Must be called when a file is opened: its log may have begun anew. */
  opened(path: string): void {
    this.#indexes.delete(path);
  }

  /** Returns a function that records that the log of a file, as it is now, has been synced. */
  syncing(path: string): () => void {
    const mark = this.#indexOf(path)?.mark();
    this.#begun += 1;
    const begun = this.#begun;
    return () => {
      // A sync that began earlier and ends later, on another machine, takes nothing back.
      const isLatest = begun > (this.#marks.get(path)?.begun ?? 0);
      if (mark && isLatest) this.#marks.set(path, { ...mark, begun });
    };
  }

  /**
   * Loses power: `stop` must close every connection to the files. Afterwards they have what was synced before.
   */
  lose(folder: string, stop: () => void): void {
    const kept = databasesOf(folder).map((path) => ({ path, ...this.#durable(path) }));
    stop();
    this.#marks.clear();
    this.#indexes.clear();
    for (const { path, data, log } of kept) {
      // New files: SQLite keeps what it knows of an old one until the last statement of a connection is collected.
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
      writeFileSync(path, data);
      if (log) writeFileSync(`${path}-wal`, log);
    }
  }

  #indexOf(path: string): WriteAheadLogIndex | undefined {
    const known = this.#indexes.get(path);
    if (known) return known;
    const index = openLogIndex(path);
    if (index) this.#indexes.set(path, index);
    return index;
  }

  #durable(path: string): { readonly data: Buffer; readonly log: Buffer | undefined } {
    const data = readFileSync(path);
    const index = openLogIndex(path);
    if (!index || !existsSync(`${path}-wal`)) return { data, log: undefined };
    const mark = this.#marks.get(path);
    const synced = mark?.salt === index.mark().salt ? mark.frames : 0;
    const frames = Math.max(synced, index.copied());
    const bytes = LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + index.pageBytes());
    return { data, log: readFileSync(`${path}-wal`).subarray(0, frames === 0 ? 0 : bytes) };
  }
}

function databasesOf(folder: string): readonly string[] {
  const journal = join(folder, "journal");
  const outboxes = readdirSync(journal).filter((name) => name.endsWith(".db"));
  return [join(folder, "tollgate.db"), ...outboxes.map((name) => join(journal, name))];
}
