import { SQL } from "bun";

/**
 * How long a schema change waits for a lock; statements of requests queue behind it meanwhile. Below PostgreSQL's
 * `deadlock_timeout` of 1 s, so that a deadlock ends the change and never a request.
 */
export const LOCK_TIMEOUT_MS = 500;

const FIRST_WAIT_MS = 100;
const WAIT_MAX_MS = 5_000;
const GIVE_UP_MS = 600_000;

const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK_DETECTED = "40P01";
/** A partition was dropped meanwhile. */
const UNDEFINED_TABLE = "42P01";

/** Whether a statement failed because of what other connections hold locked. */
export function isLockFailure(error: unknown): boolean {
  return hasState(error, [LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED]);
}

/** Repeats a schema change with a backoff while other connections hold its tables, for ten minutes. */
export async function withRetries(change: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, WAIT_MAX_MS)) {
    try {
      return await change();
    } catch (error) {
      const mayPass = isLockFailure(error) || hasState(error, [UNDEFINED_TABLE]);
      if (!mayPass) throw error;
      if (performance.now() > deadline) {
        throw new Error("Cannot migrate the database: long transactions hold its tables", { cause: error });
      }
      await Bun.sleep(waitMs * (0.5 + Math.random()));
    }
  }
}

function hasState(error: unknown, states: readonly string[]): boolean {
  return error instanceof SQL.PostgresError && states.includes(error.errno ?? "");
}
