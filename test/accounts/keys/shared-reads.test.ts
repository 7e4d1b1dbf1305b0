import { expect, test } from "bun:test";
import {
  createSharedReads,
  createTurnReads,
  type SharedReadsOptions,
} from "../../../src/accounts/keys/shared-reads.ts";

/** Shared reads whose results and clock the test controls. */
function scriptedReads(options: Partial<SharedReadsOptions> = {}) {
  const clock = { nowMs: 1_000 };
  const begun: PromiseWithResolvers<string>[] = [];
  const read = createSharedReads(
    () => {
      const reading = Promise.withResolvers<string>();
      begun.push(reading);
      return reading.promise;
    },
    { now: () => clock.nowMs, sharedMs: 500, ...options },
  );
  return { clock, begun, read };
}

const INTERNAL = { kind: "internal" };

test("concurrent callers of one key share one read", async () => {
  const { read, begun } = scriptedReads();
  const all = Array.from({ length: 50 }, () => read("a"));
  expect(begun).toHaveLength(1);
  begun[0]?.resolve("caller");
  const readings = await Promise.all(all);
  expect(new Set(readings)).toEqual(new Set([{ value: "caller", beganAtMs: 1_000 }]));
});

test("another key, and one key after its read has ended, start a new read", async () => {
  const { read, begun } = scriptedReads();
  const both = [read("a"), read("b")];
  for (const each of begun) each.resolve("first");
  await Promise.all(both);
  const again = read("a");
  begun[2]?.resolve("second");
  expect((await again).value).toBe("second");
  expect(begun).toHaveLength(3);
});

test("a caller does not share a read older than 500 ms, whose value may be outdated", async () => {
  const { read, begun, clock } = scriptedReads();
  const slow = read("a");
  clock.nowMs += 499;
  const sharing = read("a");
  clock.nowMs += 1;
  const fresh = read("a");
  expect(begun).toHaveLength(2);
  begun[0]?.resolve("old");
  begun[1]?.resolve("new");
  expect(await Promise.all([slow, sharing, fresh])).toEqual([
    { value: "old", beganAtMs: 1_000 },
    { value: "old", beganAtMs: 1_000 },
    { value: "new", beganAtMs: 1_500 },
  ]);
});

test("no read is shared after the clock has gone back", async () => {
  const { read, begun, clock } = scriptedReads();
  const both = [read("a")];
  clock.nowMs -= 3_600_000;
  both.push(read("a"));
  expect(begun).toHaveLength(2);
  for (const each of begun) each.resolve("caller");
  await Promise.all(both);
});

test("a failed read rejects with internal for its callers, and is not reused", async () => {
  const { read, begun } = scriptedReads();
  const both = [read("a"), read("a")];
  begun[0]?.reject(new Error("the database is away"));
  for (const each of both) await expect(each).rejects.toMatchObject(INTERNAL);
  const again = read("a");
  begun[1]?.resolve("caller");
  expect((await again).value).toBe("caller");
});

test("a read that exceeds the wait limit rejects with internal", async () => {
  const { read, begun } = scriptedReads({ waitMaxMs: 20 });
  await expect(read("a")).rejects.toMatchObject(INTERNAL);
  // A late error is ignored.
  begun[0]?.reject(new Error("the database is away"));
});

test("reads that never end are bounded in number", async () => {
  const { read, begun, clock } = scriptedReads({ waitMaxMs: 5, readsMax: 3 });
  for (let round = 0; round < 5; round++) {
    await expect(read("a")).rejects.toMatchObject(INTERNAL);
    clock.nowMs += 500;
  }
  expect(begun).toHaveLength(3);
  begun[0]?.resolve("late");
  await Promise.resolve();
  const next = read("a");
  begun[3]?.resolve("caller");
  expect((await next).value).toBe("caller");
});

test("all keys of an event-loop turn are read at once, and those of the next turn by themselves", async () => {
  const reads: (readonly string[])[] = [];
  const read = createTurnReads(async (keys) => {
    reads.push(keys);
    return new Map(keys.map((key) => [key, key.toUpperCase()]));
  });
  const first = [read("a"), read("b")];
  await Promise.resolve();
  expect(await Promise.all([...first, read("c")])).toEqual(["A", "B", "C"]);
  expect(await read("d")).toBe("D");
  expect(reads).toEqual([["a", "b", "c"], ["d"]]);
});

test("a key that cannot be read fails no other key of its turn", async () => {
  const read = createTurnReads(async (keys) => {
    if (keys.includes("broken")) throw new Error("unreadable");
    return new Map(keys.map((key) => [key, key.toUpperCase()]));
  });
  const results = await Promise.allSettled(["a", "broken", "b"].map(read));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await read("a")).toBe("A");
});

test("a database that is down fails all keys of a turn, and none of the next one", async () => {
  let isDown = true;
  const read = createTurnReads(async (keys) => {
    if (isDown) throw new Error("down");
    return new Map(keys.map((key) => [key, key]));
  });
  const both = await Promise.allSettled([read("a"), read("b")]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isDown = false;
  expect(await read("a")).toBe("a");
});
