import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const PAGE_BYTES = 8_192;

/** How often a second the disk below a folder takes a page and says that it has it. */
export function measureFsyncRate(folder: string, ms: number): number {
  const path = join(folder, "fsync-probe");
  const file = openSync(path, "w");
  const page = new Uint8Array(PAGE_BYTES).fill(7);
  const startedAt = performance.now();
  let syncs = 0;
  while (performance.now() - startedAt < ms) {
    writeSync(file, page, 0, PAGE_BYTES, (syncs % 1_000) * PAGE_BYTES);
    fdatasyncSync(file);
    syncs += 1;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  closeSync(file);
  rmSync(path);
  return syncs / seconds;
}
