import { describe, expect, test } from "bun:test";
import { useStore } from "./contract/redis-store.ts";

describe("an offline admission restored to Redis", () => {
  const redis = useStore();
  const { at, admit, counted, newNames, restoreAt } = redis;

  test("expires a minute after the admission, in any second of the ring", async () => {
    for (let second = 0; second < 61; second += 1) {
      const names = newNames();
      const startMs = second * 1000;
      const offline = [
        { ageMs: 20_000, requests: 2, tokens: 30 },
        { ageMs: 5500, requests: 3, tokens: 500 },
        { ageMs: 0, requests: 1, tokens: 7 },
      ];
      await restoreAt(startMs, names, offline);
      const seen = [];
      for (const afterMs of [0, 39_999, 40_000, 54_499, 54_500, 59_999, 60_000]) {
        await at(startMs + afterMs);
        seen.push(await counted(names));
      }
      expect(seen).toEqual([
        [6, 537],
        [6, 537],
        [4, 507],
        [4, 507],
        [1, 7],
        [1, 7],
        [0, 0],
      ]);
    }
  });

  test("is counted before, between and after the admissions of Redis in the same minute", async () => {
    const names = newNames();
    await at(0);
    await admit(names, 100);
    await at(10_000);
    await admit(names, 200);
    const offline = [
      { ageMs: 15_000, requests: 1, tokens: 1 },
      { ageMs: 10_000, requests: 1, tokens: 2 },
      { ageMs: 5000, requests: 1, tokens: 4 },
      { ageMs: 0, requests: 1, tokens: 8 },
    ];
    await restoreAt(10_000, names, offline);
    const seen = [];
    for (const afterMs of [10_000, 54_999, 55_000, 59_999, 60_000, 64_999, 65_000, 69_999, 70_000]) {
      await at(afterMs);
      seen.push((await counted(names))[1]);
    }
    expect(seen).toEqual([315, 315, 314, 314, 212, 212, 208, 208, 0]);
  });

  // Regression: expired counts of the second were restored too, expired again and reduced other counts.
  test("restores no expired counts of its second", async () => {
    const names = newNames();
    await at(100);
    for (let admitted = 0; admitted < 9; admitted += 1) await admit(names, 10);
    await at(59_000);
    await admit(names, 10);
    await restoreAt(60_150, names, [{ ageMs: 59_900, requests: 1, tokens: 5 }]);
    expect(await counted(names)).toEqual([2, 15]);
    await at(60_250);
    expect(await counted(names)).toEqual([1, 10]);
    await at(119_000);
    expect(await counted(names)).toEqual([0, 0]);
  });

  test("is counted once and answered equally when it is sent twice", async () => {
    const names = newNames();
    const offline = [
      { ageMs: 2000, requests: 2, tokens: 20 },
      { ageMs: 0, requests: 1, tokens: 10 },
    ];
    const id = crypto.randomUUID();
    const answer = await restoreAt(5000, names, offline, id);
    expect(await restoreAt(9000, names, offline, id)).toEqual(answer);
    expect(await counted(names)).toEqual([3, 30]);
  });

  test("is not counted when it is older than a minute", async () => {
    const names = newNames();
    const offline = [
      { ageMs: 3_600_000, requests: 9, tokens: 9 },
      { ageMs: 60_000, requests: 9, tokens: 9 },
      { ageMs: 59_999, requests: 1, tokens: 5 },
    ];
    const [hourAgo, minuteAgo, inTime] = await restoreAt(0, names, offline);
    expect([hourAgo, minuteAgo]).toEqual([0, 0]);
    expect(inTime).toBeGreaterThan(0);
    expect(await counted(names)).toEqual([1, 5]);
    await at(1);
    expect(await counted(names)).toEqual([0, 0]);
  });

  test("is added to those of other gateways", async () => {
    const names = newNames();
    for (const ageMs of [30_000, 50_000, 10_000, 50_000]) {
      await restoreAt(0, names, [{ ageMs, requests: 2, tokens: 20 }]);
    }
    expect(await counted(names)).toEqual([8, 80]);
    await at(10_000);
    expect(await counted(names)).toEqual([4, 40]);
    await at(30_000);
    expect(await counted(names)).toEqual([2, 20]);
    await at(50_000);
    expect(await counted(names)).toEqual([0, 0]);
  });

  test("delays requests only until it expires, and leaves no key without expiry", async () => {
    const names = newNames();
    await restoreAt(0, names, [{ ageMs: 45_000, requests: 5, tokens: 50 }]);
    const keyLimits = { requestsPerMinute: 5 };
    const request = { ...names, keyLimits, accountLimits: {}, tokens: 1 };
    expect(await redis.store.admit(request, crypto.randomUUID())).toMatchObject({
      outcome: "rate",
      waitMs: 15_000,
    });
    await at(15_000);
    expect(await redis.store.admit(request, crypto.randomUUID())).toMatchObject({ outcome: "admitted" });
    const left = await redis.lifetimes(names);
    expect(left).toHaveLength(5);
    for (const ms of left) expect(ms).toBeWithin(1, 61_001);
  });

  test("expires with the admissions of Redis in its second, after the later of them", async () => {
    for (const [here, there] of [
      [100, 900],
      [900, 100],
    ] as const) {
      const names = newNames();
      await at(here);
      await admit(names, 1);
      await restoreAt(5000, names, [{ ageMs: 5000 - there, requests: 1, tokens: 2 }]);
      await at(60_899);
      expect(await counted(names)).toEqual([2, 3]);
      await at(60_900);
      expect(await counted(names)).toEqual([0, 0]);
    }
  });
});
