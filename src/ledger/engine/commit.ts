import { platform } from "../../platform.ts";
import {
  type BatchBounds,
  type Completions,
  createBatch,
  failAll,
  type QueueBatch,
  type QueuedCommand,
} from "./batch.ts";
import { type BatchObserver, type Store, StoreError, type StoreFault } from "./store.ts";

/** The state of a batch loop. */
export interface CommitState {
  readonly store: Store;
  readonly queue: QueuedCommand[];
  readonly observer: BatchObserver | undefined;
  readonly completions: Completions;
  readonly backoff: Backoff;
  readonly bounds: BatchBounds;
  /** The most commands of the next transaction: fewer while a rejected command is being isolated. */
  commandsMax: number;
  /** A batch whose transaction may have been committed. */
  inDoubt: { readonly batch: QueueBatch; readonly transaction: string } | undefined;
  /** Whether the database was away for so long that commands fail at once. */
  isAway: boolean;
  isClosing: boolean;
}

/** The pause between pings of a database that stays away. */
const PROBE_MS = 200;

export function hasWork({ queue, inDoubt, isAway, isClosing }: CommitState): boolean {
  return queue.length > 0 || inDoubt !== undefined || (isAway && !isClosing);
}

/**
 * Takes the next step: waits for a running sync, commits queued commands, resolves a transaction in doubt, or
 * pings a database that is away. Returns the milliseconds to wait before the next step.
 */
export function commitNext(state: CommitState): Promise<number> {
  if (state.completions.isWaiting()) return waitForSync(state);
  if (state.inDoubt) return resolveInDoubt(state, state.inDoubt);
  if (state.isAway) return probeDatabase(state);
  return commitBatch(state);
}

/**
 * Waits for the running sync. A batch committed now would need the next one, so that its commands lose no time
 * by waiting, and more commands share their commit.
 */
async function waitForSync({ completions }: CommitState): Promise<number> {
  await completions.settled();
  return 0;
}

async function commitBatch(state: CommitState): Promise<number> {
  const { store, queue, bounds, backoff } = state;
  const batch = createBatch(queue, { ...bounds, commandsMax: state.commandsMax });
  backoff.start();
  const startedAt = platform.monotonicMs();
  try {
    await store.transact(batch.walletIds, batch);
    state.observer?.committed(batch.queued.length, platform.monotonicMs() - startedAt);
  } catch (error) {
    return recover(state, batch, error);
  }
  state.commandsMax = Math.min(bounds.commandsMax, state.commandsMax * 2);
  backoff.reset();
  state.completions.complete(batch);
  return 0;
}

/**
 * Handles a transaction that failed. A batch that the database rejects is halved and tried again until the
 * rejected command is alone and fails. After `busy` or `away`, the batch is tried again for a while.
 */
function recover(state: CommitState, batch: QueueBatch, error: unknown): number {
  const { queued } = batch;
  const fault = faultOf(error, queued);
  state.observer?.failed(fault);
  if (fault === "unknown" && error instanceof StoreError && error.transaction !== undefined) {
    state.inDoubt = { batch, transaction: error.transaction };
    return state.backoff.pauseMs() ?? 0;
  }
  state.queue.unshift(...(fault === "unknown" ? queued.map(withoutDeadline) : queued));
  if (fault === "rejected" && queued.length > 1) {
    state.commandsMax = Math.ceil(queued.length / 2);
    return 0;
  }
  if (fault === "rejected") return giveUp(state, { count: 1, error });
  if (fault === "unavailable") return giveUp(state, { count: state.queue.length, error });
  return tryAgain(state, { isAway: fault !== "busy", error });
}

/** Treats a transaction rejected before it took a command as `unavailable`: no command caused the fault. */
function faultOf(error: unknown, queued: readonly QueuedCommand[]): StoreFault {
  const fault = error instanceof StoreError ? error.fault : "rejected";
  return fault === "rejected" && queued.length === 0 ? "unavailable" : fault;
}

/**
 * Reads the commit status of a transaction whose connection ended during the commit, before any other batch
 * runs. The commands of a committed transaction are completed as decided. Those of an aborted one run again.
 * They also run again when the status stays unknown, as after a failover. This is safe because of their ids,
 * but results may be `replayed`.
 */
async function resolveInDoubt(
  state: CommitState,
  { batch, transaction }: NonNullable<CommitState["inDoubt"]>,
): Promise<number> {
  try {
    const status = await state.store.commitStatusOf?.(transaction);
    state.inDoubt = undefined;
    if (status !== "committed") {
      state.queue.unshift(...(status === "aborted" ? batch.queued : batch.queued.map(withoutDeadline)));
      const error = new Error("The database closes the connection during commits");
      return tryAgain(state, { isAway: true, error });
    }
    state.completions.complete(batch);
    state.backoff.reset();
    return 0;
  } catch (error) {
    const pauseMs = state.backoff.pauseMs();
    if (pauseMs !== undefined) return pauseMs;
    state.inDoubt = undefined;
    state.queue.unshift(...batch.queued);
    return tryAgain(state, { isAway: true, error });
  }
}

/** `deadline_exceeded` would claim that the command was not applied, which is unknown. */
function withoutDeadline(queued: QueuedCommand): QueuedCommand {
  return { ...queued, deadlineMs: undefined };
}

/** Returns the next pause. When the backoff is exhausted, fails every queued command instead. */
function tryAgain(state: CommitState, { isAway, error }: { isAway: boolean; error: unknown }): number {
  const pauseMs = state.backoff.pauseMs();
  if (pauseMs !== undefined) return pauseMs;
  state.isAway = isAway;
  return giveUp(state, { count: state.queue.length, error });
}

/** Fails the first `count` commands of the queue. */
function giveUp(state: CommitState, { count, error }: { count: number; error: unknown }): number {
  failAll(state.queue.splice(0, count), error);
  state.commandsMax = state.bounds.commandsMax;
  state.backoff.reset();
  return 0;
}

async function probeDatabase(state: CommitState): Promise<number> {
  try {
    await state.store.ping();
    state.isAway = false;
    return 0;
  } catch {
    return PROBE_MS;
  }
}

/** Decides how long the batch loop waits before it tries again, and when it gives up. */
export interface Backoff {
  /** Starts the clock of the first attempt. Does nothing while the clock runs. */
  start(): void;
  /** Returns the milliseconds to wait before the next attempt; `undefined` after the second one, when time is over. */
  pauseMs(): number | undefined;
  /** Stops the clock. Must be called when an attempt succeeds or is given up. */
  reset(): void;
}

const PAUSE_MS = 2;
const PAUSE_MAX_MS = 50;

/**
 * Pauses grow with every failure in a row, from 2 ms to 50 ms, each jittered by ±50 %. A second attempt follows the
 * first one however long that took: a process that stood still in it has not waited for the database.
 */
export function createBackoff(maxMs: number): Backoff {
  let sinceMs: number | undefined;
  const start = () => {
    sinceMs ??= platform.monotonicMs();
    return sinceMs;
  };
  let baseMs = PAUSE_MS;
  return {
    start,
    pauseMs() {
      const isFirst = baseMs === PAUSE_MS;
      if (!isFirst && platform.monotonicMs() - start() >= maxMs) return undefined;
      // Jitter: without it, processes that collided once would collide again.
      const pauseMs = baseMs * (0.5 + platform.random());
      baseMs = Math.min(PAUSE_MAX_MS, baseMs * 1.5);
      return pauseMs;
    },
    reset() {
      sinceMs = undefined;
      baseMs = PAUSE_MS;
    },
  };
}
