import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

const LARGEST = Number.MAX_SAFE_INTEGER;
const NO_COUNTS = [Number.NaN, -1, -0.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, 1e300];

/** Numbers that cannot be, and those at the edge of what can. */
export function describeHostile({ caller, advance }: Clients): void {
  describe("numbers at the edge", () => {
    test("0 admits nothing and says so with a whole minute", async () => {
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

    test("no bound is no bound", async () => {
      const { pass } = caller({});
      for (let index = 0; index < 300; index += 1) {
        expect((await pass({ tokens: 1e9 })).state).toEqual({ requests: undefined, tokens: undefined });
      }
    });

    test("a bound as large as a number can be is kept to the unit", async () => {
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

    test("more than a number can be exact about is no more a minute later", async () => {
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

    test("a billion a minute is counted one by one", async () => {
      const { pass, usage } = caller({ requestsPerMinute: 1e9, tokensPerMinute: 1e12 });
      for (let index = 0; index < 100; index += 1) await (await pass({ tokens: 1e9 })).settle(1e9 - 1);
      expect(await usage()).toMatchObject({
        requests: { remaining: 1e9 - 100 },
        tokens: { remaining: 1e12 - 1e11 + 100 },
      });
    });

    test.each(NO_COUNTS)("%p tokens are a mistake of the caller and take nothing", async (tokens) => {
      const { admit, usage } = caller({ requestsPerMinute: 5, tokensPerMinute: 100 });
      const before = await usage();
      const [outcome] = await Promise.allSettled([admit({ tokens })]);
      expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(RangeError);
      expect(await usage()).toEqual(before);
    });

    test.each(NO_COUNTS)("a settlement of %p keeps the estimate and gives the slot back", async (used) => {
      const { pass, usage } = caller({ tokensPerMinute: 1000 });
      await (await pass({ tokens: 300 })).settle(used);
      const { tokens, running } = await usage();
      expect([tokens?.remaining, running]).toEqual([700, 0]);
    });

    test("a part of a token counts as a whole one", async () => {
      const { pass, usage } = caller({ tokensPerMinute: 10 });
      const call = await pass({ tokens: 2.1 });
      expect((await usage()).tokens?.remaining).toBe(7);
      await call.settle(0.5);
      expect((await usage()).tokens?.remaining).toBe(9);
    });
  });

  describe("a limit that is changed while calls are counted", () => {
    test("lowered below what is counted, it leaves nothing and waits until it fits again", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 10 });
      for (let second = 0; second < 6; second += 1) {
        await pass();
        await advance(1000);
      }
      const keyLimits = { requestsPerMinute: 3 };
      const { retryAfterS, state } = await fail({ keyLimits });
      // Four of the six have to leave; the fourth came at 3 s, and it is 6 s.
      expect(retryAfterS).toBe(57);
      expect(state.requests).toEqual({ limit: 3, remaining: 0, resetMs: 59_000 });
      await advance(56_999);
      await fail({ keyLimits });
      await advance(1);
      await pass({ keyLimits });
      await fail({ keyLimits });
    });

    test("lowered below what runs, it admits nothing until enough has ended", async () => {
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

    test("set to 0 while calls run, it refuses with a whole minute and lets them end", async () => {
      const { pass, fail, usage } = caller({ requestsPerMinute: 5, tokensPerMinute: 50 });
      const call = await pass({ tokens: 10 });
      await advance(30_000);
      const keyLimits = { requestsPerMinute: 0, tokensPerMinute: 0, concurrentRequests: 0 };
      expect(await fail({ keyLimits })).toMatchObject({ bound: "rate", retryAfterS: 60 });
      await call.settle(4);
      expect(await usage()).toMatchObject({ tokens: { remaining: 46 }, running: 0 });
    });

    test("raised or taken away, it lets in at once and what was counted stays counted", async () => {
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
