import { DAY_MS, HOUR_MS, startOf } from "../../domain/id-time.ts";

/** Which receipts are kept. */
export interface RetentionPolicy {
  /** Receipts of requests that began this many days ago are dropped; from 1. */
  readonly receiptsDays: number;
  /**
   * Returns the Unix milliseconds from which on a reader needs receipts, such as an export that lags. They are
   * kept. Default: none does.
   */
  keepFromMs?(): Promise<number | undefined>;
}

/** What bounds a drop, in Unix milliseconds. */
export interface Bounds {
  readonly nowMs: number;
  readonly receiptsDays: number;
  /** The end of the hours that are summed up. */
  readonly rolledUpToMs: number;
  /** The oldest hour that has an open hold, or waits to be summed up again. */
  readonly unsettledMs: number | undefined;
  /** The oldest receipt that a reader still needs. */
  readonly neededFromMs: number | undefined;
}

/** A new hold may have an id of a day ago. This much more keeps its receipt from being dropped under it. */
const MARGIN_MS = HOUR_MS;

/** Returns the start of the hour before which receipts may be dropped. */
export function boundaryOf(bounds: Bounds): number {
  const { nowMs, receiptsDays, rolledUpToMs, unsettledMs, neededFromMs } = bounds;
  const oldestMs = nowMs - receiptsDays * DAY_MS - MARGIN_MS;
  return startOf(
    Math.min(oldestMs, rolledUpToMs, unsettledMs ?? oldestMs, neededFromMs ?? oldestMs),
    HOUR_MS,
  );
}

/** When retention last looked at the clock, and until when it drops nothing. 0: never, and not at all. */
export interface SeenClock {
  readonly seenAtMs: number;
  readonly pausedUntilMs: number;
}

/** A clock further ahead than this was set ahead, or nothing ran for days. */
export const JUMP_MAX_MS = 3 * DAY_MS;
/** After a jump ahead, the time for which the new clock must be seen before it is believed. */
export const PAUSE_MS = DAY_MS;

/**
 * Compares the clock with the last look. A jump ahead pauses drops for a day, and a correction ends the pause:
 * a wrong clock must not drop every receipt. The first look is compared with the newest receipt.
 */
export function lookAtClock(before: SeenClock, nowMs: number, newestMs: number | undefined): SeenClock {
  const lastMs = before.seenAtMs || (newestMs ?? nowMs);
  if (nowMs < lastMs - HOUR_MS) return { seenAtMs: nowMs, pausedUntilMs: 0 };
  if (nowMs - lastMs > JUMP_MAX_MS) return { seenAtMs: nowMs, pausedUntilMs: nowMs + PAUSE_MS };
  return { seenAtMs: nowMs, pausedUntilMs: before.pausedUntilMs > nowMs ? before.pausedUntilMs : 0 };
}
