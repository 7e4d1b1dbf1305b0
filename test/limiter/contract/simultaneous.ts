import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

const WIDE = { requestsPerMinute: 1000, tokensPerMinute: 100_000, concurrentRequests: 100 };

/** Tests of several limits at once: an admission takes from all of them, or from none. */
export function describeSimultaneous({ caller, advance }: Clients): void {
  describe("several limits", () => {
    test.each([
      ["the key's requests", { requestsPerMinute: 1 }, {}, "rate"],
      ["the key's tokens", { tokensPerMinute: 10 }, {}, "rate"],
      ["the key's concurrency", { concurrentRequests: 1 }, {}, "concurrency"],
      ["the account's requests", {}, { requestsPerMinute: 1 }, "rate"],
      ["the account's tokens", {}, { tokensPerMinute: 10 }, "rate"],
      ["the account's concurrency", {}, { concurrentRequests: 1 }, "concurrency"],
    ] as const)(
      "take nothing from any key when a request is declined by %s",
      async (_name, key, account, bound) => {
        const { pass, fail, usage } = caller({ ...WIDE, ...key }, { ...WIDE, ...account });
        const call = await pass({ tokens: 10 });
        await advance(1500);
        const before = [await usage(), await usage({ key: "k2" })];
        for (let index = 0; index < 20; index += 1)
          expect(await fail({ tokens: 10 })).toMatchObject({ bound });
        expect([await usage(), await usage({ key: "k2" })]).toEqual(before);
        await advance(58_500);
        await call.settle(10);
        await pass({ tokens: 10 });
      },
    );

    test("do not make the wait longer after each decline", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 1 });
      await pass();
      for (let second = 0; second < 60; second += 1) {
        expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 60 - second });
        await advance(1000);
      }
      await pass();
    });

    test("report rate before concurrency when both are exceeded", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 1, concurrentRequests: 1 });
      await pass();
      expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 60 });
      await advance(60_000);
      expect(await fail()).toMatchObject({ bound: "concurrency", retryAfterS: 1 });
    });

    test("report the account's rate before the key's concurrency", async () => {
      const { pass, fail } = caller({ concurrentRequests: 1 }, { requestsPerMinute: 1 });
      await pass();
      await advance(10_000);
      expect(await fail()).toMatchObject({ bound: "rate", retryAfterS: 50 });
    });

    test("require the longest wait of the exceeded windows", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 2, tokensPerMinute: 1000 });
      await pass({ tokens: 1 });
      await advance(20_000);
      await pass({ tokens: 999 });
      expect(await fail({ tokens: 500 })).toMatchObject({ retryAfterS: 60 });
      expect(await fail({ tokens: 1 })).toMatchObject({ retryAfterS: 40 });
      expect(await fail({ tokens: 0 })).toMatchObject({ retryAfterS: 40 });
    });

    test("require the account's wait when it is longer than the key's", async () => {
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
