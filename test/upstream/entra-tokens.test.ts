import { describe, expect, test } from "bun:test";
import type { AccessToken } from "../../src/upstream/access-tokens.ts";
import { createEntraTokens, EntraTokenError } from "../../src/upstream/azure-transport.ts";

const HOUR_MS = 3_600_000;

/** A token source on a clock of its own, and the fetches that it has begun. */
function startSource({ fetchMsMax }: { readonly fetchMsMax?: number } = {}) {
  let nowMs = 1_790_000_000_000;
  const fetches: { resolve(token: AccessToken): void; reject(fault: unknown): void }[] = [];
  const tokens = createEntraTokens({
    now: () => nowMs,
    fetchToken: () => {
      const { promise, resolve, reject } = Promise.withResolvers<AccessToken>();
      fetches.push({ resolve, reject });
      return promise;
    },
    ...(fetchMsMax && { fetchMsMax }),
  });
  const finish = async (token: string, lifeMs = HOUR_MS) => {
    fetches.at(-1)?.resolve({ token, expiresAtMs: nowMs + lifeMs });
    await Bun.sleep(0);
  };
  const fail = async () => {
    fetches.at(-1)?.reject(new Error("canary"));
    await Bun.sleep(0);
  };
  const source = () => tokens.read();
  return { source, fetches, finish, fail, pass: (ms: number) => (nowMs += ms) };
}

describe("a source of tokens", () => {
  test("fetches one token for many waiters, and returns it at once afterwards", async () => {
    const { source, fetches, finish } = startSource();
    const waiters = Array.from({ length: 50 }, () => source());
    expect(fetches).toHaveLength(1);
    await finish("one");
    expect(new Set(await Promise.all(waiters))).toEqual(new Set(["one"]));
    expect(source()).toBe("one");
    expect(fetches).toHaveLength(1);
  });

  test("replaces a token five minutes before its end, while the old one is used", async () => {
    const { source, fetches, finish, pass } = startSource();
    const first = source();
    await finish("one");
    await first;
    pass(HOUR_MS - 300_001);
    expect([source(), fetches.length]).toEqual(["one", 1]);
    pass(1);
    expect([source(), source(), fetches.length]).toEqual(["one", "one", 2]);
    await finish("two");
    expect([source(), fetches.length]).toEqual(["two", 2]);
  });

  test("keeps a token whose replacement failed, and tries again after ten seconds", async () => {
    const { source, fetches, finish, fail, pass } = startSource();
    const first = source();
    await finish("one");
    await first;
    pass(HOUR_MS - 200_000);
    void source();
    await fail();
    expect([source(), fetches.length]).toEqual(["one", 2]);
    pass(10_000);
    expect([source(), fetches.length]).toEqual(["one", 3]);
  });

  test("makes requests wait in the last minute of a token", async () => {
    const { source, fetches, finish, pass } = startSource();
    const first = source();
    await finish("one");
    await first;
    pass(HOUR_MS - 60_000);
    const waiting = source();
    expect(fetches).toHaveLength(2);
    await finish("two");
    expect(await waiting).toBe("two");
  });

  test("rejects without the provider's text, and fetches again for the next request", async () => {
    const { source, fetches, finish, fail } = startSource();
    const first = source();
    const rejected = Promise.resolve(first).catch((fault: unknown) => fault);
    await fail();
    const fault = await rejected;
    expect(fault).toBeInstanceOf(EntraTokenError);
    expect(String(fault)).not.toContain("canary");
    const second = source();
    expect(fetches).toHaveLength(2);
    await finish("one");
    expect(await second).toBe("one");
  });

  test("rejects when the provider takes too long", async () => {
    const { source } = startSource({ fetchMsMax: 5 });
    await expect(Promise.resolve(source())).rejects.toThrow(EntraTokenError);
  });

  test("fetches anew after a jump of the clock beyond the token's end", async () => {
    const { source, fetches, finish, pass } = startSource();
    const first = source();
    await finish("one");
    await first;
    pass(100 * HOUR_MS);
    const waiting = source();
    expect(fetches).toHaveLength(2);
    await finish("two");
    expect(await waiting).toBe("two");
  });
});
