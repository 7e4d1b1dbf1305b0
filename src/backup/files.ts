// Files of a backup: private, on disk before they count, and compared by digest.
import { chmodSync, closeSync, copyFileSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import type { LongWork } from "../domain/long-work.ts";

/** Creates an empty file that its owner alone can read. Throws when the name is taken. */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "wx", 0o600));
}

export function createPrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Copies a small file and syncs the copy. Throws when the name is taken. */
export function copyPrivately(from: string, to: string): void {
  createPrivateFile(to);
  copyFileSync(from, to);
  // The copy has got the mode of its source, which an archive may have widened.
  chmodSync(to, 0o600);
  syncToDisk(to);
}

/** Syncs a file, or the names in a folder, to disk. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function sizeOf(path: string): number {
  return statSync(path).size;
}

/** Returns the SHA-256 of a file in hex, and reports the bytes read. Rejects when the work is aborted. */
export async function digestOf(path: string, { at, signal }: LongWork, before = 0): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  let done = before;
  for await (const chunk of Bun.file(path).stream()) {
    signal.throwIfAborted();
    hasher.update(chunk);
    done += chunk.byteLength;
    at(done);
  }
  return hasher.digest("hex");
}

/** Copies a file in chunks, and reports the bytes copied. Rejects when the work is aborted. */
export async function copyInChunks(from: string, to: string, { at, signal }: LongWork): Promise<void> {
  createPrivateFile(to);
  const writer = Bun.file(to).writer({ highWaterMark: 1 << 20 });
  let done = 0;
  try {
    for await (const chunk of Bun.file(from).stream()) {
      signal.throwIfAborted();
      writer.write(chunk);
      await writer.flush();
      done += chunk.byteLength;
      at(done);
    }
  } finally {
    await writer.end();
  }
  syncToDisk(to);
}
