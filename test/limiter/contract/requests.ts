import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

/** Tests of requests per minute, exact to the millisecond. Every test starts on a full second. */
export function describeRequests({ caller, advance }: Clients): void {
  describe("requests per minute", () => {
    test("request N passes, and the next one must wait until the first expires", async () => {
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
      [1, "declined", 60],
      [999, "declined", 60],
      [1000, "declined", 59],
      [58_999, "declined", 2],
      [59_000, "declined", 1],
      [59_999, "declined", 1],
      [60_000, "admitted", 0],
      [60_001, "admitted", 0],
      [61_000, "admitted", 0],
    ])("with N = 1 a second request %i ms after the first is %s", async (afterMs, outcome, retryAfterS) => {
      const { pass, admit } = caller({ requestsPerMinute: 1 });
      await pass();
      await advance(afterMs);
      const decision = await admit();
      expect(decision.admitted ? ["admitted", 0] : ["declined", decision.retryAfterS]).toEqual([
        outcome,
        retryAfterS,
      ]);
    });

    test("a second expires as a whole, 60 s after its last admission", async () => {
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

    test("two admissions one millisecond apart, in two seconds, expire one after the other", async () => {
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

    test("a burst in the last millisecond of a second is counted for a whole minute", async () => {
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

    test("61 seconds are counted at once without mixing their slots", async () => {
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

    test("one request per second passes at N = 60 over several laps of the ring, and never two", async () => {
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
      "after %i ms without requests the window is empty",
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

    test("exactly N of 200 concurrent requests of a key are admitted", async () => {
      const { admit } = caller({ requestsPerMinute: 50 }, { requestsPerMinute: 120 });
      const decisions = await Promise.all(Array.from({ length: 200 }, () => admit()));
      expect(decisions.filter((decision) => decision.admitted)).toHaveLength(50);
    });

    test("exactly the account's N of 200 concurrent requests on four keys are admitted", async () => {
      const { admit } = caller({ requestsPerMinute: 50 }, { requestsPerMinute: 120 });
      const decisions = await Promise.all(
        Array.from({ length: 200 }, (_, index) => admit({ key: `k${index % 4}` })),
      );
      expect(decisions.filter((decision) => decision.admitted)).toHaveLength(120);
    });
  });
}
