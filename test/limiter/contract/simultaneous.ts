import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

const WIDE = { requestsPerMinute: 1000, tokensPerMinute: 100_000, concurrentRequests: 100 };

/** One decision for all bounds: everything is taken, or nothing is. */
export function describeSimultaneous({ caller, advance }: Clients): void {
  describe("several bounds", () => {
    test.each([
      ["the key's requests", { requestsPerMinute: 1 }, {}, "rate"],
      ["the key's tokens", { tokensPerMinute: 10 }, {}, "rate"],
      ["the key's concurrency", { concurrentRequests: 1 }, {}, "concurrency"],
      ["the account's requests", {}, { requestsPerMinute: 1 }, "rate"],
      ["the account's tokens", {}, { tokensPerMinute: 10 }, "rate"],
      ["the account's concurrency", {}, { concurrentRequests: 1 }, "concurrency"],
    ] as const)("a refusal by %s takes nothing from anybody", async (_name, key, account, bound) => {
      const { pass, fail, usage } = caller({ ...WIDE, ...key }, { ...WIDE, ...account });
      const call = await pass({ tokens: 10 });
      await advance(1500);
      const before = [await usage(), await usage({ key: "k2" })];
      for (let index = 0; index < 20; index += 1) expect(await fail({ tokens: 10 })).toMatchObject({ bound });
      expect([await usage(), await usage({ key: "k2" })]).toEqual(before);
      await advance(58_500);
      await call.settle(10);
      await pass({ tokens: 10 });
    });

    test("a refusal does not make the next wait longer", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 1 });
      await pass();
      for (let second = 0; second < 60; second += 1) {
        expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 60 - second });
        await advance(1000);
      }
      await pass();
    });

    test("rate is said before concurrency when both refuse", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 1, concurrentRequests: 1 });
      await pass();
      expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 60 });
      await advance(60_000);
      expect(await fail()).toMatchObject({ bound: "concurrency", retryAfterS: 1 });
    });

    test("an account's rate is said before its key's concurrency", async () => {
      const { pass, fail } = caller({ concurrentRequests: 1 }, { requestsPerMinute: 1 });
      await pass();
      await advance(10_000);
      expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 50 });
    });

    test("the longest of the short windows is the wait", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 2, tokensPerMinute: 1000 });
      await pass({ tokens: 1 });
      await advance(20_000);
      await pass({ tokens: 999 });
      expect(await fail({ tokens: 500 })).toMatchObject({ retryAfterS: 60 });
      expect(await fail({ tokens: 1 })).toMatchObject({ retryAfterS: 40 });
      expect(await fail({ tokens: 0 })).toMatchObject({ retryAfterS: 40 });
    });

    test("the longest wait is the account's when that is the longer one", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 1 }, { requestsPerMinute: 2 });
      await pass({ key: "k1" });
      await advance(30_000);
      await pass({ key: "k2" });
      expect(await fail({ key: "k1" })).toMatchObject({ retryAfterS: 30 });
      expect(await fail({ key: "k2" })).toMatchObject({ retryAfterS: 60 });
      expect(await fail({ key: "k3" })).toMatchObject({ retryAfterS: 30 });
    });
  });
}
