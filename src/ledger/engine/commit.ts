import type { Patience } from "./backoff.ts";
import { createTurn, type Entry, type QueueTurn, type TurnBounds } from "./batch.ts";
import { type Answers, refuse } from "./completions.ts";
import { type Store, StoreError, type StoreFault } from "./store.ts";

/** What a batch loop works on. */
export interface Work {
  readonly store: Store;
  readonly queue: Entry[];
  readonly answers: Answers;
  readonly patience: Patience;
  readonly bounds: TurnBounds;
  /** Commands of the next transaction at most: fewer while one of them is looked for that cannot be kept. */
  sizeMax: number;
  /** A turn that may have been committed. */
  doubtful: { readonly turn: QueueTurn; readonly transaction: string } | undefined;
  /** Whether the database was away for so long that nothing waits for it any more. */
  isAway: boolean;
  isClosing: boolean;
}

/** How often a database that stays away is looked for. */
const PROBE_MS = 200;

export function hasWork({ queue, doubtful, isAway, isClosing }: Work): boolean {
  return queue.length > 0 || doubtful !== undefined || (isAway && !isClosing);
}

/**
 * Takes the next step: commits what waits, asks what became of a commit, or looks whether the database is
 * back. Returns how many milliseconds to wait before the next one.
 */
export function commitNext(work: Work): Promise<number> {
  if (work.doubtful) return settleDoubt(work, work.doubtful);
  if (work.isAway) return lookForDatabase(work);
  return commitTurn(work);
}

async function commitTurn(work: Work): Promise<number> {
  const { store, queue, bounds, patience } = work;
  const turn = createTurn(queue, { ...bounds, commandsMax: work.sizeMax });
  patience.start();
  try {
    await store.transact(turn.walletIds, turn);
  } catch (error) {
    return recover(work, turn, error);
  }
  work.sizeMax = Math.min(bounds.commandsMax, work.sizeMax * 2);
  patience.restore();
  work.answers.give(turn.entries, turn.outcomes);
  return 0;
}

/**
 * A transaction that the database rejects is tried again by halves, until the one command that it cannot
 * keep is alone and refused. One that found the database locked or away is tried again for a while.
 */
function recover(work: Work, turn: QueueTurn, error: unknown): number {
  const { entries } = turn;
  const fault = faultOf(error, entries);
  if (fault === "unknown" && error instanceof StoreError && error.transaction !== undefined) {
    work.doubtful = { turn, transaction: error.transaction };
    return work.patience.pauseMs() ?? 0;
  }
  work.queue.unshift(...entries);
  if (fault === "rejected" && entries.length > 1) {
    work.sizeMax = Math.ceil(entries.length / 2);
    return 0;
  }
  if (fault === "rejected") return giveUp(work, { count: 1, error });
  if (fault === "unavailable") return giveUp(work, { count: work.queue.length, error });
  return tryAgain(work, { isAway: fault !== "busy", error });
}

/**
 * Asks what became of a commit that the connection did not outlive, before anything else runs. Committed, its
 * commands get the answers that were decided; aborted, they run again. So they do when the database can never
 * say, as after a failover: their ids make that safe, but those that had happened answer as repeated.
 */
async function settleDoubt(
  work: Work,
  { turn, transaction }: NonNullable<Work["doubtful"]>,
): Promise<number> {
  try {
    const fate = await work.store.fateOf?.(transaction);
    work.doubtful = undefined;
    if (fate !== "committed") {
      work.queue.unshift(...(fate === "aborted" ? turn.entries : turn.entries.map(withoutDeadline)));
      return tryAgain(work, { isAway: true, error: new Error("The database ends commits and undoes them") });
    }
    work.answers.give(turn.entries, turn.outcomes);
    work.patience.restore();
    return 0;
  } catch (error) {
    const pauseMs = work.patience.pauseMs();
    if (pauseMs !== undefined) return pauseMs;
    work.doubtful = undefined;
    work.queue.unshift(...turn.entries);
    return tryAgain(work, { isAway: true, error });
  }
}

/** It was come to in time; refused as late now, it would be said not to have happened, which nobody knows. */
function withoutDeadline(entry: Entry): Entry {
  return { ...entry, deadlineMs: undefined };
}

/** Waits a little longer each time; when that was long enough, refuses all that waits. */
function tryAgain(work: Work, { isAway, error }: { isAway: boolean; error: unknown }): number {
  const pauseMs = work.patience.pauseMs();
  if (pauseMs !== undefined) return pauseMs;
  work.isAway = isAway;
  return giveUp(work, { count: work.queue.length, error });
}

async function lookForDatabase(work: Work): Promise<number> {
  try {
    await work.store.ping();
    work.isAway = false;
    return 0;
  } catch {
    return PROBE_MS;
  }
}

/** Refuses the first commands of the queue. */
function giveUp(work: Work, { count, error }: { count: number; error: unknown }): number {
  refuse(work.queue.splice(0, count), error);
  work.sizeMax = work.bounds.commandsMax;
  work.patience.restore();
  return 0;
}

/** A transaction that failed before it took a command cannot be blamed on one. */
function faultOf(error: unknown, entries: readonly Entry[]): StoreFault {
  const fault = error instanceof StoreError ? error.fault : "rejected";
  return fault === "rejected" && entries.length === 0 ? "unavailable" : fault;
}
