import { expect, test } from "bun:test";
import { Batch } from "../../src/limiter/redis/batch.ts";
import { windowsOf } from "../../src/limiter/redis/scripts.ts";
import { createBatches } from "../../src/limiter/redis/store.ts";

const ids = { accountId: "account", keyId: "key" };
const windows = windowsOf(ids);
const request = { keyLimits: { requestsPerMinute: 5 }, accountLimits: {}, tokens: 7 };
const release = { lease: "old", second: 4, requests: 0, tokens: -3 };

const ADMITTED = [0, 0, 9, 1, 7, 60_000, 60_000, 2, 14, 60_000, 60_000];

test("requests of one event-loop turn share a call of 64 at most", async () => {
  const sizes: number[] = [];
  const batches = createBatches((batch) => {
    sizes.push(batch.size);
    batch.resolve(Array.from({ length: batch.size }, () => 1));
  });
  const settled = Array.from({ length: 70 }, () => batches.open("").settle(windows, release));
  expect(await Promise.all(settled)).toEqual(settled.map(() => true));
  expect(sizes).toEqual([64, 6]);
});

test("requests of different groups share no call", async () => {
  const sent: Batch[] = [];
  const batches = createBatches((batch) => {
    sent.push(batch);
    batch.resolve([]);
  });
  const renew = (accountId: string) =>
    batches.open(accountId).renew(windowsOf({ ...ids, accountId }), "lease");
  await Promise.all([renew("a"), renew("b"), renew("a")]);
  expect(sent.map(({ size }) => size)).toEqual([2, 1]);
});

test("a batch names each caller once, and settlements before renewals and admissions", () => {
  const batch = new Batch();
  void batch.admit(windows, request, "new");
  void batch.renew(windowsOf({ ...ids, keyId: "other" }), "kept");
  void batch.settle(windows, release);
  void batch.settle(windows, { ...release, second: undefined });
  const account = "tollgate:1:{account}";
  expect(batch.keys).toEqual([
    ...[`${account}:key:key`, `${account}:key:key:leases`],
    ...[account, `${account}:leases`],
    ...[`${account}:key:other`, `${account}:key:other:leases`],
  ]);
  const settlements = ["old", 1, 3, 4, 0, -3, "old", 1, 3, false, 0, -3];
  const limits = [5, 1e300, 1e300, 1e300, 1e300, 1e300];
  expect(JSON.parse(batch.encode())).toEqual([settlements, ["kept", 5, 3], ["new", 1, 3, 7, ...limits]]);
});

test("each request of a batch gets its part of the reply", async () => {
  const batch = new Batch();
  const admitted = batch.admit(windows, request, "new");
  const renewed = batch.renew(windows, "kept");
  const settled = [batch.settle(windows, release), batch.settle(windows, release)];
  batch.resolve([1, 0, ...ADMITTED]);
  expect(await Promise.all(settled)).toEqual([true, false]);
  expect(await renewed).toBeUndefined();
  expect(await admitted).toEqual({
    outcome: "admitted",
    waitMs: 0,
    second: 9,
    key: { requests: 1, tokens: 7, requestsResetMs: 60_000, tokensResetMs: 60_000 },
    account: { requests: 2, tokens: 14, requestsResetMs: 60_000, tokensResetMs: 60_000 },
  });
});

test("each request of a batch is rejected with its fault", async () => {
  const batch = new Batch();
  const all = [
    batch.admit(windows, request, "new"),
    batch.renew(windows, "kept"),
    batch.settle(windows, release),
  ];
  batch.reject(new Error("gone"));
  for (const each of all) await expect(each).rejects.toThrow("gone");
});

test.each([
  ["null", null],
  ["too few numbers", [0]],
  ["too many numbers", [0, 0, 0]],
  ["a string", [0, "1"]],
  ["a fraction", [0, 0.5]],
])("a reply of %s is malformed", (_, reply) => {
  const batch = new Batch();
  void batch.settle(windows, release);
  void batch.settle(windows, release);
  expect(() => batch.resolve(reply as number[])).toThrow("Redis returned a malformed script reply");
});
