import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { findKeys } from "../../src/accounts/find-key.ts";
import { issueKey } from "../../src/accounts/issue-key.ts";
import { listKeys } from "../../src/accounts/list-keys.ts";
import { revokeKey } from "../../src/accounts/revoke-key.ts";
import { DIALECTS, openTempBooks, type TempBooks } from "./temp-books.ts";

describe.each(DIALECTS)("keys in %s", (dialect) => {
  let books: TempBooks;
  let accountId: string;
  beforeEach(async () => {
    books = await openTempBooks(dialect);
    accountId = (await books.newAccount()).id;
  });
  afterEach(() => books.close());

  describe("issueKey", () => {
    test("makes a secret of 43 characters behind the prefix, another one each time", async () => {
      const issued = await Promise.all(
        Array.from({ length: 50 }, () => issueKey(books, { accountId, name: "k" })),
      );
      for (const { key, secret } of issued) {
        expect(secret).toMatch(/^sk-tg-[A-Za-z0-9_-]{43}$/);
        expect(key.hint).toBe(secret.slice(0, 10));
      }
      expect(new Set(issued.map(({ secret }) => secret)).size).toBe(50);
    });

    test("stores nothing that leads back to the secret", async () => {
      const { secret } = await issueKey(books, { accountId, name: "k" });
      const stored = await readStored(books);
      expect(stored.includes(secret.slice(0, 10))).toBe(true);
      expect(stored.includes(secret.slice(10, 20))).toBe(false);
    });

    test("keeps only the limits that it was given, so that defaults fill the rest", async () => {
      const limits = { requestsPerMinute: 0, tokensPerMinute: undefined };
      const { key } = await issueKey(books, { accountId, name: "k", limits });
      expect({ requestsPerMinute: 600, tokensPerMinute: 9, concurrentRequests: 5, ...key.limits }).toEqual({
        requestsPerMinute: 0,
        tokensPerMinute: 9,
        concurrentRequests: 5,
      });
    });

    test("issues one key of two that want the same id at once", async () => {
      const id = crypto.randomUUID();
      const issue = () => issueKey(books, { id, accountId, name: "k" });
      const attempts = await Promise.allSettled([issue(), issue()]);
      expect(attempts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      await expect(issue()).rejects.toMatchObject({ kind: "conflict" });
      expect((await listKeys(books.database)).map((key) => key.id)).toEqual([id]);
    });

    test("keeps a key as it was given, its models in their order", async () => {
      const models = ["gpt-4.1", 'a "quoted" one', "ä/b"];
      const { key } = await issueKey(books, { accountId, name: "ß'\\\"", models, allowsClamp: true });
      expect(key).toMatchObject({ name: "ß'\\\"", models, allowsClamp: true });
      expect(await listKeys(books.database)).toEqual([key]);
    });

    test("sets the spending limit under the key's id", async () => {
      const spendingLimit = { amount: 5_000_000_000n, period: "day" } as const;
      const { key } = await issueKey(books, { accountId, name: "k", spendingLimit });
      const [limit] = await books.ledger.spendLimits(accountId, key.id);
      expect(limit).toMatchObject({ limitId: key.id, keyId: key.id, ...spendingLimit, used: 0n });
    });

    test("issues no key when its spending limit cannot be set", async () => {
      const spendingLimit = { amount: 1n, period: "total" } as const;
      const issuing = issueKey(books, { accountId: crypto.randomUUID(), name: "k", spendingLimit });
      await expect(issuing).rejects.toMatchObject({ code: "wallet_not_found" });
      expect(await listKeys(books.database)).toEqual([]);
    });
  });

  describe("findKeys", () => {
    test("finds by id, by hint and by the secret itself", async () => {
      const { key, secret } = await issueKey(books, { accountId, name: "k" });
      await issueKey(books, { accountId, name: "other" });
      for (const text of [key.id, key.hint, secret])
        expect(await findKeys(books.database, text)).toEqual([key]);
      for (const text of ["", "sk-tg-", "k", "%", secret.slice(0, -1)]) {
        expect(await findKeys(books.database, text)).toEqual([]);
      }
    });

    test("finds every key of a hint", async () => {
      const first = await issueKey(books, { accountId, name: "a" });
      await issueKey(books, { accountId, name: "b" });
      const { db, tables } = books.database;
      await db.update(tables.apiKeys).set({ hint: first.key.hint });
      expect(await findKeys(books.database, first.key.hint)).toHaveLength(2);
    });
  });

  describe("listKeys", () => {
    test("lists the keys of one account or of all, the oldest first and the revoked too", async () => {
      const other = await books.newAccount();
      const ids: string[] = [];
      for (const owner of [accountId, other.id, accountId]) {
        books.clock.nowMs += 1;
        ids.push((await issueKey(books, { accountId: owner, name: "k" })).key.id);
      }
      await revokeKey(books, ids[0] ?? "");
      expect((await listKeys(books.database)).map(({ id }) => id)).toEqual(ids);
      expect((await listKeys(books.database, other.id)).map(({ id }) => id)).toEqual(ids.slice(1, 2));
      expect(await listKeys(books.database, "nobody")).toEqual([]);
    });
  });

  describe("revokeKey", () => {
    test("revokes once and keeps the time of it", async () => {
      const { key } = await issueKey(books, { accountId, name: "k" });
      const revokedAtMs = books.clock.nowMs;
      expect(await revokeKey(books, key.id)).toBe(true);
      books.clock.nowMs += 1_000;
      expect(await revokeKey(books, key.id)).toBe(false);
      expect((await listKeys(books.database))[0]?.revokedAtMs).toBe(revokedAtMs);
    });

    test("revokes no other key", async () => {
      const { key } = await issueKey(books, { accountId, name: "k" });
      expect(await revokeKey(books, "unknown")).toBe(false);
      expect(await revokeKey(books, key.hint)).toBe(false);
      expect((await listKeys(books.database))[0]?.revokedAtMs).toBeUndefined();
    });
  });
});

/** Everything that the database keeps of its keys, as text. */
async function readStored({ database }: TempBooks): Promise<string> {
  if (database.dialect === "postgres") {
    const rows = await database.postgres.client.unsafe("SELECT api_keys::text AS row FROM api_keys");
    return JSON.stringify(rows);
  }
  database.sqlite.client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return readFileSync(database.sqlite.path, "latin1");
}
