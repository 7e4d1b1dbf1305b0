import { existsSync } from "node:fs";

/** How far the log of a SQLite file was written, by the header of its index. */
export interface LogMark {
  /** Changes when the log begins anew. */
  readonly salt: bigint;
  /** The frames of committed transactions. */
  readonly frames: number;
}

/**
 * The index of a write-ahead log, in the memory that SQLite shares. Reading it costs no system call. Shows the index
 * of the connections that are open now: after the last one has closed, it stays as it was.
 *
 * @see https://www.sqlite.org/walformat.html
 */
export class WriteAheadLogIndex {
  readonly #header: DataView;

  constructor(header: DataView) {
    this.#header = header;
  }

  /** Changes with each commit of any connection. */
  changes(): number {
    return this.#header.getUint32(8, true);
  }

  mark(): LogMark {
    return { salt: this.#header.getBigUint64(32, true), frames: this.#header.getUint32(16, true) };
  }

  pageBytes(): number {
    const size = this.#header.getUint16(14, true);
    return size === 1 ? 65_536 : size;
  }

  /** Frames that a checkpoint has copied, after it synced them. */
  copied(): number {
    return this.#header.getUint32(128, true);
  }
}

const HEADER_BYTES = 136;

/** Returns the index of a file's log; `undefined` when no connection to it has one. */
export function openLogIndex(path: string): WriteAheadLogIndex | undefined {
  if (!existsSync(`${path}-shm`)) return undefined;
  const { buffer, byteOffset } = Bun.mmap(`${path}-shm`);
  return new WriteAheadLogIndex(new DataView(buffer, byteOffset, HEADER_BYTES));
}
