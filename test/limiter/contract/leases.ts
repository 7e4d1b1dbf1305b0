import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

const HOUR_MS = 3_600_000;

/** Tests of slots shared by replicas: leases of 30 s, which a living replica renews every 10 s. */
export function describeLeases({ caller, advance, setClock, kill, nowMs }: Clients): void {
  describe("a lease", () => {
    test("of a replica killed at once expires 30 s after the admission", async () => {
      const { pass, fail, usage } = caller({ concurrentRequests: 1 }, { concurrentRequests: 1 });
      await pass({ replica: 0 });
      await kill(0);
      await advance(29_999);
      expect(await fail({ replica: 1 })).toMatchObject({ bound: "concurrency", retryAfterS: 1 });
      await fail({ replica: 1, key: "k2" });
      expect((await usage({ replica: 1 })).running).toBe(1);
      await advance(1);
      expect((await usage({ replica: 1 })).running).toBe(0);
      await pass({ replica: 1 });
      await fail({ replica: 2, key: "k2" });
    });

    test("of a replica killed later expires 30 s after its last renewal", async () => {
      const { pass, fail } = caller({ concurrentRequests: 1 });
      await pass({ replica: 0 });
      await advance(45_000);
      const killedMs = nowMs();
      await kill(0);
      let freeMs: number | undefined;
      while (freeMs === undefined) {
        const decision = await caller({ concurrentRequests: 1 }).admit({ replica: 1 });
        if (decision.admitted) freeMs = nowMs() - killedMs;
        else await advance(100);
      }
      expect(freeMs).toBeWithin(20_000, 30_001);
      await fail({ replica: 2 });
    });

    test("of each killed replica expires 30 s after its own last renewal", async () => {
      const { pass, fail, usage } = caller({ concurrentRequests: 3 });
      await pass({ replica: 0 });
      await kill(0);
      await advance(20_000);
      await pass({ replica: 1 });
      await kill(1);
      await pass({ replica: 2 });
      const seen = [];
      for (const waitMs of [9999, 1, 19_999, 1]) {
        await advance(waitMs);
        seen.push((await usage({ replica: 2 })).running);
      }
      expect(seen).toEqual([3, 2, 2, 1]);
      await pass({ replica: 2 });
      await pass({ replica: 2 });
      await fail({ replica: 2 });
    });

    test("of a request of ten minutes never expires", async () => {
      const { pass, fail, usage } = caller({ concurrentRequests: 1 }, { concurrentRequests: 1 });
      const long = await pass({ replica: 0 });
      for (let second = 0; second < 600; second += 7) {
        await advance(7000);
        await fail();
        expect((await usage()).running).toBe(1);
      }
      await long.settle(0);
      await pass();
    });

    test("is renewed for every request of every replica", async () => {
      const { pass, usage } = caller({});
      const keys = Array.from({ length: 40 }, (_, index) => `k${index % 8}`);
      const calls = [];
      for (const key of keys) {
        calls.push(await pass({ key }));
        await advance(700);
      }
      await advance(120_000);
      for (const key of keys) expect((await usage({ key })).running).toBe(5);
      for (const call of calls) await call.settle(0);
      for (const key of keys) expect((await usage({ key })).running).toBe(0);
    });

    test("expires for requests of the killed replica only", async () => {
      const { pass, fail, usage } = caller({ concurrentRequests: 4 }, { concurrentRequests: 4 });
      for (const replica of [0, 1, 0, 2]) await pass({ replica });
      await kill(0);
      await fail({ replica: 1 });
      await advance(30_000);
      expect((await usage({ replica: 1 })).running).toBe(2);
      await pass({ replica: 1 });
      await pass({ replica: 2 });
      await fail({ replica: 1 });
      await advance(HOUR_MS);
      expect((await usage({ replica: 2 })).running).toBe(4);
    });

    test.each(["settle", "cancel"] as const)(
      "that has expired frees no other slot when its call ends late by %s",
      async (end) => {
        const { pass, fail, usage } = caller({ concurrentRequests: 1 });
        const frozen = await pass({ replica: 0 });
        await kill(0);
        await advance(30_000);
        await pass({ replica: 1 });
        await (end === "settle" ? frozen.settle(0) : frozen.cancel());
        expect((await usage({ replica: 1 })).running).toBe(1);
        await fail({ replica: 2 });
      },
    );

    test("is released once, however often its call ends", async () => {
      const { pass, fail, usage } = caller({ concurrentRequests: 2 });
      const call = await pass({ replica: 0 });
      await pass({ replica: 1 });
      await call.settle(0);
      await pass({ replica: 1 });
      await call.settle(0);
      await call.cancel();
      expect((await usage({ replica: 2 })).running).toBe(2);
      await fail({ replica: 2 });
    });

    test("that was released is not restored by a renewal", async () => {
      const { pass, usage } = caller({ concurrentRequests: 3 });
      for (let index = 0; index < 3; index += 1) {
        const call = await pass();
        await advance(9999);
        await (index % 2 ? call.cancel() : call.settle(0));
      }
      await advance(25_000);
      expect((await usage()).running).toBe(0);
    });

    test.each([1, 500, 1000, 10_000, 3_600_000, 31_536_000_000])(
      "of a killed replica expires within 31 s of the first call after the clock was set back by %i ms",
      async (backMs) => {
        const { pass, fail } = caller({ concurrentRequests: 1 }, { concurrentRequests: 1 });
        await pass({ replica: 0 });
        await kill(0);
        await setClock(-backMs);
        await fail({ replica: 1 });
        await advance(29_999);
        await fail({ replica: 1, key: "k2" });
        await advance(1001);
        await pass({ replica: 1 });
      },
    );

    test("that expired because the clock was set ahead is restored by the next renewal", async () => {
      const { pass, fail, usage } = caller({ concurrentRequests: 1 });
      await pass({ replica: 0 });
      await setClock(HOUR_MS);
      const second = await pass({ replica: 1 });
      await advance(10_000);
      expect((await usage({ replica: 2 })).running).toBe(2);
      await second.settle(0);
      await fail({ replica: 2 });
      expect((await usage({ replica: 2 })).running).toBe(1);
    });
  });

  describe("replicas", () => {
    test("see admissions, settlements and cancellations of each other at once", async () => {
      const limits = { requestsPerMinute: 3, tokensPerMinute: 100, concurrentRequests: 3 };
      const { pass, usage } = caller(limits, limits);
      const settled = await pass({ replica: 0, tokens: 50 });
      expect(await usage({ replica: 1 })).toMatchObject({
        requests: { remaining: 2 },
        tokens: { remaining: 50 },
        running: 1,
      });
      const cancelled = await pass({ replica: 1, tokens: 50 });
      await settled.settle(20);
      await cancelled.cancel();
      expect(await usage({ replica: 2 })).toMatchObject({
        requests: { remaining: 2 },
        tokens: { remaining: 80 },
        running: 0,
      });
    });

    test("that are killed leave their requests and tokens counted for a minute", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 2, tokensPerMinute: 100 });
      await pass({ replica: 0, tokens: 60 });
      await kill(0);
      await advance(59_999);
      expect(await fail({ replica: 1, tokens: 41 })).toMatchObject({ bound: "rate", retryAfterS: 1 });
      await advance(1);
      await pass({ replica: 1, tokens: 100 });
    });
  });
}
