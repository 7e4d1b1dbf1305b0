import type { AdmissionRequest, LimitState, Limits, WindowState } from "../../../src/limiter/limiter.ts";
import { type AdmissionLog, type Entry, sidesOf } from "./admission-log.ts";

const MINUTE_MS = 60_000;

/** What one second of the log counts for a key or an account, and when it leaves. */
interface Second {
  readonly requests: number;
  readonly tokens: number;
  readonly leavesMs: number;
}

type Quantity = "requests" | "tokens";

export interface ExpectedDecision {
  readonly outcome: "admitted" | "rate" | "concurrency";
  /** 0 when it is admitted. */
  readonly retryAfterS: number;
}

/**
 * The answer to a request, as a pencil finds it from the log and one rule: what was admitted in one second
 * leaves together, 60 s after the last of it. `slots` are those taken of key and account.
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

/** What a client of this key is shown. */
export function expectedState(log: AdmissionLog, request: AdmissionRequest, nowMs: number): LimitState {
  const minutes = minutesOf(log, request, nowMs);
  return { requests: tighterOf("requests", minutes), tokens: tighterOf("tokens", minutes) };
}

/** The last minute of the key and of the account. */
function minutesOf(log: AdmissionLog, request: AdmissionRequest, nowMs: number): Minute[] {
  return sidesOf(request).map(({ who, limits }) => ({
    limits,
    seconds: secondsOf(log.of(who), nowMs),
    nowMs,
  }));
}

interface Minute {
  readonly limits: Limits;
  /** Those that still count, oldest first. */
  readonly seconds: readonly Second[];
  readonly nowMs: number;
}

function secondsOf(entries: readonly Entry[], nowMs: number): Second[] {
  const bySecond = Map.groupBy(entries, ({ atMs }) => Math.floor(atMs / 1000));
  const seconds = [...bySecond.values()].map((calls) => ({
    requests: calls.filter(({ state }) => state !== "cancelled").length,
    tokens: calls.reduce((sum, { tokens }) => sum + tokens, 0),
    leavesMs: Math.max(...calls.map(({ atMs }) => atMs)) + MINUTE_MS,
  }));
  return seconds
    .filter(({ leavesMs }) => leavesMs > nowMs)
    .toSorted((one, other) => one.leavesMs - other.leavesMs);
}

function waitOf(of: Quantity, amount: number, { limits, seconds, nowMs }: Minute): number {
  const limit = limitOf(limits, of);
  if (limit === 0) return MINUTE_MS;
  let short = usedOf(seconds, of) + amount - limit;
  if (short <= 0) return 0;
  for (const second of seconds) {
    short -= second[of];
    if (short <= 0) return second.leavesMs - nowMs;
  }
  return MINUTE_MS;
}

function tighterOf(of: Quantity, minutes: readonly Minute[]): WindowState | undefined {
  const shown = minutes
    .filter(({ limits }) => limitOf(limits, of) < Infinity)
    .map(({ limits, seconds, nowMs }) => ({
      limit: limitOf(limits, of),
      remaining: Math.max(0, limitOf(limits, of) - usedOf(seconds, of)),
      resetMs: (seconds.findLast((second) => second[of] > 0)?.leavesMs ?? nowMs) - nowMs,
    }));
  // A stable sort: the key's comes first when both leave the same.
  return shown.toSorted((one, other) => one.remaining - other.remaining)[0];
}

function usedOf(seconds: readonly Second[], of: Quantity): number {
  return seconds.reduce((sum, second) => sum + second[of], 0);
}

function limitOf(limits: Limits, of: Quantity): number {
  return (of === "requests" ? limits.requestsPerMinute : limits.tokensPerMinute) ?? Infinity;
}
