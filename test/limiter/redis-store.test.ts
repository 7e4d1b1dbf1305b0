import { describe, expect, test } from "bun:test";
import { useStore } from "./contract/redis-store.ts";

const redis = useStore();
const { at, admit, counted, forget, newNames, running } = redis;

describe("a release", () => {
  test("takes effect once, however often it is sent", async () => {
    const names = newNames();
    await at(0);
    const release = await admit(names, 100);
    await admit(names, 7);
    for (let time = 0; time < 3; time += 1) await redis.store.settle(release);
    expect(await counted(names)).toEqual([1, 7]);
    expect(await running(names)).toBe(1);
  });

  test("without a second finds the admission whose answer was lost, if there was one", async () => {
    const names = newNames();
    await at(4321);
    const answered = await admit(names, 7);
    const unanswered = await admit(names, 100);
    await at(14_321);
    await admit(names, 500);
    await redis.store.settle({ ...unanswered, second: undefined });
    await redis.store.settle({ ...answered, second: undefined, lease: crypto.randomUUID() });
    expect(await counted(names)).toEqual([2, 507]);
    expect(await running(names)).toBe(2);
  });

  test("reduces no other counts when its own admission was lost", async () => {
    const names = newNames();
    await at(0);
    const release = await admit(names, 1000);
    await forget(names);
    await redis.store.renew(names, release.lease);
    expect(await running(names)).toBe(1);
    await at(1000);
    await admit(names, 50);
    await at(1999);
    await redis.store.settle(release);
    expect(await counted(names)).toEqual([1, 50]);
    expect(await running(names)).toBe(1);
  });

  test("never makes a count negative when other admissions of its second were lost", async () => {
    const names = newNames();
    await at(0);
    const lost = [await admit(names, 1000), await admit(names, 1000)];
    await forget(names);
    for (const { lease } of lost) await redis.store.renew(names, lease);
    await admit(names, 50);
    for (const release of lost) await redis.store.settle(release);
    expect(await counted(names)).toEqual([0, 0]);
    await at(1);
    await admit(names, 3);
    expect(await counted(names)).toEqual([1, 3]);
  });
});

describe("a lease", () => {
  test("that was lost is restored by its renewal", async () => {
    const names = newNames();
    await at(0);
    const { lease } = await admit(names, 1);
    await forget(names);
    await redis.store.renew(names, lease);
    await at(29_999);
    expect(await running(names)).toBe(1);
    await at(30_000);
    expect(await running(names)).toBe(0);
  });

  test("lives at most 30 s by a clock set back when its window was lost", async () => {
    const names = newNames();
    await at(3_600_000);
    await admit(names, 1);
    await forget(names, (key) => !key.endsWith(":leases"));
    await at(0);
    expect(await running(names)).toBe(1);
    await at(30_000);
    expect(await running(names)).toBe(0);
  });
});
