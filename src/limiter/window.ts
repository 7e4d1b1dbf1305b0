/** An admission is counted for this long. */
const WINDOW_MS = 60_000;

const SLOTS = 61;
const SLOT_MS = 1000;

/**
 * Counts one caller's admissions of the last 60 seconds in a ring of 61 one-second slots. Its size is
 * constant. A slot expires as a whole, 60 seconds after its last admission. The sums are therefore never
 * below those of an exact log, and include admissions that are at most one second too old. Times must not
 * decrease. Call {@link advance} before any other function.
 */
export interface Window {
  /** Sums over the live slots. */
  requests: number;
  tokens: number;
  /** Range of live slots, in seconds since the clock's zero; empty when `oldest > newest`. */
  oldest: number;
  newest: number;
  readonly slotRequests: Float64Array;
  readonly slotTokens: Float64Array;
  /** Time of each slot's last admission, in ms. */
  readonly slotLastMs: Float64Array;
}

/** A quantity with a limit per minute. */
export type Quantity = "requests" | "tokens";

export function createWindow(): Window {
  return {
    requests: 0,
    tokens: 0,
    oldest: 0,
    newest: -1,
    slotRequests: new Float64Array(SLOTS),
    slotTokens: new Float64Array(SLOTS),
    slotLastMs: new Float64Array(SLOTS),
  };
}

/** Drops expired slots. Takes at most 61 steps, usually none. */
export function advance(window: Window, nowMs: number): void {
  while (window.oldest <= window.newest) {
    const slot = window.oldest % SLOTS;
    const isEmpty = at(window.slotRequests, slot) === 0;
    if (!isEmpty && nowMs < at(window.slotLastMs, slot) + WINDOW_MS) return;
    window.requests -= at(window.slotRequests, slot);
    window.tokens -= at(window.slotTokens, slot);
    window.slotRequests[slot] = 0;
    window.slotTokens[slot] = 0;
    window.oldest += 1;
  }
  // Sums above 2^53 are inexact: an empty window must not keep a rounding error.
  window.requests = 0;
  window.tokens = 0;
}

/** Counts one request. Returns the second of its slot, the key for later corrections. */
export function take(window: Window, nowMs: number, tokens: number): number {
  const second = Math.floor(nowMs / SLOT_MS);
  const slot = second % SLOTS;
  if (window.oldest > window.newest) window.oldest = second;
  window.newest = second;
  window.requests += 1;
  window.tokens += tokens;
  window.slotRequests[slot] = at(window.slotRequests, slot) + 1;
  window.slotTokens[slot] = at(window.slotTokens, slot) + tokens;
  window.slotLastMs[slot] = nowMs;
  return second;
}

/** Adds a correction to the slot of an earlier request. Does nothing when the slot has expired. */
export function correct(
  window: Window,
  second: number,
  correction: Readonly<Record<Quantity, number>>,
): void {
  if (second < window.oldest) return;
  const slot = second % SLOTS;
  window.requests += correction.requests;
  window.tokens += correction.tokens;
  window.slotRequests[slot] = at(window.slotRequests, slot) + correction.requests;
  window.slotTokens[slot] = at(window.slotTokens, slot) + correction.tokens;
}

/**
 * Returns the milliseconds until `excess` units of a quantity have expired, from 0 to 60,000. Returns 60,000
 * when even an empty window would not suffice.
 */
export function waitMs(window: Window, nowMs: number, shortage: { of: Quantity; excess: number }): number {
  const counts = countsOf(window, shortage.of);
  let excess = shortage.excess;
  if (excess <= 0) return 0;
  for (let second = window.oldest; second <= window.newest; second += 1) {
    const slot = second % SLOTS;
    excess -= at(counts, slot);
    if (excess <= 0) return at(window.slotLastMs, slot) + WINDOW_MS - nowMs;
  }
  return WINDOW_MS;
}

/** Returns the milliseconds until the window counts none of a quantity, from 0 to 60,000. */
export function resetMs(window: Window, nowMs: number, of: Quantity): number {
  const counts = countsOf(window, of);
  for (let second = window.newest; second >= window.oldest; second -= 1) {
    const slot = second % SLOTS;
    if (at(counts, slot) > 0) return at(window.slotLastMs, slot) + WINDOW_MS - nowMs;
  }
  return 0;
}

/** Returns the live slots that count requests, oldest first. */
export function slotsOf(window: Window) {
  const slots: { second: number; requests: number; tokens: number; lastMs: number }[] = [];
  for (let second = window.oldest; second <= window.newest; second += 1) {
    const slot = second % SLOTS;
    const requests = at(window.slotRequests, slot);
    if (requests === 0) continue;
    slots.push({
      second,
      requests,
      tokens: at(window.slotTokens, slot),
      lastMs: at(window.slotLastMs, slot),
    });
  }
  return slots;
}

/**
 * Returns a clock for windows that never decreases. A backward step of `now` counts as zero elapsed time, and
 * time continues from there. No admission expires early, and none waits for the old time to come again.
 */
export function createSteadyClock(now: () => number): () => number {
  let last = now();
  let shift = 0;
  return () => {
    const time = now() + shift;
    if (time < last) {
      shift += last - time;
      return last;
    }
    last = time;
    return time;
  };
}

function countsOf(window: Window, of: Quantity): Float64Array {
  return of === "requests" ? window.slotRequests : window.slotTokens;
}

function at(numbers: Float64Array, slot: number): number {
  return numbers[slot] ?? 0;
}
