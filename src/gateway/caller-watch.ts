import { chunksOf } from "../domain/chunks.ts";
import { type Cause, GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { RunningCaller } from "./request.ts";

/** Why a key may no longer be used. */
export type KeyEnd = "revoked" | "suspended";

/** Finds those of the keys that were revoked or deleted, and those whose account is suspended. */
export type FindEndedKeys = (keyIds: readonly string[]) => Promise<ReadonlyMap<string, KeyEnd>>;

/** Aborts running requests whose key was revoked or whose account was suspended. Reads keys every second. */
export interface CallerWatch {
  /** Watches the caller of a request until disposed. */
  start(keyId: string): RunningCaller;
  close(): void;
}

const CAUSES: Record<KeyEnd, Cause> = { revoked: "key_revoked", suspended: "account_suspended" };

const CHECK_EVERY_MS = 1_000;
/** Keys of one query. */
const KEYS_MAX = 1_000;

/**
 * One running request. It has one listener, because its attempts follow each other. An `AbortSignal` costs
 * ten times as much.
 */
class WatchedCaller implements RunningCaller {
  readonly keyId: string;
  ended: GatewayError | undefined;
  /** Whether the request ran at the latest check. Before its first check, its key is less than 1 s old. */
  isKnown = false;
  #listener: (() => void) | undefined;
  readonly #running: Set<WatchedCaller>;

  constructor(keyId: string, running: Set<WatchedCaller>) {
    this.keyId = keyId;
    this.#running = running;
    running.add(this);
  }

  get aborted(): boolean {
    return this.ended !== undefined;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }

  end(why: KeyEnd): void {
    this.ended = new GatewayError(CAUSES[why]);
    this.#listener?.();
  }

  [Symbol.dispose](): void {
    this.#running.delete(this);
  }
}

/**
 * Reads the keys of all requests that run longer than a second, in consecutive queries of up to 1,000 keys.
 * Sends no query without such a request. While the database is away, no request is ended.
 */
export function createCallerWatch({
  findEnded,
  log,
  everyMs = CHECK_EVERY_MS,
}: {
  readonly findEnded: FindEndedKeys;
  readonly log: Log;
  readonly everyMs?: number;
}): CallerWatch {
  const running = new Set<WatchedCaller>();
  let timer: Timer | undefined;
  let isChecking = false;
  let isClosed = false;
  /** Keeps the log to one line when an outage begins and one when it ends. */
  let isAway = false;

  function scheduleCheck(): void {
    if (timer || isChecking || isClosed) return;
    timer = platform.setTimeout(check, everyMs);
  }
  async function check(): Promise<void> {
    timer = undefined;
    isChecking = true;
    await endAll(takeKnown(running)).then(
      () => logAvailability(undefined),
      (fault: unknown) => logAvailability(fault),
    );
    isChecking = false;
    if (running.size > 0) scheduleCheck();
  }
  async function endAll(callers: ReadonlyMap<string, readonly WatchedCaller[]>): Promise<void> {
    for (const keyIds of chunksOf([...callers.keys()], KEYS_MAX)) {
      for (const [keyId, why] of await findEnded(keyIds))
        for (const caller of callers.get(keyId) ?? []) caller.end(why);
    }
  }
  function logAvailability(fault: unknown): void {
    if (isClosed) return;
    if (fault !== undefined && !isAway) log.warn(describeFault(fault), "keys of running requests unread");
    if (fault === undefined && isAway) log.info({}, "keys of running requests read again");
    isAway = fault !== undefined;
  }

  return {
    start(keyId) {
      const caller = new WatchedCaller(keyId, running);
      if (timer === undefined) scheduleCheck();
      return caller;
    },
    close() {
      isClosed = true;
      platform.clearTimeout(timer);
    },
  };
}

/** Returns the callers known since an earlier check, by key, and marks all others as known. */
function takeKnown(running: Iterable<WatchedCaller>): ReadonlyMap<string, readonly WatchedCaller[]> {
  const byKey = new Map<string, WatchedCaller[]>();
  for (const caller of running) {
    if (caller.isKnown && !caller.ended) {
      const callers = byKey.get(caller.keyId);
      if (callers) callers.push(caller);
      else byKey.set(caller.keyId, [caller]);
    }
    caller.isKnown = true;
  }
  return byKey;
}
