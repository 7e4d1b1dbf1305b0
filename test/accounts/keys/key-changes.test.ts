import { beforeEach, describe, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../../src/accounts/keys/authenticate.ts";
import { type ApiKey, type Authenticate, digestOf } from "../../../src/accounts/keys/key.ts";
import { ROTATION_MS, rotateKey, updateKey } from "../../../src/accounts/keys/key-changes.ts";
import { findKey, findKeys, issueKey, revokeKey } from "../../../src/accounts/keys/keys.ts";
import { connectDatabase } from "../../../src/db/database.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

const UNKNOWN = { kind: "unknown_key" };
const CONFLICT = { kind: "conflict" };

describe.each(DIALECTS)("changes of keys in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let authenticate: Authenticate;
  let accountId: string;
  beforeEach(async () => {
    authenticate = createAuthenticate({ ...storage, monotonicMs: storage.now });
    accountId = (await storage.newAccount()).id;
  });

  const issue = () => issueKey(storage, { accountId, name: "k", limits: { requestsPerMinute: 5 } });
  /** Lets every cached caller end. */
  const passSecond = () => {
    storage.clock.nowMs += 1_000;
  };
  const trail = async () =>
    (await listAuditEntries(storage.database, { accountId }, { size: 100, after: undefined })).map(
      ({ action, before, after }) => ({
        action,
        before: before === null ? undefined : JSON.parse(before),
        after: after === null ? undefined : JSON.parse(after),
      }),
    );
  const current = async (keyId: string): Promise<ApiKey> => {
    const key = await findKey(storage.database, { accountId, keyId });
    if (!key) throw new Error("There is no such key");
    return key;
  };

  describe("updateKey", () => {
    test("changes the given members, keeps the others and removes those that are null", async () => {
      const { key } = await issue();
      const changed = await updateKey(storage, key, { name: "other", tokensPerMinute: 9, models: ["a"] });
      expect(changed).toMatchObject({
        name: "other",
        limits: { requestsPerMinute: 5, tokensPerMinute: 9 },
        models: ["a"],
        version: 2,
      });
      const removed = await updateKey(storage, changed, { requestsPerMinute: null, models: null });
      expect(removed.limits).toEqual({ tokensPerMinute: 9 });
      expect(removed.models).toBeUndefined();
      expect(await current(key.id)).toEqual(removed);
    });

    test("records only the members that changed, with the change", async () => {
      const { key } = await issue();
      storage.clock.nowMs += 1;
      await updateKey(storage, key, { name: "k", requestsPerMinute: 7 });
      expect((await trail())[0]).toEqual({
        action: "key.updated",
        before: { requests_per_minute: 5 },
        after: { requests_per_minute: 7 },
      });
    });

    test("lets one of two editors of one version win, and the other's spending limit goes nowhere", async () => {
      const { key } = await issue();
      const other = await connectDatabase(storage.location);
      const edit = (database: typeof other, amount: bigint) =>
        updateKey({ ...storage, database }, key, { spendingLimit: { amount, period: "day" } });
      const edits = await Promise.allSettled([edit(storage.database, 1n), edit(other, 2n)]);
      await other.close();
      expect(edits.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(edits.find(({ status }) => status === "rejected")).toMatchObject({ reason: CONFLICT });
      const winner = edits.findIndex(({ status }) => status === "fulfilled");
      const [limit] = await storage.ledger.spendLimits(accountId, key.id);
      expect(limit?.amount).toBe(winner === 0 ? 1n : 2n);
      expect((await trail()).filter(({ action }) => action === "key.updated")).toHaveLength(1);
    });

    test("rejects an edit of a revoked key, of an older version and of a key of another account", async () => {
      const { key } = await issue();
      const changed = await updateKey(storage, key, { name: "new" });
      await expect(updateKey(storage, key, { name: "late" })).rejects.toMatchObject(CONFLICT);
      const elsewhere = { ...changed, accountId: "another" };
      await expect(updateKey(storage, elsewhere, { name: "x" })).rejects.toMatchObject({
        kind: "unknown_item",
      });
      await revokeKey(storage, key.id);
      const revoked = await current(key.id);
      await expect(updateKey(storage, revoked, { name: "x" })).rejects.toMatchObject(CONFLICT);
    });

    test("sets, replaces and removes the spending limit of the key and no other limit", async () => {
      const { key } = await issue();
      await storage.ledger.setSpendLimit({
        walletId: accountId,
        limitId: "whole",
        keyId: undefined,
        period: "month",
        amount: 9n,
      });
      const limitOf = async () =>
        (await storage.ledger.spendLimits(accountId, key.id)).find(({ limitId }) => limitId === key.id);
      const zoned = { amount: 5n, period: "week", timeZone: "Asia/Kolkata" } as const;
      const first = await updateKey(storage, key, { spendingLimit: zoned });
      expect(await limitOf()).toMatchObject(zoned);
      const second = await updateKey(storage, first, { name: "kept limit" });
      expect(await limitOf()).toMatchObject(zoned);
      await updateKey(storage, second, { spendingLimit: null });
      expect(await limitOf()).toBeUndefined();
      expect(await storage.ledger.spendLimits(accountId, key.id)).toHaveLength(1);
      storage.clock.nowMs += 1;
    });

    test("changes nothing for an unknown time zone", async () => {
      const { key } = await issue();
      const spendingLimit = { amount: 5n, period: "day", timeZone: "Mars/Base" } as const;
      const edit = updateKey(storage, key, { name: "x", spendingLimit });
      await expect(edit).rejects.toMatchObject({ kind: "wrong_shape" });
      expect(await current(key.id)).toEqual(key);
    });

    test("rejects an edit of the spending limit while another one has not reached the ledger", async () => {
      const { key } = await issue();
      const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
      const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
      const { ledger } = storage;
      const slow = {
        spendLimits: ledger.spendLimits.bind(ledger),
        deleteSpendLimit: ledger.deleteSpendLimit.bind(ledger),
        setSpendLimit: async (limit: Parameters<typeof ledger.setSpendLimit>[0]) => {
          reach();
          await mayGoOn;
          await ledger.setSpendLimit(limit);
        },
      };
      const limitOf = (amount: bigint) => ({ spendingLimit: { amount, period: "day" } }) as const;
      const first = updateKey({ ...storage, ledger: slow }, key, limitOf(1n));
      await reached;
      const early = updateKey(storage, await current(key.id), limitOf(2n));
      await expect(early).rejects.toMatchObject(CONFLICT);
      await updateKey(storage, await current(key.id), { name: "other members are free" });
      goOn();
      await first;
      await updateKey(storage, await current(key.id), limitOf(2n));
      expect((await ledger.spendLimits(accountId, key.id))[0]?.amount).toBe(2n);
    });

    test("allows the next edit of the spending limit 30 s after a process was killed in one", async () => {
      const { key } = await issue();
      const { ledger } = storage;
      const hung = {
        spendLimits: ledger.spendLimits.bind(ledger),
        setSpendLimit: () => Promise.withResolvers<void>().promise,
        deleteSpendLimit: ledger.deleteSpendLimit.bind(ledger),
      };
      const spendingLimit = { amount: 5n, period: "day" } as const;
      void updateKey({ ...storage, ledger: hung }, key, { spendingLimit });
      while ((await current(key.id)).version === 1) await Bun.sleep(5);
      const read = await current(key.id);
      await expect(updateKey(storage, read, { spendingLimit })).rejects.toMatchObject(CONFLICT);
      storage.clock.nowMs += 30_001;
      await updateKey(storage, read, { spendingLimit });
      expect(await ledger.spendLimits(accountId, key.id)).toHaveLength(1);
    });

    test("leaves the spending limit and an audit entry when the ledger fails after the version", async () => {
      const { key } = await issue();
      const { ledger } = storage;
      const failing = {
        spendLimits: ledger.spendLimits.bind(ledger),
        setSpendLimit: () => Promise.reject(new Error("down")),
        deleteSpendLimit: () => Promise.reject(new Error("down")),
      };
      const spendingLimit = { amount: 5n, period: "day" } as const;
      await expect(updateKey({ ...storage, ledger: failing }, key, { spendingLimit })).rejects.toThrow(
        "down",
      );
      expect(await ledger.spendLimits(accountId, key.id)).toEqual([]);
      expect((await trail()).map(({ action }) => action)).toContain("key.updated");
      await updateKey(storage, await current(key.id), { spendingLimit });
      expect(await ledger.spendLimits(accountId, key.id)).toHaveLength(1);
    });
  });

  describe("rotateKey", () => {
    test("accepts both secrets for 24 hours, and then the new one alone", async () => {
      const { key, secret: old } = await issue();
      const { key: rotated, secret } = await rotateKey(storage, key);
      expect(rotated).toMatchObject({ id: key.id, hint: secret.slice(0, 10), version: 2 });
      expect(rotated.previous).toEqual({ hint: key.hint, endsAtMs: storage.clock.nowMs + ROTATION_MS });
      for (const each of [old, secret]) {
        const caller = await authenticate(each);
        expect(caller.key).toEqual(rotated);
      }
      storage.clock.nowMs += ROTATION_MS - 1;
      await authenticate(old);
      storage.clock.nowMs += 1;
      await expect(authenticate(old)).rejects.toMatchObject(UNKNOWN);
      await authenticate(secret);
    });

    test("ends the old secret at its time although a cache still holds it", async () => {
      const { key, secret: old } = await issue();
      await rotateKey(storage, key);
      storage.clock.nowMs += ROTATION_MS - 100;
      await authenticate(old);
      storage.clock.nowMs += 100;
      await expect(authenticate(old)).rejects.toMatchObject(UNKNOWN);
    });

    test("accepts the old secret in every moment while the key is rotated", async () => {
      const { key, secret: old } = await issue();
      let isRotated = false;
      let uses = 0;
      const use = async () => {
        while (!isRotated) {
          // Each use is an authenticator without a cache: it reads the database.
          const fresh = createAuthenticate({ ...storage, monotonicMs: storage.now });
          expect((await fresh(old)).key.id).toBe(key.id);
          uses += 1;
          await Bun.sleep(0);
        }
      };
      const users = [use(), use(), use()];
      await Bun.sleep(20);
      await rotateKey(storage, key);
      await Bun.sleep(20);
      isRotated = true;
      await Promise.all(users);
      expect(uses).toBeGreaterThan(0);
    });

    test("lets one of two rotations of one version win, and only its secret is accepted", async () => {
      const { key, secret: old } = await issue();
      const rotations = await Promise.allSettled([rotateKey(storage, key), rotateKey(storage, key)]);
      expect(rotations.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(rotations.find(({ status }) => status === "rejected")).toMatchObject({ reason: CONFLICT });
      await authenticate(old);
      for (const rotation of rotations) {
        if (rotation.status === "fulfilled") await authenticate(rotation.value.secret);
      }
    });

    test("ends the first secret within a second when the key is rotated twice", async () => {
      const { key, secret: first } = await issue();
      const { key: once, secret: second } = await rotateKey(storage, key);
      await authenticate(first);
      const { secret: third } = await rotateKey(storage, once);
      passSecond();
      await expect(authenticate(first)).rejects.toMatchObject(UNKNOWN);
      await authenticate(second);
      await authenticate(third);
    });

    test("ends both secrets of a revoked key within a second", async () => {
      const { key, secret: old } = await issue();
      const { secret } = await rotateKey(storage, key);
      await Promise.all([authenticate(old), authenticate(secret)]);
      await revokeKey(storage, key.id);
      passSecond();
      for (const each of [old, secret]) await expect(authenticate(each)).rejects.toMatchObject(UNKNOWN);
      await expect(rotateKey(storage, await current(key.id))).rejects.toMatchObject(CONFLICT);
    });

    test("ends both secrets at the expiry of the key", async () => {
      const expiresAtMs = storage.clock.nowMs + 5_000;
      const { key, secret: old } = await issueKey(storage, { accountId, name: "k", expiresAtMs });
      const { secret } = await rotateKey(storage, key);
      storage.clock.nowMs = expiresAtMs;
      for (const each of [old, secret]) await expect(authenticate(each)).rejects.toMatchObject(UNKNOWN);
    });

    test("is found by both secrets and both hints, and stores neither secret", async () => {
      const { key, secret: old } = await issue();
      const { key: rotated, secret } = await rotateKey(storage, key);
      for (const text of [old, secret, key.hint, rotated.hint]) {
        expect(await findKeys(storage.database, text)).toEqual([rotated]);
      }
      const { db, tables } = storage.database;
      const rows = JSON.stringify([await db.select().from(tables.apiKeys), await trail()]);
      expect(rows).toContain(digestOf(secret));
      for (const each of [old, secret]) expect(rows).not.toContain(each.slice(10));
    });
  });

  test("a revocation has one audit entry, however often it is repeated", async () => {
    const { key } = await issue();
    expect(await Promise.all([revokeKey(storage, key.id), revokeKey(storage, key.id)])).toContain(true);
    await revokeKey(storage, key.id);
    const entries = (await trail()).filter(({ action }) => action === "key.revoked");
    expect(entries).toEqual([{ action: "key.revoked", before: { hint: key.hint }, after: undefined }]);
  });

  test("a key whose id is taken leaves no audit entry", async () => {
    const { key } = await issue();
    await expect(issueKey(storage, { id: key.id, accountId, name: "again" })).rejects.toMatchObject(CONFLICT);
    expect((await trail()).filter(({ action }) => action === "key.created")).toHaveLength(1);
  });
});
