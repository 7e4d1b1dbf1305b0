import { platform } from "../platform.ts";

/** An answer is given again for so long, and then renewed while the one before is given. */
const FRESH_MS = 60_000;
/** An older answer is not given: it is waited for. */
const KEPT_MS = 15 * 60_000;

/**
 * Keeps the last answer of a read that takes long, so that many readers cost one read a minute, and only the first of
 * a quarter of an hour waits for it.
 */
export function keepFresh<Value>(read: () => Promise<Value>, now: () => number = platform.now) {
  let kept: { readonly value: Value; readonly atMs: number } | undefined;
  let running: Promise<Value> | undefined;
  const renew = (): Promise<Value> => {
    const atMs = now();
    running ??= read()
      .then((value) => {
        kept = { value, atMs };
        return value;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  return async (): Promise<Value> => {
    const ageMs = kept ? now() - kept.atMs : Number.POSITIVE_INFINITY;
    // A clock that was set back makes no answer young for ever.
    if (!kept || ageMs < 0 || ageMs > KEPT_MS) return renew();
    const { value } = kept;
    if (ageMs > FRESH_MS) renew().catch(() => undefined);
    return value;
  };
}
