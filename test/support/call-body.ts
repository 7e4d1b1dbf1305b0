import type { CallBody, CallObserver } from "../../src/upstream/upstream.ts";

/** Wraps an encoded text as the body of an upstream call. */
export function callBodyOf(text: string): CallBody {
  return { bytes: Buffer.byteLength(text), take: () => text };
}

/** Observes a call without recording its progress. `ended` receives the function that ends the call. */
export function observerOf(signal: AbortSignal, ended: (end: () => void) => void = () => {}): CallObserver {
  return { signal, connecting() {}, connected() {}, unreachable() {}, onEnded: ended };
}
