import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import type { AdmissionRequest } from "../../src/limiter/limiter.ts";
import { testRedisUrl } from "../support/redis-server.ts";
import type { LimiterHarness } from "./contract/harness.ts";
import { openOnRedis } from "./contract/redis.ts";

const KEY_BYTES_MAX = 4096;
const IDLE_MS = 61_000;

describe("the keys of a limiter in Redis", () => {
  let redis: Redis;
  beforeAll(async () => {
    redis = new Redis(await testRedisUrl());
  });
  afterAll(() => redis.disconnect());

  async function onRedis(body: (harness: LimiterHarness, request: AdmissionRequest) => Promise<void>) {
    const harness = await openOnRedis();
    const request: AdmissionRequest = {
      accountId: crypto.randomUUID(),
      keyId: crypto.randomUUID(),
      keyLimits: { requestsPerMinute: 1e9, tokensPerMinute: 1e15, concurrentRequests: 1e9 },
      accountLimits: { requestsPerMinute: 1e9, tokensPerMinute: 1e15, concurrentRequests: 1e9 },
      tokens: 1000,
    };
    try {
      await body(harness, request);
    } finally {
      await harness.close();
    }
  }

  /** Returns the keys of an account, without those of the limiter's probes. */
  async function keysOf({ accountId }: AdmissionRequest): Promise<string[]> {
    const keys = await redis.keys(`*${accountId}*`);
    return keys.filter((key) => !key.includes(":probe"));
  }

  /** Returns the milliseconds until each key expires; -1 is never. */
  async function lifetimes(request: AdmissionRequest): Promise<number[]> {
    return Promise.all((await keysOf(request)).map((key) => redis.pttl(key)));
  }

  function expectExpiry(left: readonly number[], atLeast: number): void {
    expect(left.length).toBeGreaterThanOrEqual(atLeast);
    for (const ms of left) expect(ms).toBeWithin(1, IDLE_MS + 1);
  }

  test("take less than 4 KB each after 24,000 admissions over all seconds of a minute", async () => {
    await onRedis(async ({ replicas, advance }, request) => {
      for (let piece = 0; piece < 400; piece += 1) {
        // A busy machine answers so few within the second that a gateway waits.
        const admitted = Array.from({ length: 60 }, async (_, index) => {
          const decision = await replicas[index % replicas.length]?.admit(request);
          if (!decision?.admitted) throw new Error("declined");
          await decision.settle(900);
        });
        await Promise.all(admitted);
        if (piece % 4 === 3) await advance(600);
      }
      const keys = await keysOf(request);
      expect(keys).toHaveLength(2);
      for (const key of keys)
        expect(await redis.memory("USAGE", key, "SAMPLES", 0)).toBeLessThan(KEY_BYTES_MAX);
      const left = (await replicas[0]?.usage(request))?.requests?.remaining;
      expect(left).toBe(1e9 - 24_000);
    });
  });

  test("expire at most 61 s after the last admission", async () => {
    await onRedis(async ({ replicas: [one, other], advance }, request) => {
      if (!one || !other) throw new Error("there are no replicas");
      const running = await one.admit(request);
      if (!running.admitted) throw new Error("declined");
      expectExpiry(await lifetimes(request), 4);
      for (let step = 0; step < 70; step += 1) {
        const decision = await other.admit(request);
        if (!decision.admitted) throw new Error("declined");
        await (step % 2 ? decision.settle(5) : decision.cancel());
        await other.usage(request);
        await advance(333);
        expectExpiry(await lifetimes(request), 4);
      }
      await running.settle(7);
      expectExpiry(await lifetimes(request), 2);
    });
  });

  test("get an expiry at the first admission of a second that covers the whole second", async () => {
    await onRedis(async ({ replicas: [one], advance }, request) => {
      for (let second = 0; second < 3; second += 1) {
        await one?.admit(request);
        for (const key of await keysOf(request)) {
          const longest = key.endsWith(":leases") ? 30_000 : 60_000;
          // One second more, minus the time that the test itself took.
          expect(await redis.pttl(key)).toBeWithin(longest + 1, longest + 1001);
          await redis.pexpire(key, 20_000);
        }
        await advance(1000);
      }
    });
  });

  test("expire although the clock was set", async () => {
    await onRedis(async ({ replicas: [one], setClock, advance }, request) => {
      for (const ms of [3_600_000, -7_200_000, -500, 40_000, -31_536_000_000]) {
        const decision = await one?.admit(request);
        expect(decision?.admitted).toBe(true);
        await setClock(ms);
        await one?.usage(request);
        expectExpiry(await lifetimes(request), 2);
        await advance(20_000);
        expectExpiry(await lifetimes(request), 2);
      }
    });
  });

  test("are not created by usage or a declined request", async () => {
    await onRedis(async ({ replicas: [one] }, request) => {
      await one?.usage(request);
      for (const keyLimits of [
        { requestsPerMinute: 0 },
        { tokensPerMinute: 999 },
        { concurrentRequests: 0 },
      ]) {
        expect(await one?.admit({ ...request, keyLimits })).toMatchObject({ admitted: false });
      }
      expect(await keysOf(request)).toEqual([]);
    });
  });

  test("for leases are deleted as soon as the calls have ended", async () => {
    await onRedis(async ({ replicas: [one] }, request) => {
      const decisions = await Promise.all(Array.from({ length: 100 }, () => one?.admit(request)));
      expect(await keysOf(request)).toHaveLength(4);
      await Promise.all(decisions.map((decision) => decision?.admitted && decision.settle(1)));
      expect(await keysOf(request)).toHaveLength(2);
    });
  });
});
