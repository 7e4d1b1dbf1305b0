/** What is admitted now counts for this long. */
const WINDOW_MS = 60_000;

const SLOTS = 61;
const SLOT_MS = 1000;

/**
 * What one caller was admitted for in the last 60 seconds: a ring of 61 one-second slots, whatever
 * the limit. A slot leaves as a whole 60 seconds after its last admission, so the sums are never less
 * than a perfect log's, and at most one second old. Times must not go back; call {@link advance} first.
 */
export interface Window {
  /** Sums over the live slots. */
  requests: number;
  tokens: number;
  /** Seconds since the clock's zero; the live slots are among them, none when `oldest > newest`. */
  oldest: number;
  newest: number;
  readonly slotRequests: Float64Array;
  readonly slotTokens: Float64Array;
  /** When each slot last admitted, in ms. */
  readonly slotLastMs: Float64Array;
}

/** What the two per-minute limits count. */
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

/** Lets the slots go whose time is over. At most 61 steps, mostly none. */
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
  // Past 2^53 sums are not exact: what rounding left in them must not stay.
  window.requests = 0;
  window.tokens = 0;
}

/** Counts one request. Returns its slot's second, by which it is corrected later. */
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

/** Changes what a taken request counts for; nothing when its slot has left. */
export function correct(window: Window, second: number, change: Readonly<Record<Quantity, number>>): void {
  if (second < window.oldest) return;
  const slot = second % SLOTS;
  window.requests += change.requests;
  window.tokens += change.tokens;
  window.slotRequests[slot] = at(window.slotRequests, slot) + change.requests;
  window.slotTokens[slot] = at(window.slotTokens, slot) + change.tokens;
}

/**
 * How long until `excess` of what is counted has left, in ms, from 0 to 60,000: a whole window when
 * even an empty one would not do.
 */
export function waitMs(window: Window, nowMs: number, short: { of: Quantity; excess: number }): number {
  const counts = countsOf(window, short.of);
  let excess = short.excess;
  if (excess <= 0) return 0;
  for (let second = window.oldest; second <= window.newest; second += 1) {
    const slot = second % SLOTS;
    excess -= at(counts, slot);
    if (excess <= 0) return at(window.slotLastMs, slot) + WINDOW_MS - nowMs;
  }
  return WINDOW_MS;
}

/** Milliseconds until nothing is counted any more, from 0 to 60,000. */
export function resetMs(window: Window, nowMs: number, of: Quantity): number {
  const counts = countsOf(window, of);
  for (let second = window.newest; second >= window.oldest; second -= 1) {
    const slot = second % SLOTS;
    if (at(counts, slot) > 0) return at(window.slotLastMs, slot) + WINDOW_MS - nowMs;
  }
  return 0;
}

/** The seconds that still count, oldest first. */
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

function countsOf(window: Window, of: Quantity): Float64Array {
  return of === "requests" ? window.slotRequests : window.slotTokens;
}

function at(numbers: Float64Array, slot: number): number {
  return numbers[slot] ?? 0;
}
