import { expect } from "bun:test";
import type { AdmissionRequest, Refusal } from "../../../src/limiter/limiter.ts";
import { sidesOf } from "./admission-log.ts";
import { type Predicted, predict, predictState } from "./prediction.ts";
import type { Judge, World } from "./world.ts";

/** By then a clock that was set back has left no trace. */
const SET_BACK_OVER_MS = 62_000;

/**
 * Holds every answer against the log. The bounds hold always: no 60 s hold more than N, and what a log of
 * 61 s has room for is admitted. As long as nobody sets the clock, each number is the predicted one too.
 */
export function createJudge(world: World): Judge {
  const { log } = world;
  const isExact = () => world.setBackAt() === undefined;
  const predicted = (request: AdmissionRequest) =>
    predict(log, request, { nowMs: world.now(), slots: world.slots(request) });

  function isFull(request: AdmissionRequest): boolean {
    const slots = world.slots(request);
    return sidesOf(request).some(
      ({ limits }, side) => (slots[side] ?? 0) >= (limits.concurrentRequests ?? Infinity),
    );
  }

  function judgeAdmitted(request: AdmissionRequest): void {
    expect([log.hasRoom(request, world.now(), 60_000), isFull(request)]).toEqual([true, false]);
    if (isExact()) expect(predicted(request).outcome).toBe("admitted");
  }

  function judgeRefused(request: AdmissionRequest, { bound, retryAfterS, state }: Refusal): void {
    const nowMs = world.now();
    if (bound === "concurrency") {
      expect([log.hasRoom(request, nowMs, 60_000), isFull(request), retryAfterS]).toEqual([true, true, 1]);
    } else if (nowMs >= (world.setBackAt() ?? -Infinity) + SET_BACK_OVER_MS) {
      expect(log.hasRoom(request, nowMs, 61_000)).toBe(false);
    }
    expect(retryAfterS).toBeWithin(1, 61);
    if (!isExact()) return;
    const answered: Predicted = { outcome: bound, retryAfterS };
    expect(answered).toEqual(predicted(request));
    expect(state).toEqual(predictState(log, request, nowMs));
  }

  return {
    async admit({ key, replica, tokens }) {
      const request = world.requestOf(key, tokens);
      const decision = await world.ask(request, replica);
      if (!decision.admitted) return judgeRefused(request, decision);
      judgeAdmitted(request);
      world.record(request, replica, decision);
      if (isExact()) expect(decision.state).toEqual(predictState(log, request, world.now()));
    },

    async burst({ key, tokens, count }) {
      const request = world.requestOf(key, tokens);
      const asked = Array.from({ length: count }, (_, replica) => world.ask(request, replica));
      const decisions = await Promise.all(asked);
      for (const [replica, decision] of decisions.entries()) {
        if (!decision.admitted) continue;
        judgeAdmitted(request);
        world.record(request, replica, decision);
      }
      for (const decision of decisions) {
        if (!decision.admitted) judgeRefused(request, decision);
      }
    },

    async look() {
      for (const [key, { running, ...state }] of (await world.usages()).entries()) {
        const request = world.requestOf(key, 0);
        expect(running).toBe(world.slots(request)[0] ?? -1);
        if (isExact()) expect(state).toEqual(predictState(log, request, world.now()));
      }
    },
  };
}
