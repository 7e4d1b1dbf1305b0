import { expect, test } from "bun:test";
import { Batch } from "../../src/limiter/redis/batch.ts";
import { createBatches } from "../../src/limiter/redis/store.ts";

const ids = { accountId: "account", keyId: "key" };
const request = { ...ids, keyLimits: { requestsPerMinute: 5 }, accountLimits: {}, tokens: 7 };
const release = { ...ids, lease: "old", second: 4, requests: 0, tokens: -3 };

const ADMITTED = [0, 0, 9, 1, 7, 60_000, 60_000, 2, 14, 60_000, 60_000];

/** A reply of `batch.lua`. */
const replyOf = (...numbers: readonly number[]) => Buffer.from(Float64Array.from(numbers).buffer);

test("requests of one event-loop turn share a call of 64 at most", async () => {
  const sizes: number[] = [];
  const batches = createBatches((batch) => {
    sizes.push(batch.size);
    batch.resolve(replyOf(...Array.from({ length: batch.size }, () => 1)));
  });
  const settled = Array.from({ length: 70 }, () => batches.open("").settle(release));
  expect(await Promise.all(settled)).toEqual(settled.map(() => true));
  expect(sizes).toEqual([64, 6]);
});

test("requests of different groups share no call", async () => {
  const sent: Batch[] = [];
  const batches = createBatches((batch) => {
    sent.push(batch);
    batch.resolve(replyOf());
  });
  const renew = (accountId: string) => batches.open(accountId).renew({ ...ids, accountId }, "lease");
  await Promise.all([renew("a"), renew("b"), renew("a")]);
  expect(sent.map(({ size }) => size)).toEqual([2, 1]);
});

test("a batch names each caller and its limits once, and settlements before renewals and admissions", () => {
  const batch = new Batch();
  void batch.admit(request, "new");
  void batch.renew({ ...ids, keyId: "other" }, "kept");
  void batch.settle(release);
  void batch.settle({ ...release, second: undefined });
  void batch.admit({ ...request, tokens: 8 }, "second");
  const account = "tollgate:1:{account}";
  expect(batch.keys).toEqual([
    ...[account, `${account}:leases`],
    ...[`${account}:key:key`, `${account}:key:key:leases`],
    ...[`${account}:key:other`, `${account}:key:other:leases`],
  ]);
  const callers = [3, 1, 5, 1];
  const limits = [5, 1e300, 1e300, 1e300, 1e300, 1e300];
  const settlements = ["old", 1, 4, 0, -3, "old", 1, false, 0, -3];
  const admissions = ["new", 1, 7, 1, "second", 1, 8, 1];
  expect(JSON.parse(batch.encode())).toEqual([callers, limits, settlements, ["kept", 3], admissions]);
});

test("keys with one name of different accounts are different callers, each with its own limits", () => {
  const batch = new Batch();
  void batch.admit(request, "a");
  void batch.admit({ ...request, accountId: "other", accountLimits: { tokensPerMinute: 9 } }, "b");
  void batch.admit(request, "c");
  const limits = [5, 1e300, 1e300, 1e300, 1e300, 1e300];
  const limitsOfOther = [5, 1e300, 1e300, 1e300, 9, 1e300];
  const [callers, allLimits, , , admissions] = JSON.parse(batch.encode());
  expect(callers).toEqual([3, 1, 7, 5]);
  expect(allLimits).toEqual([...limits, ...limitsOfOther, ...limits]);
  expect(admissions).toEqual(["a", 1, 7, 1, "b", 3, 7, 7, "c", 1, 7, 13]);
});

test("each request of a batch gets its part of the reply", async () => {
  const batch = new Batch();
  const admitted = batch.admit(request, "new");
  const renewed = batch.renew(ids, "kept");
  const settled = [batch.settle(release), batch.settle(release)];
  batch.resolve(replyOf(1, 0, ...ADMITTED));
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
  const all = [batch.admit(request, "new"), batch.renew(ids, "kept"), batch.settle(release)];
  batch.reject(new Error("gone"));
  for (const each of all) await expect(each).rejects.toThrow("gone");
});

test.each([
  ["null", null],
  ["an array", [0, 1]],
  ["too few numbers", replyOf(0)],
  ["too many numbers", replyOf(0, 0, 0)],
  ["part of a number", replyOf(0, 0).subarray(1)],
  ["a fraction", replyOf(0, 0.5)],
  ["no number", replyOf(0, Number.NaN)],
])("a reply of %s is malformed", (_, reply) => {
  const batch = new Batch();
  void batch.settle(release);
  void batch.settle(release);
  expect(() => batch.resolve(reply as Buffer)).toThrow("Redis returned a malformed script reply");
});
