import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

/** Tests of tokens per minute: the estimate counts from the admission, the actual from the settlement. */
export function describeTokens({ caller, advance }: Clients): void {
  describe("tokens per minute", () => {
    test("the estimate is counted until the settlement, and the actual afterwards", async () => {
      const { pass, fail, usage } = caller({ tokensPerMinute: 1000 });
      const call = await pass({ tokens: 900 });
      expect(await fail({ tokens: 101 })).toMatchObject({ bound: "rate", retryAfterS: 60 });
      await call.settle(300);
      expect((await usage()).tokens).toEqual({ limit: 1000, remaining: 700, resetMs: 60_000 });
      await pass({ tokens: 700 });
      await fail({ tokens: 1 });
      await pass({ tokens: 0 });
    });

    test("a settlement above the estimate is counted, and remaining stops at 0", async () => {
      const { pass, fail, usage } = caller({ tokensPerMinute: 1000 });
      await (await pass({ tokens: 600 })).settle(1500);
      expect((await usage()).tokens).toEqual({ limit: 1000, remaining: 0, resetMs: 60_000 });
      expect(await fail({ tokens: 0 })).toMatchObject({ bound: "rate", retryAfterS: 60 });
    });

    test.each([0, 899, 900, 901])("a settlement of %i replaces the estimate of 900", async (used) => {
      const { pass, fail, usage } = caller({ tokensPerMinute: 1000 });
      await (await pass({ tokens: 900 })).settle(used);
      expect((await usage()).tokens?.remaining).toBe(1000 - used);
      await fail({ tokens: 1001 - used });
      await pass({ tokens: 1000 - used });
    });

    test("a correction downwards expires with its call", async () => {
      const { pass, usage } = caller({ tokensPerMinute: 1000 });
      const early = await pass({ tokens: 900 });
      await advance(30_000);
      await early.settle(300);
      await pass({ tokens: 700 });
      await advance(29_999);
      expect((await usage()).tokens).toEqual({ limit: 1000, remaining: 0, resetMs: 30_001 });
      await advance(1);
      expect((await usage()).tokens).toEqual({ limit: 1000, remaining: 300, resetMs: 30_000 });
      await advance(30_000);
      expect((await usage()).tokens).toEqual({ limit: 1000, remaining: 1000, resetMs: 0 });
    });

    test("a correction upwards expires with its call", async () => {
      const { pass, fail } = caller({ tokensPerMinute: 1000 });
      const early = await pass({ tokens: 100 });
      await advance(59_999);
      await early.settle(950);
      expect(await fail({ tokens: 51 })).toMatchObject({ retryAfterS: 1 });
      await advance(1);
      await pass({ tokens: 1000 });
    });

    test.each([60_000, 60_999, 61_000, 61_001, 122_000, 3_600_000])(
      "a settlement %i ms after the admission changes no counts",
      async (afterMs) => {
        const { pass, usage } = caller({ tokensPerMinute: 1000 });
        const down = await pass({ tokens: 400 });
        const up = await pass({ tokens: 500 });
        await advance(afterMs);
        await pass({ tokens: 400 });
        await down.settle(0);
        expect((await usage()).tokens?.remaining).toBe(600);
        await up.settle(900);
        expect((await usage()).tokens?.remaining).toBe(600);
      },
    );

    test("the wait lasts until enough tokens have expired", async () => {
      const { pass, fail } = caller({ tokensPerMinute: 1000 });
      for (const waitMs of [10_000, 10_000, 5000]) {
        await pass({ tokens: 300 });
        await advance(waitMs);
      }
      expect(await fail({ tokens: 101 })).toMatchObject({ retryAfterS: 35 });
      expect(await fail({ tokens: 400 })).toMatchObject({ retryAfterS: 35 });
      expect(await fail({ tokens: 401 })).toMatchObject({ retryAfterS: 45 });
      expect(await fail({ tokens: 700 })).toMatchObject({ retryAfterS: 45 });
      expect(await fail({ tokens: 701 })).toMatchObject({ retryAfterS: 55 });
      expect(await fail({ tokens: 1000 })).toMatchObject({ retryAfterS: 55 });
      await pass({ tokens: 100 });
    });

    test("a request without tokens passes an exhausted window, but not an overdrawn one", async () => {
      const { pass, fail } = caller({ tokensPerMinute: 1000 });
      const last = await pass({ tokens: 1000 });
      await pass({ tokens: 0 });
      await last.settle(1001);
      await fail({ tokens: 0 });
    });

    test("an overdrawn window admits requests again as soon as the overdraft has expired", async () => {
      const { pass, fail } = caller({ tokensPerMinute: 100 });
      await (await pass({ tokens: 10 })).settle(5000);
      await advance(20_000);
      expect(await fail({ tokens: 1 })).toMatchObject({ retryAfterS: 40 });
      await advance(39_999);
      expect(await fail({ tokens: 0 })).toMatchObject({ retryAfterS: 1 });
      await advance(1);
      await pass({ tokens: 100 });
    });

    test("more tokens than the limit are declined with 60 seconds, even in an empty window", async () => {
      const { fail } = caller({ tokensPerMinute: 1000 });
      expect(await fail({ tokens: 1001 })).toMatchObject({ bound: "rate", retryAfterS: 60 });
    });

    test("the tokens of 250 calls add up exactly", async () => {
      const { pass, usage } = caller({ tokensPerMinute: 1_000_000 });
      for (let index = 1; index <= 250; index += 1) {
        await (await pass({ tokens: 1000 })).settle(index);
        await advance(index % 5 === 0 ? 997 : 1);
      }
      // 1 + … + 250, all within 50 s.
      expect((await usage()).tokens?.remaining).toBe(1_000_000 - 31_375);
    });
  });
}
