import { promises as fs } from "node:fs";
import { join } from "node:path";
import { FREE_BYTES_MIN } from "../db/full-disk.ts";
import { outboxFolder } from "./folder.ts";

/** The disk that keeps the settlement outbox. */
export interface OutboxDisk {
  /** Bytes that this process may still write. */
  readonly freeBytes: number;
  /** Why no settlement could be written; `undefined` when one can. */
  readonly problem: "disk_full" | "read_only" | "not_writable" | undefined;
}

const PROBE = Buffer.alloc(4096);
const PROBLEMS: Readonly<Record<string, OutboxDisk["problem"]>> = {
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EROFS: "read_only",
};

/**
 * Checks the disk of the settlement outbox, off the event loop: reads its free space, and writes and removes a
 * file of 4 KiB. Rejects when the folder is gone.
 */
export async function checkOutboxDisk(dataFolder: string): Promise<OutboxDisk> {
  const folder = outboxFolder(dataFolder);
  const [{ bavail, bsize }, fault] = await Promise.all([fs.statfs(folder), tryWrite(folder)]);
  const freeBytes = bavail * bsize;
  return { freeBytes, problem: fault ?? (freeBytes < FREE_BYTES_MIN ? "disk_full" : undefined) };
}

async function tryWrite(folder: string): Promise<OutboxDisk["problem"]> {
  // Named by process, so that a process killed in between leaves one file at most.
  const path = join(folder, `probe-${process.pid}`);
  try {
    await fs.writeFile(path, PROBE, { mode: 0o600 });
    return undefined;
  } catch (fault) {
    const code = fault instanceof Error && "code" in fault ? String(fault.code) : "";
    return PROBLEMS[code] ?? "not_writable";
  } finally {
    await fs.rm(path, { force: true }).catch(() => undefined);
  }
}
