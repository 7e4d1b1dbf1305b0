import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

/** Tests of concurrent requests: an admission takes a slot, and its end frees it. */
export function describeConcurrency({ caller, advance }: Clients): void {
  describe("concurrent requests", () => {
    test("a slot is taken until the call ends, and is free at once afterwards", async () => {
      const { pass, fail, usage } = caller({ concurrentRequests: 2 });
      const first = await pass();
      const second = await pass();
      expect(await fail()).toMatchObject({ bound: "concurrency", retryAfterS: 1 });
      await first.settle(0);
      expect((await usage()).running).toBe(1);
      const third = await pass();
      await fail();
      await second.cancel();
      await third.cancel();
      expect((await usage()).running).toBe(0);
    });

    test("exactly N of 200 concurrent requests get a slot, and their ends free exactly those", async () => {
      const { admit, usage } = caller({ concurrentRequests: 7 });
      for (let round = 0; round < 3; round += 1) {
        const decisions = await Promise.all(Array.from({ length: 200 }, () => admit()));
        const admitted = decisions.filter((decision) => decision.admitted);
        expect(admitted).toHaveLength(7);
        expect((await usage()).running).toBe(7);
        await Promise.all(admitted.map((admission) => admission.settle(0)));
        expect((await usage()).running).toBe(0);
      }
    });

    test("a call of an hour keeps its slot, while its request and tokens have expired", async () => {
      const limits = { requestsPerMinute: 2, tokensPerMinute: 10, concurrentRequests: 1 };
      const { pass, fail, usage } = caller(limits, limits);
      const long = await pass({ tokens: 9 });
      await advance(3_600_000);
      expect(await fail()).toMatchObject({ bound: "concurrency", retryAfterS: 1 });
      expect(await usage()).toEqual({
        requests: { limit: 2, remaining: 2, resetMs: 0 },
        tokens: { limit: 10, remaining: 10, resetMs: 0 },
        running: 1,
        accountRunning: 1,
      });
      await long.settle(5);
      await pass({ tokens: 10 });
    });

    test("the slots of an account are shared by its keys, and running requests are reported per key and account", async () => {
      const { pass, fail, usage } = caller({ concurrentRequests: 2 }, { concurrentRequests: 3 });
      await pass({ key: "k1" });
      const second = await pass({ key: "k1" });
      await fail({ key: "k1" });
      await pass({ key: "k2" });
      await fail({ key: "k2" });
      await fail({ key: "k3" });
      const running = ["k1", "k2", "k3"].map(async (key) => (await usage({ key })).running);
      expect(await Promise.all(running)).toEqual([2, 1, 0]);
      expect((await usage({ key: "k3" })).accountRunning).toBe(3);
      await second.cancel();
      await pass({ key: "k3" });
      await fail({ key: "k1" });
    });

    test("running requests without a limit are counted", async () => {
      const { pass, usage } = caller({});
      const calls = [await pass(), await pass(), await pass()];
      expect((await usage()).running).toBe(3);
      await calls[0]?.settle(0);
      expect((await usage()).running).toBe(2);
    });
  });
}
