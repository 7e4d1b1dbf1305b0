import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";

/** Below this, the settlements of a busy gateway no longer fit. */
export const FREE_BYTES_MIN = 1024 * 1024;

/** A start that failed because of a full disk. */
class FullDiskError extends Error {
  override readonly name = "FullDiskError";
}

type ReadFreeBytes = (folder: string) => number;

/** Codes of faults that a full disk causes. SQLite also reports an I/O error when its log cannot grow. */
const CODES = /^(SQLITE_FULL|SQLITE_IOERR\w*|ENOSPC|EDQUOT)$/;
/** Causes of a fault that are read: libraries wrap it a few times. */
const CAUSES_MAX = 5;

/**
 * Returns a fault that names the full disk among the disks of these folders, if one of them can have caused the
 * fault. Returns any other fault as it is.
 */
export function nameFullDisk(
  fault: unknown,
  folders: readonly string[],
  readFreeBytes: ReadFreeBytes = freeBytesOf,
): unknown {
  const folder = isOfDisk(fault) ? folders.find((each) => isFull(each, readFreeBytes)) : undefined;
  if (folder === undefined) return fault;
  const text = `The disk of ${folder} is full: free space there, then start again.`;
  return new FullDiskError(text, { cause: fault });
}

/** Whether the disk of a folder has less than 1 MiB for this process. A folder may be missing. */
export function isFull(folder: string, readFreeBytes: ReadFreeBytes = freeBytesOf): boolean {
  try {
    return readFreeBytes(folder) < FREE_BYTES_MIN;
  } catch {
    return false;
  }
}

function isOfDisk(fault: unknown): boolean {
  let each = fault;
  for (let depth = 0; depth < CAUSES_MAX && each instanceof Error; depth += 1) {
    if ("code" in each && CODES.test(String(each.code))) return true;
    each = each.cause;
  }
  return false;
}

/** Reads the free space where a folder is, or would be created. */
function freeBytesOf(folder: string): number {
  if (!existsSync(folder) && dirname(folder) !== folder) return freeBytesOf(dirname(folder));
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
