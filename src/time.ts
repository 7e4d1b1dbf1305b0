/** What is awaited, or what `late` says when that takes longer than `ms`; `late` may throw. */
export async function within<Value, Late>(
  ms: number,
  awaited: Promise<Value>,
  late: () => Late,
): Promise<Value | Late> {
  const { promise: time, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return Promise.race([awaited, time.then(late)]).finally(() => clearTimeout(timer));
}

/** Waits for something, but not for longer than this. */
export async function waitAtMost(ms: number, awaited: Promise<unknown>): Promise<void> {
  await within(ms, awaited, () => undefined);
}

/** A time in Unix milliseconds as ISO 8601 in UTC; null for none. */
export function printTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
