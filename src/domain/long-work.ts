/** Work of minutes: reports its steps, and ends early when its signal aborts. */
export interface LongWork {
  /** Begins a step. `unit` is "bytes" or a plural noun; a `total` of 0 is unknown. */
  step(name: string, total: number, unit: string): void;
  /** Reports how much of the step is done, in its unit. */
  at(done: number): void;
  readonly signal: AbortSignal;
}

/** Settles like `awaited`, or rejects with the reason of the signal when it aborts before. */
export function unlessAborted<Value>(signal: AbortSignal, awaited: Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([awaited, promise]).finally(() => signal.removeEventListener("abort", abort));
}
