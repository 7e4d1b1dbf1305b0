// Reads of keys by their secrets, shared among the requests of a moment.
import { GatewayError } from "../../errors.ts";
import { platform, within } from "../../platform.ts";

/** The keys of an event-loop turn, and their values once the turn is over. */
interface TurnRead<Value> {
  readonly keys: string[];
  readonly values: Promise<ReadonlyMap<string, Value>>;
}

/**
 * Returns a function that reads by key, and reads all keys of an event-loop turn at once. With many keys in use,
 * reading each by itself costs a tenth of a request.
 */
export function createTurnReads<Value>(
  readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  let turn: TurnRead<Value> | undefined;

  const begin = () => {
    const keys: string[] = [];
    const end = new Promise<void>((resolve) => void platform.setImmediate(resolve));
    const values = end.then(() => {
      turn = undefined;
      return readAll(keys);
    });
    return { keys, values };
  };

  return async (key) => {
    turn ??= begin();
    const { keys, values } = turn;
    keys.push(key);
    // One row that cannot be read fails no other key.
    const read = await values.catch((fault: unknown) => {
      if (keys.length === 1) throw fault;
      return readAll([key]);
    });
    return read.get(key);
  };
}

/** A value that was current when the read began, or later. */
interface Reading<Value> {
  readonly value: Value;
  readonly beganAtMs: number;
}

export interface SharedReadsOptions {
  readonly now: () => number;
  /** Maximum age of a running read that a later caller may share. */
  readonly sharedMs: number;
  /** How long a caller waits. Default: 2,000. */
  readonly waitMaxMs?: number;
  /** Maximum number of running reads, also while the database is unavailable. Default: 1,000. */
  readonly readsMax?: number;
}

/**
 * Returns a function that reads by key and shares one read among concurrent callers of a key. It rejects with
 * `internal` when the read fails, exceeds `waitMaxMs`, or `readsMax` reads are running.
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
    const reading = within(waitMaxMs, running, throwTimeout).then(
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

function throwTimeout(): never {
  throw new Error("The database did not answer in time");
}
