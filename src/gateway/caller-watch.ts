import { type Cause, GatewayError } from "../errors.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

/** Why a key may not be used any more. */
export type KeyEnd = "revoked" | "suspended";

/** Finds those of some keys that were revoked or deleted, and those whose account is suspended. */
export type FindEndedKeys = (keyIds: readonly string[]) => Promise<ReadonlyMap<string, KeyEnd>>;

/** The caller of a running request. */
export interface RunningCaller {
  readonly keyId: string;
  /** The error that ends the request, once its key or account was ended. */
  ended: GatewayError | undefined;
  /** Ends the attempt under way; `undefined` between two of them. */
  cut: (() => void) | undefined;
  /** Whether the request was there at the last look: until then its key was read a moment ago. */
  isKnown: boolean;
}

/** Looks every second whether the callers of running requests still may call, and ends those that may not. */
export interface CallerWatch {
  start(keyId: string): RunningCaller;
  stop(caller: RunningCaller): void;
  close(): void;
}

const CAUSES: Record<KeyEnd, Cause> = { revoked: "key_revoked", suspended: "account_suspended" };

const LOOK_EVERY_MS = 1_000;
/** Keys of one query at most. */
const KEYS_MAX = 1_000;

/**
 * Reads the keys of all requests that run longer than a second together, by one query of up to 1,000 keys after
 * the other, and none while there is no such request. A database that does not answer ends nobody.
 */
export function createCallerWatch({
  findEnded,
  log,
  everyMs = LOOK_EVERY_MS,
}: {
  readonly findEnded: FindEndedKeys;
  readonly log: Log;
  readonly everyMs?: number;
}): CallerWatch {
  const running = new Set<RunningCaller>();
  let timer: Timer | undefined;
  let isLooking = false;
  let isClosed = false;
  /** Logged once when it begins and once when it is over. */
  let isAway = false;

  function lookSoon(): void {
    if (timer || isLooking || isClosed) return;
    timer = setTimeout(look, everyMs);
  }
  async function look(): Promise<void> {
    timer = undefined;
    isLooking = true;
    await endAll(takeKnown(running)).then(
      () => noteAway(undefined),
      (fault: unknown) => noteAway(fault),
    );
    isLooking = false;
    if (running.size > 0) lookSoon();
  }
  async function endAll(callers: ReadonlyMap<string, readonly RunningCaller[]>): Promise<void> {
    const keyIds = [...callers.keys()];
    for (let from = 0; from < keyIds.length; from += KEYS_MAX) {
      const ended = await findEnded(keyIds.slice(from, from + KEYS_MAX));
      for (const [keyId, why] of ended) for (const caller of callers.get(keyId) ?? []) end(caller, why);
    }
  }
  function noteAway(fault: unknown): void {
    if (isClosed) return;
    if (fault !== undefined && !isAway) log.warn(describeFault(fault), "keys of running requests unread");
    if (fault === undefined && isAway) log.info({}, "keys of running requests read again");
    isAway = fault !== undefined;
  }

  return {
    start(keyId) {
      const caller: RunningCaller = { keyId, ended: undefined, cut: undefined, isKnown: false };
      running.add(caller);
      if (timer === undefined) lookSoon();
      return caller;
    },
    stop: (caller) => void running.delete(caller),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The callers that were there at the last look, by key; those that came since are known from now on. */
function takeKnown(running: Iterable<RunningCaller>): ReadonlyMap<string, readonly RunningCaller[]> {
  const byKey = new Map<string, RunningCaller[]>();
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

function end(caller: RunningCaller, why: KeyEnd): void {
  caller.ended = new GatewayError(CAUSES[why]);
  caller.cut?.();
}
