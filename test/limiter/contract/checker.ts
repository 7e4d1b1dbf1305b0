import { expect } from "bun:test";
import type { AdmissionRequest, LimitDecline } from "../../../src/limiter/limiter.ts";
import { sidesOf } from "./admission-log.ts";
import type { Checker, Env } from "./env.ts";
import { type ExpectedDecision, expectedDecision, expectedState } from "./oracle.ts";

/** After this time a clock set back has no effect any more. */
const SET_BACK_OVER_MS = 62_000;

/**
 * Checks every answer against the log. Always: no 60 s contain more than N admissions, and a request within
 * the limits of the last 61 s is admitted. While the clock was not set, each number must equal that of the
 * oracle too.
 */
export function createChecker(env: Env): Checker {
  const { log } = env;
  const isExact = () => env.setBackAt() === undefined;
  const expected = (request: AdmissionRequest) =>
    expectedDecision(log, request, { nowMs: env.now(), slots: env.slots(request) });

  function isFull(request: AdmissionRequest): boolean {
    const slots = env.slots(request);
    return sidesOf(request).some(
      ({ limits }, side) => (slots[side] ?? 0) >= (limits.concurrentRequests ?? Infinity),
    );
  }

  function checkAdmitted(request: AdmissionRequest): void {
    expect([log.hasRoom(request, env.now(), 60_000), isFull(request)]).toEqual([true, false]);
    if (isExact()) expect(expected(request).outcome).toBe("admitted");
  }

  function checkDeclined(request: AdmissionRequest, { bound, retryAfterS, state }: LimitDecline): void {
    const nowMs = env.now();
    if (bound === "concurrency") {
      expect([log.hasRoom(request, nowMs, 60_000), isFull(request), retryAfterS]).toEqual([true, true, 1]);
    } else if (nowMs >= (env.setBackAt() ?? -Infinity) + SET_BACK_OVER_MS) {
      expect(log.hasRoom(request, nowMs, 61_000)).toBe(false);
    }
    expect(retryAfterS).toBeWithin(1, 61);
    if (!isExact()) return;
    const answered: ExpectedDecision = { outcome: bound, retryAfterS };
    expect(answered).toEqual(expected(request));
    expect(state).toEqual(expectedState(log, request, nowMs));
  }

  return {
    async admit({ key, replica, tokens }) {
      const request = env.requestOf(key, tokens);
      const decision = await env.ask(request, replica);
      if (!decision.admitted) return checkDeclined(request, decision);
      checkAdmitted(request);
      env.record(request, replica, decision);
      if (isExact()) expect(decision.state).toEqual(expectedState(log, request, env.now()));
    },

    async burst({ key, tokens, count }) {
      const request = env.requestOf(key, tokens);
      const pending = Array.from({ length: count }, (_, replica) => env.ask(request, replica));
      const decisions = await Promise.all(pending);
      for (const [replica, decision] of decisions.entries()) {
        if (!decision.admitted) continue;
        checkAdmitted(request);
        env.record(request, replica, decision);
      }
      for (const decision of decisions) {
        if (!decision.admitted) checkDeclined(request, decision);
      }
    },

    async look() {
      for (const [key, { running, accountRunning, ...state }] of (await env.usages()).entries()) {
        const request = env.requestOf(key, 0);
        expect([running, accountRunning]).toEqual([...env.slots(request)]);
        if (isExact()) expect(state).toEqual(expectedState(log, request, env.now()));
      }
    },
  };
}
