import { GatewayError } from "../errors.ts";
import { within } from "../time.ts";

/** What was read. It was true when the read began, or later. */
export interface Reading<Value> {
  readonly value: Value;
  readonly beganAtMs: number;
}

export interface SharedReadsOptions {
  readonly now: () => number;
  /** How old a running read may be for a newcomer to wait for it too. */
  readonly sharedMs: number;
  /** How long a caller waits. */
  readonly waitMaxMs?: number;
  /** Reads that may run; a database that is away must not collect them without end. */
  readonly readsMax?: number;
}

/**
 * Reads by key, once for all who ask for the same key at once. Rejects with `internal` when the read fails,
 * takes too long, or too many others are running.
 */
export function createSharedReads<Value>(
  read: (key: string) => Promise<Value>,
  { now, sharedMs, waitMaxMs = 2_000, readsMax = 1_000 }: SharedReadsOptions,
): (key: string) => Promise<Reading<Value>> {
  const latest = new Map<string, { readonly beganAtMs: number; readonly reading: Promise<Reading<Value>> }>();
  let runningCount = 0;

  const begin = (key: string): Promise<Reading<Value>> => {
    if (runningCount >= readsMax) return Promise.reject(new GatewayError("internal"));
    const beganAtMs = now();
    runningCount += 1;
    const running = read(key).finally(() => {
      runningCount -= 1;
      if (latest.get(key)?.reading === reading) latest.delete(key);
    });
    const reading = within(waitMaxMs, running, tooLate).then(
      (value) => ({ value, beganAtMs }),
      (reason: unknown) => {
        throw new GatewayError("internal", { reason });
      },
    );
    latest.set(key, { beganAtMs, reading });
    return reading;
  };

  return (key) => {
    const shared = latest.get(key);
    const ageMs = shared ? now() - shared.beganAtMs : -1;
    return shared && ageMs >= 0 && ageMs < sharedMs ? shared.reading : begin(key);
  };
}

function tooLate(): never {
  throw new Error("The database did not answer in time");
}
