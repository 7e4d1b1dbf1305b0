import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, parse, resolve } from "node:path";
import type { FileExport } from "./export-config.ts";
import { printLines, type Sink, SinkError } from "./line.ts";

/**
 * Appends lines to a file, and resolves when they are on disk. Begins a new file by size or by time: the full
 * one is renamed to `NAME-TIME.jsonl`. A file that was renamed or removed by others is created again. Blocks
 * its thread while it writes.
 */
export function createFileSink(
  config: Pick<FileExport, "path" | "rotate" | "rotateBytes">,
  now = Date.now,
): Sink {
  const path = resolve(config.path);
  let fd: number | undefined;

  const close = () => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  const open = () => {
    if (fd !== undefined && isAt(fd, path)) return fd;
    close();
    fd = openForAppending(path);
    return fd;
  };

  return {
    async deliver({ lines }) {
      try {
        if (isFull(open(), config, now())) {
          close();
          rename(path, now());
        }
        append(open(), Buffer.from(printLines(lines)));
        return 0;
      } catch (cause) {
        close();
        throw new SinkError(`file not written: ${codeOf(cause)}`, { cause });
      }
    },
    close,
  };
}

/** Whether the path still names the open file. */
function isAt(fd: number, path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  const open = fstatSync(fd);
  return there !== undefined && there.ino === open.ino && there.dev === open.dev;
}

/** Opens a file, and removes the part of a line that a killed process left at its end. */
function openForAppending(path: string): number {
  const isNew = !existsSync(path);
  if (isNew) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fd = openSync(path, "a+", 0o600);
  if (isNew) syncFolder(path);
  const { size } = fstatSync(fd);
  const end = endOfLines(fd, size);
  if (end < size) ftruncateSync(fd, end);
  return fd;
}

/** A new name of a file outlives a loss of power only when its folder is synced. */
function syncFolder(path: string): void {
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

const CHUNK_BYTES = 65_536;

/** The size of a file up to its last line break. */
function endOfLines(fd: number, size: number): number {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const bytes = readSync(fd, chunk, 0, end - start, start);
    const last = chunk.subarray(0, bytes).lastIndexOf(0x0a);
    if (last !== -1) return start + last + 1;
    end = start;
  }
  return 0;
}

/** Writes all bytes and syncs them. Takes back what a full disk has cut. */
function append(fd: number, bytes: Buffer): void {
  const before = fstatSync(fd).size;
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(fd, bytes, written);
    fdatasyncSync(fd);
  } catch (error) {
    // Not when another process has appended to the file meanwhile.
    if (fstatSync(fd).size === before + written) ftruncateSync(fd, before);
    throw error;
  }
}

const PERIODS = { day: 10, hour: 13 } as const;

/** Whether a file has reached its size, or was last written in an earlier UTC day or hour. */
function isFull(
  fd: number,
  { rotate, rotateBytes }: Pick<FileExport, "rotate" | "rotateBytes">,
  nowMs: number,
) {
  const { size, mtimeMs } = fstatSync(fd);
  if (size === 0) return false;
  if (size >= rotateBytes) return true;
  if (rotate === "size") return false;
  const characters = PERIODS[rotate];
  const periodOf = (ms: number) => new Date(ms).toISOString().slice(0, characters);
  return periodOf(mtimeMs) !== periodOf(nowMs);
}

/** Renames a full file to a name that no file has. */
function rename(path: string, nowMs: number): void {
  const { dir, name, ext } = parse(path);
  const time = new Date(nowMs).toISOString().replaceAll(":", "-");
  for (let count = 1; ; count++) {
    const full = `${dir}/${name}-${time}${count === 1 ? "" : `-${count}`}${ext}`;
    if (existsSync(full)) continue;
    renameSync(path, full);
    syncFolder(path);
    return;
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "unknown fault";
}
