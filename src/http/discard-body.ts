import { within } from "../time.ts";

/** A larger rest is not worth its bytes: the client loses its answer then. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;
const DISCARD_MS_MAX = 10_000;
/** A client that is silent for so long waits for its answer. */
const SILENCE_MS_MAX = 500;

/**
 * Reads the rest of a request's body away, within bounds, when its connection closes after the answer: bytes that
 * nobody reads make the kernel reset the connection, and the client never sees why it was refused. Never rejects.
 * A connection that stays open needs none of this, as Bun reads on by itself.
 */
export async function discardBody(request: Request): Promise<void> {
  if (!/\bclose\b/i.test(request.headers.get("connection") ?? "")) return;
  if (Number(request.headers.get("content-length")) > DISCARDED_BYTES_MAX) return;
  const { body } = request;
  if (body && !body.locked) await discard(body.getReader()).catch(() => undefined);
}

async function discard(body: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const endsAtMs = performance.now() + DISCARD_MS_MAX;
  let bytes = 0;
  for (;;) {
    const leftMs = Math.min(endsAtMs - performance.now(), SILENCE_MS_MAX);
    const chunk = await within(leftMs, body.read(), () => undefined);
    bytes += chunk?.value?.byteLength ?? 0;
    if (!chunk || chunk.done || bytes > DISCARDED_BYTES_MAX || performance.now() >= endsAtMs) return;
  }
}
