import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

const LIMITS = { requestsPerMinute: 10, tokensPerMinute: 100, concurrentRequests: 10 };

/** Tests of the end of a call: by the first settlement or cancellation. Later ones do nothing. */
export function describeEndings({ caller, advance }: Clients): void {
  describe("the end of a call", () => {
    test("by settlement keeps its request and the tokens used", async () => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      await (await pass({ tokens: 40 })).settle(10);
      expect(await usage()).toEqual({
        requests: { limit: 10, remaining: 9, resetMs: 60_000 },
        tokens: { limit: 100, remaining: 90, resetMs: 60_000 },
        running: 0,
        accountRunning: 0,
      });
    });

    test("by cancellation restores the usage from before the request", async () => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      const before = await usage();
      await (await pass({ tokens: 60 })).cancel();
      expect(await usage()).toEqual(before);
    });

    test("by disposal settles no tokens, and nothing after an end", async () => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      await (await pass({ tokens: 60 }))[Symbol.asyncDispose]();
      const ended = await pass({ tokens: 60 });
      await ended.settle(30);
      await ended[Symbol.asyncDispose]();
      expect(await usage()).toMatchObject({
        requests: { remaining: 8 },
        tokens: { remaining: 70 },
        running: 0,
      });
    });

    test("by cancellation removes only its own counts", async () => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      await pass({ tokens: 20 });
      await advance(1000);
      const cancelled = await pass({ tokens: 60 });
      await advance(1000);
      await pass({ tokens: 5 });
      await advance(30_000);
      await cancelled.cancel();
      expect(await usage()).toEqual({
        requests: { limit: 10, remaining: 8, resetMs: 30_000 },
        tokens: { limit: 100, remaining: 75, resetMs: 30_000 },
        running: 2,
        accountRunning: 2,
      });
    });

    test("by cancellation makes room within the millisecond", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 1 }, { requestsPerMinute: 1 });
      for (let round = 0; round < 100; round += 1) await (await pass()).cancel();
      await pass();
      await fail();
    });

    test.each([60_000, 61_000, 122_000])(
      "by cancellation %i ms after the admission frees only its slot",
      async (afterMs) => {
        const { pass, usage } = caller(LIMITS, LIMITS);
        const late = await pass({ tokens: 60 });
        await advance(afterMs);
        await pass({ tokens: 5 });
        await late.cancel();
        const { requests, tokens, running } = await usage();
        expect([requests?.remaining, tokens?.remaining, running]).toEqual([9, 95, 1]);
      },
    );

    test.each([
      ["settled twice", ["settle 10", "settle 0"], [8, 89]],
      ["settled, then cancelled", ["settle 10", "cancel"], [8, 89]],
      ["cancelled twice", ["cancel", "cancel"], [9, 99]],
      ["cancelled, then settled", ["cancel", "settle 10"], [9, 99]],
      ["ended five times", ["settle 7", "cancel", "settle 0", "settle 90", "cancel"], [8, 92]],
    ] as const)("takes effect once: %s", async (_name, ends, [requestsLeft, tokensLeft]) => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      const call = await pass({ tokens: 40 });
      await pass({ tokens: 1 });
      for (const end of ends) {
        await (end === "cancel" ? call.cancel() : call.settle(Number(end.slice("settle ".length))));
      }
      const { running, requests, tokens } = await usage();
      expect([running, requests?.remaining, tokens?.remaining]).toEqual([1, requestsLeft, tokensLeft]);
    });

    test("takes effect once when settlement and cancellation are concurrent", async () => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      const call = await pass({ tokens: 40 });
      await Promise.all([call.cancel(), call.settle(10), call.cancel()]);
      const { running, requests, tokens } = await usage();
      expect([running, requests?.remaining, tokens?.remaining]).toEqual([0, 10, 100]);
    });
  });
}
