import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

const LARGEST = Number.MAX_SAFE_INTEGER;
const NO_COUNTS = [Number.NaN, -1, -0.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, 1e300];

/** Tests of invalid numbers, of the largest ones, and of limits that change. */
export function describeHostile({ caller, advance }: Clients): void {
  describe("a number at the edge", () => {
    test("of 0 admits nothing and reports a wait of 60 seconds", async () => {
      const none = { requests: undefined, tokens: undefined };
      const zero = { limit: 0, remaining: 0, resetMs: 0 };
      const { fail } = caller({});
      expect(await fail({ keyLimits: { requestsPerMinute: 0 } })).toEqual({
        admitted: false,
        bound: "rate",
        retryAfterS: 60,
        state: { ...none, requests: zero },
      });
      expect(await fail({ keyLimits: { tokensPerMinute: 0 } })).toEqual({
        admitted: false,
        bound: "rate",
        retryAfterS: 60,
        state: { ...none, tokens: zero },
      });
      expect(await fail({ accountLimits: { tokensPerMinute: 0 } })).toMatchObject({ retryAfterS: 60 });
      expect(await fail({ keyLimits: { concurrentRequests: 0 } })).toEqual({
        admitted: false,
        bound: "concurrency",
        retryAfterS: 1,
        state: none,
      });
    });

    test("that is undefined limits nothing", async () => {
      const { pass } = caller({});
      for (let index = 0; index < 300; index += 1) {
        expect((await pass({ tokens: 1e9 })).state).toEqual({ requests: undefined, tokens: undefined });
      }
    });

    test("of 2^53 - 1 is a limit that holds exactly", async () => {
      const { pass, fail, usage } = caller({ requestsPerMinute: LARGEST, tokensPerMinute: LARGEST });
      await pass({ tokens: LARGEST - 1 });
      expect(await usage()).toMatchObject({
        requests: { limit: LARGEST, remaining: LARGEST - 1 },
        tokens: { limit: LARGEST, remaining: 1 },
      });
      await fail({ tokens: 2 });
      await pass({ tokens: 1 });
      await fail({ tokens: 1 });
    });

    test("above 2^53 leaves no rounding error after a minute", async () => {
      const { pass, usage } = caller({});
      for (let index = 0; index < 10; index += 1) {
        await (await pass({ tokens: index % 2 ? LARGEST : 2 })).settle(index % 2 ? LARGEST - 7 : 3);
        await advance(1000);
      }
      await advance(59_000);
      const keyLimits = { tokensPerMinute: 1000 };
      expect((await usage({ keyLimits })).tokens).toEqual({ limit: 1000, remaining: 1000, resetMs: 0 });
      await (await pass({ tokens: 1000, keyLimits })).cancel();
      expect((await usage({ keyLimits })).tokens?.remaining).toBe(1000);
    });

    test("of a billion per minute is counted exactly", async () => {
      const { pass, usage } = caller({ requestsPerMinute: 1e9, tokensPerMinute: 1e12 });
      for (let index = 0; index < 100; index += 1) await (await pass({ tokens: 1e9 })).settle(1e9 - 1);
      expect(await usage()).toMatchObject({
        requests: { remaining: 1e9 - 100 },
        tokens: { remaining: 1e12 - 1e11 + 100 },
      });
    });

    test.each(NO_COUNTS)("of %p tokens throws RangeError and takes nothing", async (tokens) => {
      const { admit, usage } = caller({ requestsPerMinute: 5, tokensPerMinute: 100 });
      const before = await usage();
      const [outcome] = await Promise.allSettled([admit({ tokens })]);
      expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(RangeError);
      expect(await usage()).toEqual(before);
    });

    test.each(NO_COUNTS)("of %p in a settlement keeps the estimate and frees the slot", async (used) => {
      const { pass, usage } = caller({ tokensPerMinute: 1000 });
      await (await pass({ tokens: 300 })).settle(used);
      const { tokens, running } = await usage();
      expect([tokens?.remaining, running]).toEqual([700, 0]);
    });

    test("of tokens with a fraction is rounded up", async () => {
      const { pass, usage } = caller({ tokensPerMinute: 10 });
      const call = await pass({ tokens: 2.1 });
      expect((await usage()).tokens?.remaining).toBe(7);
      await call.settle(0.5);
      expect((await usage()).tokens?.remaining).toBe(9);
    });
  });

  describe("a limit that changes while calls are counted", () => {
    test("and is lowered below the count has no remainder and a wait until the count fits", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 10 });
      for (let second = 0; second < 6; second += 1) {
        await pass();
        await advance(1000);
      }
      const keyLimits = { requestsPerMinute: 3 };
      const { retryAfterS, state } = await fail({ keyLimits });
      // Four of the six must expire. The fourth came at 3 s; the time is 6 s.
      expect(retryAfterS).toBe(57);
      expect(state.requests).toEqual({ limit: 3, remaining: 0, resetMs: 59_000 });
      await advance(56_999);
      await fail({ keyLimits });
      await advance(1);
      await pass({ keyLimits });
      await fail({ keyLimits });
    });

    test("and is lowered below the running requests admits none until enough have ended", async () => {
      const { pass, fail } = caller({ concurrentRequests: 5 }, { concurrentRequests: 5 });
      const calls = [await pass(), await pass(), await pass(), await pass()];
      const keyLimits = { concurrentRequests: 2 };
      await fail({ keyLimits });
      await calls[0]?.settle(0);
      await calls[1]?.settle(0);
      await fail({ keyLimits });
      await calls[2]?.settle(0);
      await pass({ keyLimits });
      await fail({ keyLimits });
    });

    test("and is set to 0 declines with 60 seconds and lets running calls end", async () => {
      const { pass, fail, usage } = caller({ requestsPerMinute: 5, tokensPerMinute: 50 });
      const call = await pass({ tokens: 10 });
      await advance(30_000);
      const keyLimits = { requestsPerMinute: 0, tokensPerMinute: 0, concurrentRequests: 0 };
      expect(await fail({ keyLimits })).toMatchObject({ bound: "rate", retryAfterS: 60 });
      await call.settle(4);
      expect(await usage()).toMatchObject({ tokens: { remaining: 46 }, running: 0 });
    });

    test("and is raised or removed admits at once and keeps earlier counts", async () => {
      const { pass, fail, usage } = caller({ tokensPerMinute: 10 });
      await pass({ tokens: 10 });
      await fail({ tokens: 1 });
      await pass({ tokens: 1, keyLimits: { tokensPerMinute: 11 } });
      await pass({ tokens: 100, keyLimits: {} });
      expect((await usage({ keyLimits: { tokensPerMinute: 200 } })).tokens?.remaining).toBe(89);
      await fail();
    });
  });
}
