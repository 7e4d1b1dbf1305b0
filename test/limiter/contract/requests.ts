import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

/** Requests per minute, to the millisecond. Every test starts on a full second. */
export function describeRequests({ caller, advance }: Clients): void {
  describe("requests per minute", () => {
    test("the last of N passes and the next is told to wait until the first leaves", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 3 });
      await pass();
      await advance(1000);
      await pass();
      await pass();
      await advance(10_001);
      expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 49 });
      await advance(48_998);
      expect(await fail()).toMatchObject({ retryAfterS: 1 });
      await advance(1);
      await pass();
      expect(await fail()).toMatchObject({ retryAfterS: 1 });
    });

    test.each([
      [1, "refused", 60],
      [999, "refused", 60],
      [1000, "refused", 59],
      [58_999, "refused", 2],
      [59_000, "refused", 1],
      [59_999, "refused", 1],
      [60_000, "admitted", 0],
      [60_001, "admitted", 0],
      [61_000, "admitted", 0],
    ])("with N = 1 the second request %i ms after the first is %s", async (afterMs, outcome, retryAfterS) => {
      const { pass, admit } = caller({ requestsPerMinute: 1 });
      await pass();
      await advance(afterMs);
      const decision = await admit();
      expect(decision.admitted ? ["admitted", 0] : ["refused", decision.retryAfterS]).toEqual([
        outcome,
        retryAfterS,
      ]);
    });

    test("a second leaves as a whole, 60 s after its last admission", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 2 });
      await pass();
      await advance(999);
      await pass();
      await advance(59_001);
      expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 1 });
      await advance(998);
      await fail();
      await advance(1);
      await pass();
      await pass();
      await fail();
    });

    test("two admissions a millisecond apart with a full second between them leave one after the other", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 2 });
      await advance(999);
      await pass();
      await advance(1);
      await pass();
      await advance(59_998);
      await fail();
      await advance(1);
      await pass();
      expect(await fail()).toMatchObject({ retryAfterS: 1 });
      await advance(1);
      await pass();
      await fail();
    });

    test("a burst in the last millisecond of a second counts a whole minute", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 10 });
      await advance(999);
      for (let index = 0; index < 10; index += 1) await pass();
      await advance(1);
      expect(await fail()).toMatchObject({ retryAfterS: 60 });
      await advance(59_998);
      expect(await fail()).toMatchObject({ retryAfterS: 1 });
      await advance(1);
      for (let index = 0; index < 10; index += 1) await pass();
      await fail();
    });

    test("61 seconds are in use at once and none is taken for another", async () => {
      const { pass, fail, usage } = caller({ requestsPerMinute: 61 });
      await advance(999);
      await pass();
      await advance(1);
      for (let second = 0; second < 59; second += 1) {
        await pass();
        await advance(1000);
      }
      await pass();
      expect((await usage()).requests).toEqual({ limit: 61, remaining: 0, resetMs: 60_000 });
      expect(await fail()).toMatchObject({ retryAfterS: 1 });
      await advance(998);
      await fail();
      await advance(1);
      expect((await usage()).requests).toEqual({ limit: 61, remaining: 1, resetMs: 59_001 });
      await pass();
      await advance(1);
      await pass();
      await fail();
    });

    test("one a second goes on at N = 60 for as many laps of the ring as one likes, and never two", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 60 });
      for (let second = 0; second < 60; second += 1) {
        await (await pass()).settle(0);
        await advance(1000);
      }
      for (let second = 0; second < 190; second += 1) {
        await (await pass()).settle(0);
        await fail();
        await advance(1000);
      }
    });

    test.each([60_000, 60_999, 61_000, 61_001, 122_000, 3_600_000])(
      "after %i ms of silence the minute is whole",
      async (idleMs) => {
        const { pass, fail, usage } = caller({ requestsPerMinute: 4 });
        for (let round = 0; round < 3; round += 1) {
          for (let index = 0; index < 4; index += 1) await (await pass()).settle(0);
          await fail();
          await advance(idleMs);
          expect((await usage()).requests).toEqual({ limit: 4, remaining: 4, resetMs: 0 });
        }
      },
    );

    test("200 callers at once get exactly N through", async () => {
      const { admit } = caller({ requestsPerMinute: 50 }, { requestsPerMinute: 120 });
      const decisions = await Promise.all(Array.from({ length: 200 }, () => admit()));
      expect(decisions.filter((decision) => decision.admitted)).toHaveLength(50);
    });

    test("200 callers at once on four keys get exactly the account's N through", async () => {
      const { admit } = caller({ requestsPerMinute: 50 }, { requestsPerMinute: 120 });
      const decisions = await Promise.all(
        Array.from({ length: 200 }, (_, index) => admit({ key: `k${index % 4}` })),
      );
      expect(decisions.filter((decision) => decision.admitted)).toHaveLength(120);
    });
  });
}
