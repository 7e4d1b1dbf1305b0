/** Returns Unix milliseconds as ISO 8601 in UTC, or null for `undefined`. */
export function printTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/**
 * Resolves with the awaited value, or with the result of `late` after `ms` milliseconds; `late` may throw.
 */
export async function within<Value, Late>(
  ms: number,
  awaited: Promise<Value>,
  late: () => Late,
): Promise<Value | Late> {
  const { promise: time, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return Promise.race([awaited, time.then(late)]).finally(() => clearTimeout(timer));
}

/** Resolves when the promise does, or after `ms` milliseconds. Rejects when the promise does before that. */
export async function waitAtMost(ms: number, awaited: Promise<unknown>): Promise<void> {
  await within(ms, awaited, () => undefined);
}
