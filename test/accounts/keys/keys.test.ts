import { beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { findKeys, issueKey, listKeys, revokeKey } from "../../../src/accounts/keys/keys.ts";
import { DIALECTS, storageForTests, type TempStorage } from "../temp-storage.ts";

describe.each(DIALECTS)("keys in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
  });

  describe("issueKey", () => {
    test("creates a different secret of 43 characters after the prefix each time", async () => {
      const issued = await Promise.all(
        Array.from({ length: 50 }, () => issueKey(storage, { accountId, name: "k" })),
      );
      for (const { key, secret } of issued) {
        expect(secret).toMatch(/^sk-tg-[A-Za-z0-9_-]{43}$/);
        expect(key.hint).toBe(secret.slice(0, 10));
      }
      expect(new Set(issued.map(({ secret }) => secret)).size).toBe(50);
    });

    test("stores nothing of the secret but its hint and digest", async () => {
      const { secret } = await issueKey(storage, { accountId, name: "k" });
      const stored = await readStoredText(storage);
      expect(stored.includes(secret.slice(0, 10))).toBe(true);
      expect(stored.includes(secret.slice(10, 20))).toBe(false);
    });

    test("stores only the given limits, so that defaults apply to the others", async () => {
      const limits = { requestsPerMinute: 0, tokensPerMinute: undefined };
      const { key } = await issueKey(storage, { accountId, name: "k", limits });
      expect({ requestsPerMinute: 600, tokensPerMinute: 9, concurrentRequests: 5, ...key.limits }).toEqual({
        requestsPerMinute: 0,
        tokensPerMinute: 9,
        concurrentRequests: 5,
      });
    });

    test("issues only one of two concurrent keys with one id", async () => {
      const id = crypto.randomUUID();
      const issue = () => issueKey(storage, { id, accountId, name: "k" });
      const attempts = await Promise.allSettled([issue(), issue()]);
      expect(attempts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      await expect(issue()).rejects.toMatchObject({ kind: "conflict" });
      expect((await listKeys(storage.database)).map((key) => key.id)).toEqual([id]);
    });

    test("stores name and models of a key unchanged and in order", async () => {
      const models = ["gpt-4.1", 'a "quoted" one', "ä/b"];
      const { key } = await issueKey(storage, { accountId, name: "ß'\\\"", models, allowsClamp: true });
      expect(key).toMatchObject({ name: "ß'\\\"", models, allowsClamp: true });
      expect(await listKeys(storage.database)).toEqual([key]);
    });

    test("sets a spending limit with the id of the key", async () => {
      const spendingLimit = { amount: 5_000_000_000n, period: "day" } as const;
      const { key } = await issueKey(storage, { accountId, name: "k", spendingLimit });
      const [limit] = await storage.ledger.spendLimits(accountId, key.id);
      expect(limit).toMatchObject({ limitId: key.id, keyId: key.id, ...spendingLimit, used: 0n });
    });

    test("issues no key when its spending limit cannot be set", async () => {
      const spendingLimit = { amount: 1n, period: "total" } as const;
      const issuing = issueKey(storage, { accountId: crypto.randomUUID(), name: "k", spendingLimit });
      await expect(issuing).rejects.toMatchObject({ code: "wallet_not_found" });
      expect(await listKeys(storage.database)).toEqual([]);
    });
  });

  describe("findKeys", () => {
    test("finds a key by its id, its hint or its secret", async () => {
      const { key, secret } = await issueKey(storage, { accountId, name: "k" });
      await issueKey(storage, { accountId, name: "other" });
      for (const text of [key.id, key.hint, secret])
        expect(await findKeys(storage.database, text)).toEqual([key]);
      for (const text of ["", "sk-tg-", "k", "%", secret.slice(0, -1)]) {
        expect(await findKeys(storage.database, text)).toEqual([]);
      }
    });

    test("finds every key with a hint", async () => {
      const first = await issueKey(storage, { accountId, name: "a" });
      await issueKey(storage, { accountId, name: "b" });
      const { db, tables } = storage.database;
      await db.update(tables.apiKeys).set({ hint: first.key.hint });
      expect(await findKeys(storage.database, first.key.hint)).toHaveLength(2);
    });
  });

  describe("listKeys", () => {
    test("lists the keys of one account or of all, oldest first, including revoked ones", async () => {
      const other = await storage.newAccount();
      const ids: string[] = [];
      for (const owner of [accountId, other.id, accountId]) {
        storage.clock.nowMs += 1;
        ids.push((await issueKey(storage, { accountId: owner, name: "k" })).key.id);
      }
      await revokeKey(storage, ids[0] ?? "");
      expect((await listKeys(storage.database)).map(({ id }) => id)).toEqual(ids);
      expect((await listKeys(storage.database, other.id)).map(({ id }) => id)).toEqual(ids.slice(1, 2));
      expect(await listKeys(storage.database, "nobody")).toEqual([]);
    });
  });

  describe("revokeKey", () => {
    test("revokes a key once and keeps the time of the first revocation", async () => {
      const { key } = await issueKey(storage, { accountId, name: "k" });
      const revokedAtMs = storage.clock.nowMs;
      expect(await revokeKey(storage, key.id)).toBe(true);
      storage.clock.nowMs += 1_000;
      expect(await revokeKey(storage, key.id)).toBe(false);
      expect((await listKeys(storage.database))[0]?.revokedAtMs).toBe(revokedAtMs);
    });

    test("revokes nothing for an unknown id or a hint", async () => {
      const { key } = await issueKey(storage, { accountId, name: "k" });
      expect(await revokeKey(storage, "unknown")).toBe(false);
      expect(await revokeKey(storage, key.hint)).toBe(false);
      expect((await listKeys(storage.database))[0]?.revokedAtMs).toBeUndefined();
    });
  });
});

/** Returns all stored columns of all keys, as text. */
async function readStoredText({ database }: TempStorage): Promise<string> {
  if (database.dialect === "postgres") {
    const rows = await database.postgres.client.unsafe("SELECT api_keys::text AS row FROM api_keys");
    return JSON.stringify(rows);
  }
  database.sqlite.client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return readFileSync(database.sqlite.path, "latin1");
}
