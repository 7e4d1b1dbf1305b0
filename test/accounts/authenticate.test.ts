import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createAuthenticate } from "../../src/accounts/authenticate.ts";
import type { Authenticate } from "../../src/accounts/key.ts";
import { issueKey, type NewKey, revokeKey } from "../../src/accounts/keys.ts";
import { createSecret, digestOf } from "../../src/accounts/secret.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "./temp-storage.ts";

const UNKNOWN = { kind: "unknown_key" };

describe.each(DIALECTS)("with keys in %s", (dialect) => {
  let books: TempStorage;
  let authenticate: Authenticate;
  beforeEach(async () => {
    books = await openTempStorage(dialect);
    authenticate = createAuthenticate({ ...books, monotonicMs: books.now });
  });
  afterEach(() => books.close());

  async function rename(keyId: string, name: string): Promise<void> {
    const { db, tables } = books.database;
    await db.update(tables.apiKeys).set({ name }).where(eq(tables.apiKeys.id, keyId));
  }

  async function newKey(request: Partial<NewKey> = {}) {
    const { id: accountId } = await books.newAccount();
    return issueKey(books, { accountId, name: "k", ...request });
  }

  describe("authenticate", () => {
    test("knows a key as soon as it is issued, also after it was refused", async () => {
      await expect(authenticate(createSecret())).rejects.toMatchObject(UNKNOWN);
      const { key, secret } = await newKey({
        limits: { requestsPerMinute: 7 },
        models: ["a"],
        allowsClamp: true,
      });
      expect(await authenticate(secret)).toEqual({ key, accountSuspended: false });
      expect(key).toMatchObject({ limits: { requestsPerMinute: 7 }, models: ["a"], allowsClamp: true });
    });

    test("refuses what is no secret, without reading the database", async () => {
      const { secret } = await newKey();
      await books.close();
      const almost = [
        "",
        secret.slice(0, -1),
        `${secret}x`,
        ` ${secret}`,
        `${secret}\n`,
        secret.toUpperCase(),
      ];
      for (const text of [undefined, ...almost, "x".repeat(1_000_000)]) {
        await expect(authenticate(text)).rejects.toMatchObject(UNKNOWN);
      }
      books = await openTempStorage(dialect);
    });

    test("refuses a secret that differs in one character", async () => {
      const { secret } = await newKey();
      const other = secret.replace(/.$/, (last) => (last === "A" ? "E" : "A"));
      await authenticate(secret);
      await expect(authenticate(other)).rejects.toMatchObject(UNKNOWN);
    });

    test("sees a revocation by another process within a second", async () => {
      const { key, secret } = await newKey();
      await authenticate(secret);
      const other = await connectDatabase(books.location);
      await revokeKey({ database: other, now: books.now }, key.id);
      await other.close();
      books.clock.nowMs += 999;
      await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("sees a revocation within a second while the key is in constant use", async () => {
      const { key, secret } = await newKey();
      await authenticate(secret);
      books.clock.nowMs += 1;
      await revokeKey(books, key.id);
      const revokedAtMs = books.clock.nowMs;
      let refusedAfterMs: number | undefined;
      while (refusedAfterMs === undefined && books.clock.nowMs < revokedAtMs + 2_000) {
        books.clock.nowMs += 10;
        await authenticate(secret).catch(() => {
          refusedAfterMs = books.clock.nowMs - revokedAtMs;
        });
      }
      expect(refusedAfterMs).toBeLessThanOrEqual(500);
    });

    test("reads the database once in half a second", async () => {
      const { key, secret } = await newKey();
      await authenticate(secret);
      await rename(key.id, "renamed");
      books.clock.nowMs += 499;
      expect((await authenticate(secret)).key.name).toBe("k");
      books.clock.nowMs += 1;
      expect((await authenticate(secret)).key.name).toBe("renamed");
    });

    test("sees an account suspended and taken back within a second", async () => {
      const { key, secret } = await newKey();
      const { db, tables } = books.database;
      const { accounts } = tables;
      for (const state of ["suspended", "active"] as const) {
        await authenticate(secret);
        await db.update(accounts).set({ state }).where(eq(accounts.id, key.accountId));
        books.clock.nowMs += 500;
        expect((await authenticate(secret)).accountSuspended).toBe(state === "suspended");
      }
    });

    test("refuses an expired key to the millisecond, however fresh the cache is", async () => {
      const { secret } = await newKey({ expiresAtMs: books.clock.nowMs + 100 });
      books.clock.nowMs += 99;
      await authenticate(secret);
      books.clock.nowMs += 1;
      await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("does not trust what it read under a wrong hour when that hour truly comes", async () => {
      const uptime = { ms: 0 };
      const trusting = createAuthenticate({ ...books, monotonicMs: () => uptime.ms });
      const { key, secret } = await newKey();
      books.clock.nowMs += 3_600_000;
      await trusting(secret);
      books.clock.nowMs -= 3_600_000;
      await revokeKey(books, key.id);
      uptime.ms += 3_600_000;
      books.clock.nowMs += 3_600_000;
      await expect(trusting(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("does not trust what it read when the clock has gone back", async () => {
      const { key, secret } = await newKey();
      await authenticate(secret);
      await revokeKey(books, key.id);
      books.clock.nowMs -= 3_600_000;
      await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("refuses a key whose account is gone", async () => {
      const { key, secret } = await newKey();
      const { db, tables } = books.database;
      await db.delete(tables.accounts).where(eq(tables.accounts.id, key.accountId));
      await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("remembers a bounded number of keys and stays right beyond it", async () => {
      const { secret, key } = await newKey();
      await authenticate(secret);
      const { db, tables } = books.database;
      const [template] = await db.select().from(tables.apiKeys);
      if (!template) throw new Error("There is no key");
      const secrets = Array.from({ length: 10_000 }, createSecret);
      for (let from = 0; from < secrets.length; from += 500) {
        const some = secrets.slice(from, from + 500);
        await db
          .insert(tables.apiKeys)
          .values(some.map((each) => ({ ...template, id: each, digest: digestOf(each) })));
      }
      for (const each of secrets) expect((await authenticate(each)).key.id).toBe(each);
      await rename(key.id, "read again");
      expect((await authenticate(secret)).key.name).toBe("read again");
    });

    test("costs a few microseconds when the key is known", async () => {
      const { secret } = await newKey();
      for (let warm = 0; warm < 2_000; warm++) await authenticate(secret);
      const cpu = process.cpuUsage();
      for (let call = 0; call < 20_000; call++) await authenticate(secret);
      // Time of the processor, of which others on the machine take nothing.
      expect(process.cpuUsage(cpu).user / 20_000).toBeLessThan(20);
    });

    test("gives out nothing that a caller could change for others", async () => {
      const { secret } = await newKey({ models: ["a"] });
      const caller = await authenticate(secret);
      expect(
        Object.isFrozen(caller) && Object.isFrozen(caller.key) && Object.isFrozen(caller.key.models),
      ).toBe(true);
    });
  });
});
