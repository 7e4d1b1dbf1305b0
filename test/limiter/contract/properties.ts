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
/** What was cancelled has left, and its second must not come again for what was admitted since. */
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
 * Random histories of a limiter and its replicas against the log of every admission. A failure names the seed
 * and the path by which fast-check plays the same history again.
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
    test("every answer is the one that the log of all admissions gives, to the unit", async () => {
      const property = fc.asyncProperty(limits, limits, histories, (ofKey, ofAccount, history) =>
        inEnv([ofKey, ofAccount], (env) => play(env, createChecker(env), history)),
      );
      await fc.assert(property, { numRuns: runs });
    });

    test("no true 60 s hold more than N whenever the clock is set back, and 62 s later nothing of it is left", async () => {
      const property = fc.asyncProperty(
        limits,
        limits,
        historiesWithClockSteps,
        (ofKey, ofAccount, history) =>
          inEnv([ofKey, ofAccount], (env) => play(env, createChecker(env), history)),
      );
      await fc.assert(property, { numRuns: runs, examples: [CANCELLED_LATE] });
    });

    test("a lone caller gets in when it was told, and not a second before", async () => {
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

    test("when all has ended or died nothing runs any more, and a minute later nothing is counted", async () => {
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
