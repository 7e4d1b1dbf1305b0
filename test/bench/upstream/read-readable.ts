import type { Readable } from "node:stream";

/** Reads a Node stream to its end by its events: its fastest way. Rejects when it breaks off. */
export function readReadable(readable: Readable, onPiece: (bytes: Uint8Array) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  readable.on("data", onPiece);
  readable.on("end", resolve);
  readable.on("error", reject);
  readable.on("close", () => reject(new Error("The answer broke off")));
  return promise;
}

export async function textOf(readable: Readable): Promise<string> {
  const pieces: Uint8Array[] = [];
  await readReadable(readable, (bytes) => pieces.push(bytes));
  return Buffer.concat(pieces).toString();
}
