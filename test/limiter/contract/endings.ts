import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

const LIMITS = { requestsPerMinute: 10, tokensPerMinute: 100, concurrentRequests: 10 };

/** A call ends once, by a settlement or a cancellation; what comes later does nothing. */
export function describeEndings({ caller, advance }: Clients): void {
  describe("the end of a call", () => {
    test("settled, it leaves its request and the tokens used", async () => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      await (await pass({ tokens: 40 })).settle(10);
      expect(await usage()).toEqual({
        requests: { limit: 10, remaining: 9, resetMs: 60_000 },
        tokens: { limit: 100, remaining: 90, resetMs: 60_000 },
        running: 0,
      });
    });

    test("cancelled, it is as if it had never been asked for", async () => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      const before = await usage();
      await (await pass({ tokens: 60 })).cancel();
      expect(await usage()).toEqual(before);
    });

    test("a cancelled call among others takes only itself back", async () => {
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
      });
    });

    test("a cancelled call makes room in the very millisecond", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 1 }, { requestsPerMinute: 1 });
      for (let round = 0; round < 100; round += 1) await (await pass()).cancel();
      await pass();
      await fail();
    });

    test.each([60_000, 61_000, 122_000])(
      "cancelled %i ms after its admission, it gives back only its slot",
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
    ] as const)("only the first end counts: %s", async (_name, ends, [requestsLeft, tokensLeft]) => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      const call = await pass({ tokens: 40 });
      await pass({ tokens: 1 });
      for (const end of ends) {
        await (end === "cancel" ? call.cancel() : call.settle(Number(end.slice("settle ".length))));
      }
      const { running, requests, tokens } = await usage();
      expect([running, requests?.remaining, tokens?.remaining]).toEqual([1, requestsLeft, tokensLeft]);
    });

    test("only the first end counts, also when both are said at once", async () => {
      const { pass, usage } = caller(LIMITS, LIMITS);
      const call = await pass({ tokens: 40 });
      await Promise.all([call.cancel(), call.settle(10), call.cancel()]);
      const { running, requests, tokens } = await usage();
      expect([running, requests?.remaining, tokens?.remaining]).toEqual([0, 10, 100]);
    });
  });
}
