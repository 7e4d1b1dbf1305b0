import type { LimitWindow, LimitWindows } from "../../../src/domain/limit-windows.ts";
import type { AdmissionRequest, Limits } from "../../../src/limiter/limiter.ts";
import { type AdmissionLog, type Entry, sidesOf } from "./admission-log.ts";

const MINUTE_MS = 60_000;

/** Counts of one second of the log for a key or an account, and when it expires. */
interface Second {
  readonly requests: number;
  readonly tokens: number;
  readonly expiresMs: number;
}

type Quantity = "requests" | "tokens";

export interface ExpectedDecision {
  readonly outcome: "admitted" | "rate" | "concurrency";
  /** 0 when admitted. */
  readonly retryAfterS: number;
}

/**
 * Derives the answer to a request from the log by one rule: admissions of one second expire together, 60 s
 * after the last of them. `slots` are the taken slots of key and account.
 */
export function expectedDecision(
  log: AdmissionLog,
  request: AdmissionRequest,
  { nowMs, slots }: { nowMs: number; slots: readonly number[] },
): ExpectedDecision {
  const waits = minutesOf(log, request, nowMs).flatMap((minute) => [
    waitOf("requests", 1, minute),
    waitOf("tokens", request.tokens, minute),
  ]);
  const waitMs = Math.max(...waits);
  if (waitMs > 0) return { outcome: "rate", retryAfterS: Math.ceil(waitMs / 1000) };
  const isFull = sidesOf(request).some(
    ({ limits }, side) => (slots[side] ?? 0) >= (limits.concurrentRequests ?? Infinity),
  );
  return isFull ? { outcome: "concurrency", retryAfterS: 1 } : { outcome: "admitted", retryAfterS: 0 };
}

/** Derives the limit state of a key. */
export function expectedState(log: AdmissionLog, request: AdmissionRequest, nowMs: number): LimitWindows {
  const minutes = minutesOf(log, request, nowMs);
  return { requests: tighterOf("requests", minutes), tokens: tighterOf("tokens", minutes) };
}

/** Returns the last minute of the key and of the account. */
function minutesOf(log: AdmissionLog, request: AdmissionRequest, nowMs: number): Minute[] {
  return sidesOf(request).map(({ subject, limits }) => ({
    limits,
    seconds: secondsOf(log.of(subject), nowMs),
    nowMs,
  }));
}

interface Minute {
  readonly limits: Limits;
  /** Seconds that are still counted, oldest first. */
  readonly seconds: readonly Second[];
  readonly nowMs: number;
}

function secondsOf(entries: readonly Entry[], nowMs: number): Second[] {
  const bySecond = Map.groupBy(entries, ({ atMs }) => Math.floor(atMs / 1000));
  const seconds = [...bySecond.values()].map((calls) => ({
    requests: calls.filter(({ state }) => state !== "cancelled").length,
    tokens: calls.reduce((sum, { tokens }) => sum + tokens, 0),
    expiresMs: Math.max(...calls.map(({ atMs }) => atMs)) + MINUTE_MS,
  }));
  return seconds
    .filter(({ expiresMs }) => expiresMs > nowMs)
    .toSorted((one, other) => one.expiresMs - other.expiresMs);
}

function waitOf(of: Quantity, amount: number, { limits, seconds, nowMs }: Minute): number {
  const limit = limitOf(limits, of);
  if (limit === 0) return MINUTE_MS;
  let short = usedOf(seconds, of) + amount - limit;
  if (short <= 0) return 0;
  for (const second of seconds) {
    short -= second[of];
    if (short <= 0) return second.expiresMs - nowMs;
  }
  return MINUTE_MS;
}

function tighterOf(of: Quantity, minutes: readonly Minute[]): LimitWindow | undefined {
  const shown = minutes
    .filter(({ limits }) => limitOf(limits, of) < Infinity)
    .map(({ limits, seconds, nowMs }) => ({
      limit: limitOf(limits, of),
      remaining: Math.max(0, limitOf(limits, of) - usedOf(seconds, of)),
      resetMs: (seconds.findLast((second) => second[of] > 0)?.expiresMs ?? nowMs) - nowMs,
    }));
  // The sort is stable: the key's state precedes when both have equal remainders.
  return shown.toSorted((one, other) => one.remaining - other.remaining)[0];
}

function usedOf(seconds: readonly Second[], of: Quantity): number {
  return seconds.reduce((sum, second) => sum + second[of], 0);
}

function limitOf(limits: Limits, of: Quantity): number {
  return (of === "requests" ? limits.requestsPerMinute : limits.tokensPerMinute) ?? Infinity;
}
