import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Limits } from "../../../src/limiter/limiter.ts";
import { createChecker } from "./checker.ts";
import { createEnv, type Env, play } from "./env.ts";
import type { OpenLimiter } from "./harness.ts";
import { admit, histories, historiesWithClockSteps, limits, rates, type Step } from "./history.ts";

const LEASE_MS = 30_000;

const UNLIMITED: Limits = {
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  concurrentRequests: undefined,
};
const ADMIT = { do: "admit", key: 0, replica: 0, tokens: 0 } as const;
/** A cancellation after expiry: its second must not repeat and affect later admissions. */
const CANCELLED_LATE: [Limits, Limits, Step[]] = [
  UNLIMITED,
  { ...UNLIMITED, requestsPerMinute: 1 },
  [
    ADMIT,
    { do: "wait", ms: 60_000 },
    { do: "setBack", ms: 59_001 },
    ADMIT,
    { do: "cancel", index: 0 },
    ADMIT,
  ],
];

/**
 * Checks random histories of a limiter and its replicas against the log of every admission. A failure names
 * the seed and the path with which fast-check replays the history.
 */
export function describeProperties(name: string, open: OpenLimiter, { runs }: { runs: number }): void {
  async function inEnv(
    limitsOf: readonly [Limits, Limits],
    body: (env: Env) => Promise<void>,
  ): Promise<void> {
    const harness = await open();
    const [keyLimits, accountLimits] = limitsOf;
    try {
      await body(createEnv({ harness, keyLimits, accountLimits }));
    } finally {
      await harness.close();
    }
  }

  describe(name, () => {
    test("every answer equals the one derived from the log of all admissions", async () => {
      const property = fc.asyncProperty(limits, limits, histories, (ofKey, ofAccount, history) =>
        inEnv([ofKey, ofAccount], (env) => play(env, createChecker(env), history)),
      );
      await fc.assert(property, { numRuns: runs });
    });

    test("no 60 s of true time contain more than N admissions when the clock is set back, and it has no effect after 62 s", async () => {
      const property = fc.asyncProperty(
        limits,
        limits,
        historiesWithClockSteps,
        (ofKey, ofAccount, history) =>
          inEnv([ofKey, ofAccount], (env) => play(env, createChecker(env), history)),
      );
      await fc.assert(property, { numRuns: runs, examples: [CANCELLED_LATE] });
    });

    test("a lone caller is admitted after retryAfterS seconds, and not one second earlier", async () => {
      const property = fc.asyncProperty(rates, rates, histories, admit, (ofKey, ofAccount, history, last) =>
        inEnv([ofKey, ofAccount], async (env) => {
          await play(env, createChecker(env), history);
          const request = env.requestOf(last.key, last.tokens);
          const first = await env.ask(request, last.replica);
          if (first.admitted) return;
          await env.wait((first.retryAfterS - 1) * 1000);
          expect(await env.ask(request, last.replica)).toMatchObject({ bound: "rate", retryAfterS: 1 });
          await env.wait(1000);
          expect(await env.ask(request, last.replica)).toMatchObject({ admitted: true });
        }),
      );
      await fc.assert(property, { numRuns: runs });
    });

    test("nothing runs after every request has ended or died, and nothing is counted a minute later", async () => {
      const property = fc.asyncProperty(limits, limits, histories, (ofKey, ofAccount, history) =>
        inEnv([ofKey, ofAccount], async (env) => {
          await play(env, createChecker(env), history);
          while (env.hasRunning()) await env.settle(0, 1);
          await env.wait(LEASE_MS);
          for (const { running } of await env.usages()) expect(running).toBe(0);
          await env.wait(61_000);
          for (const { requests, tokens } of await env.usages()) {
            expect([requests?.resetMs ?? 0, tokens?.resetMs ?? 0]).toEqual([0, 0]);
            expect(requests?.remaining).toBe(requests?.limit);
            expect(tokens?.remaining).toBe(tokens?.limit);
          }
        }),
      );
      await fc.assert(property, { numRuns: runs });
    });
  });
}
