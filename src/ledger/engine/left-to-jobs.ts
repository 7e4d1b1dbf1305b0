import { firstIdOf, hourOf } from "../../domain/id-time.ts";
import type { WorkingBook } from "../core/working-book.ts";

// What a batch leaves to the jobs in the background. Stores write it in the transaction of the batch.

/** An hour of a wallet whose roll-up must not be read until it is recomputed. */
export interface StaleHour {
  readonly walletId: string;
  /** The start of the UTC hour, in Unix milliseconds. */
  readonly startMs: number;
}

/** Before the first id: no hour is summed up yet. */
const NO_FENCE = firstIdOf(0);

/**
 * Returns the hours before the fence whose receipts a batch adds or ends, or whose cost it changes. An
 * extended hold is still open: its hour is stale since it was taken.
 */
export function staleHoursOf(books: ReadonlyMap<string, WorkingBook>, fenceId: string): readonly StaleHour[] {
  if (fenceId === NO_FENCE) return [];
  const stale: StaleHour[] = [];
  for (const [walletId, { writeSet }] of books) {
    const hours = new Set<number>();
    for (const { holdId } of writeSet.newHolds.values()) if (holdId < fenceId) hours.add(hourOf(holdId));
    for (const { holdId, state } of writeSet.changedHolds.values()) {
      if (holdId < fenceId && state !== "held") hours.add(hourOf(holdId));
    }
    for (const startMs of hours) stale.push({ walletId, startMs });
  }
  return stale.sort(compareStaleHours);
}

/** The order in which rows of stale hours are locked, by batches and by the job, so that none deadlock. */
export function compareStaleHours(one: StaleHour, other: StaleHour): number {
  if (one.walletId !== other.walletId) return one.walletId < other.walletId ? -1 : 1;
  return one.startMs - other.startMs;
}

/** A receipt that ended, or whose end changed, without a transfer. The journal does not show it. */
interface UnchargedEnd {
  readonly walletId: string;
  readonly holdId: string;
}

/** Returns the receipts that a batch ends without a transfer, for the exports of usage. */
export function unchargedEndsOf(books: ReadonlyMap<string, WorkingBook>): readonly UnchargedEnd[] {
  const ends: UnchargedEnd[] = [];
  for (const [walletId, { writeSet }] of books) {
    if (writeSet.resolutions.size === 0) continue;
    const charged = new Set(writeSet.transfers.map(({ holdId }) => holdId));
    for (const holdId of writeSet.resolutions.keys()) {
      if (!charged.has(holdId)) ends.push({ walletId, holdId });
    }
  }
  return ends;
}
