import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

const ONE = { requestsPerMinute: 1, tokensPerMinute: 10, concurrentRequests: 1 };

/** Tests of which requests share a limit. */
export function describeIsolation({ caller, advance }: Clients): void {
  describe("keys and accounts", () => {
    test("share the account's limit between its keys only", async () => {
      const { pass, fail } = caller({}, { requestsPerMinute: 2 });
      await pass({ key: "k1" });
      await pass({ key: "k2" });
      await fail({ key: "k3" });
      await pass({ key: "k4", account: "other" });
    });

    test("do not share the limits of one key with another", async () => {
      const { pass, fail, usage } = caller(ONE);
      await pass({ key: "k1", tokens: 10 });
      await fail({ key: "k1" });
      expect(await usage({ key: "k2" })).toEqual({
        requests: { limit: 1, remaining: 1, resetMs: 0 },
        tokens: { limit: 10, remaining: 10, resetMs: 0 },
        running: 0,
        accountRunning: 1,
      });
      await pass({ key: "k2", tokens: 10 });
    });

    test.each([
      ["an id used for a key and its account", ["same", "same"], ["same", "k2"]],
      ["keys of one id in two accounts", ["a", "k1"], ["b", "k1"]],
      ["ids that are equal when joined by a colon", ["a:b", "c"], ["a", "b:c"]],
      ["ids with braces in them", ["a}", "k"], ["a", "}k"]],
      ["ids with braces around them", ["{a}", "k"], ["a", "k"]],
      ["a key and one named like its leases", ["a", "k"], ["a", "k:leases"]],
      ["an account and one named like its leases", ["a", "k"], ["a:leases", "k"]],
      ["upper and lower case letters", ["a", "K"], ["a", "k"]],
      ["other scripts", ["ä", "鍵"], ["ä", "鍵\u200b"]],
    ] as const)("are separate for %s", async (_name, [account, key], [otherAccount, otherKey]) => {
      const { pass, fail } = caller(ONE);
      await pass({ account, key, tokens: 10 });
      await pass({ account: otherAccount, key: otherKey, tokens: 10 });
      await fail({ account, key });
      await fail({ account: otherAccount, key: otherKey });
    });

    test("have a window each for 200 keys", async () => {
      const { admit } = caller({ requestsPerMinute: 2 });
      const keys = Array.from({ length: 200 }, (_, index) => `k${index}`);
      const round = async () =>
        (await Promise.all(keys.map((key) => admit({ key })))).filter((d) => d.admitted).length;
      expect(await round()).toBe(200);
      await advance(30_000);
      expect(await round()).toBe(200);
      expect(await round()).toBe(0);
      await advance(30_000);
      expect(await round()).toBe(200);
      expect(await round()).toBe(0);
    });
  });
}
