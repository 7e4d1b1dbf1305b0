import { expect, test } from "bun:test";
import { createSharedReads, type SharedReadsOptions } from "../../src/accounts/shared-reads.ts";

/** Reads that the test answers, over a clock that the test moves. */
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

test("all who ask for a key at once share one read", async () => {
  const { read, begun } = scriptedReads();
  const all = Array.from({ length: 50 }, () => read("a"));
  expect(begun).toHaveLength(1);
  begun[0]?.resolve("caller");
  const readings = await Promise.all(all);
  expect(new Set(readings)).toEqual(new Set([{ value: "caller", beganAtMs: 1_000 }]));
});

test("other keys, and the same one later, are read anew", async () => {
  const { read, begun } = scriptedReads();
  const both = [read("a"), read("b")];
  for (const each of begun) each.resolve("first");
  await Promise.all(both);
  const again = read("a");
  begun[2]?.resolve("second");
  expect((await again).value).toBe("second");
  expect(begun).toHaveLength(3);
});

test("a read that began too long ago is not waited for: what it finds may be out of date", async () => {
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

test("nothing is shared when the clock has gone back", async () => {
  const { read, begun, clock } = scriptedReads();
  const both = [read("a")];
  clock.nowMs -= 3_600_000;
  both.push(read("a"));
  expect(begun).toHaveLength(2);
  for (const each of begun) each.resolve("caller");
  await Promise.all(both);
});

test("a read that fails is an internal error for all who share it, and for nobody after", async () => {
  const { read, begun } = scriptedReads();
  const both = [read("a"), read("a")];
  begun[0]?.reject(new Error("the database is away"));
  for (const each of both) await expect(each).rejects.toMatchObject(INTERNAL);
  const again = read("a");
  begun[1]?.resolve("caller");
  expect((await again).value).toBe("caller");
});

test("a database that does not answer is not waited for without end", async () => {
  const { read, begun } = scriptedReads({ waitMaxMs: 20 });
  await expect(read("a")).rejects.toMatchObject(INTERNAL);
  // What comes late, an error too, is nobody's.
  begun[0]?.reject(new Error("the database is away"));
});

test("reads that never end do not pile up", async () => {
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
