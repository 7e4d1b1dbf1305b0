import { describe, expect, test } from "bun:test";
import { useStore } from "./contract/redis-store.ts";

const redis = useStore();
const { at, admit, counted, forget, newNames, running } = redis;

describe("an ending", () => {
  test("is done once, however often it arrives", async () => {
    const names = newNames();
    await at(0);
    const ending = await admit(names, 100);
    await admit(names, 7);
    for (let time = 0; time < 3; time += 1) await redis.store.settle(ending);
    expect(await counted(names)).toEqual([1, 7]);
    expect(await running(names)).toBe(1);
  });

  test("whose admission was never answered finds it, if there was one", async () => {
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

  test("takes nothing from others when what it belonged to is lost", async () => {
    const names = newNames();
    await at(0);
    const ending = await admit(names, 1000);
    await forget(names);
    await redis.store.renew(names, ending.lease);
    expect(await running(names)).toBe(1);
    await at(1000);
    await admit(names, 50);
    await at(1999);
    await redis.store.settle(ending);
    expect(await counted(names)).toEqual([1, 50]);
    expect(await running(names)).toBe(1);
  });

  test("never counts below nothing when others of its second were lost", async () => {
    const names = newNames();
    await at(0);
    const lost = [await admit(names, 1000), await admit(names, 1000)];
    await forget(names);
    for (const { lease } of lost) await redis.store.renew(names, lease);
    await admit(names, 50);
    for (const ending of lost) await redis.store.settle(ending);
    expect(await counted(names)).toEqual([0, 0]);
    await at(1);
    await admit(names, 3);
    expect(await counted(names)).toEqual([1, 3]);
  });
});

describe("a lease", () => {
  test("that was lost comes back with its renewal", async () => {
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

  test("histories no longer than 30 s by a clock that was set back and of which nobody remembers more", async () => {
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
