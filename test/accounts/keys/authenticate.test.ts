import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createAuthenticate } from "../../../src/accounts/keys/authenticate.ts";
import type { Authenticate } from "../../../src/accounts/keys/key.ts";
import { createSecret, digestOf } from "../../../src/accounts/keys/key.ts";
import { rotateKey } from "../../../src/accounts/keys/key-changes.ts";
import { issueKey, type NewKey, revokeKey } from "../../../src/accounts/keys/keys.ts";
import { connectDatabase } from "../../../src/db/database.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "../temp-storage.ts";

const UNKNOWN = { kind: "unknown_key" };

describe.each(DIALECTS)("with keys in %s", (dialect) => {
  let storage: TempStorage;
  let authenticate: Authenticate;
  beforeEach(async () => {
    storage = await openTempStorage(dialect);
    authenticate = createAuthenticate({ ...storage, monotonicMs: storage.now });
  });
  afterEach(() => storage.close());

  async function rename(keyId: string, name: string): Promise<void> {
    const { db, tables } = storage.database;
    await db.update(tables.apiKeys).set({ name }).where(eq(tables.apiKeys.id, keyId));
  }

  async function newKey(request: Partial<NewKey> = {}) {
    const { id: accountId } = await storage.newAccount();
    return issueKey(storage, { accountId, name: "k", ...request });
  }

  describe("authenticate", () => {
    test("accepts a key right after it was issued, also when an unknown secret came before", async () => {
      await expect(authenticate(createSecret())).rejects.toMatchObject(UNKNOWN);
      const { key, secret } = await newKey({
        limits: { requestsPerMinute: 7 },
        models: ["a"],
        allowsClamp: true,
      });
      expect(await authenticate(secret)).toEqual({ key, accountSuspended: false, hasScopes: false });
      expect(key).toMatchObject({ limits: { requestsPerMinute: 7 }, models: ["a"], allowsClamp: true });
    });

    test("accepts current and replaced secrets at once, and rejects unknown ones among them", async () => {
      const [first, second, third] = [await newKey(), await newKey(), await newKey()];
      const rotated = await rotateKey(storage, first.key);
      await revokeKey(storage, second.key.id);
      const secrets = [first.secret, second.secret, third.secret, rotated.secret, createSecret()];
      const callers = await Promise.allSettled(secrets.map((secret) => authenticate(secret)));
      const ids = callers.map((each) => (each.status === "fulfilled" ? each.value.key.id : "rejected"));
      expect(ids).toEqual([first.key.id, "rejected", third.key.id, first.key.id, "rejected"]);
    });

    test("rejects texts without the form of a secret and does not read the database", async () => {
      const { secret } = await newKey();
      await storage.close();
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
      storage = await openTempStorage(dialect);
    });

    test("rejects a secret that differs in one character", async () => {
      const { secret } = await newKey();
      const other = secret.replace(/.$/, (last) => (last === "A" ? "E" : "A"));
      await authenticate(secret);
      await expect(authenticate(other)).rejects.toMatchObject(UNKNOWN);
    });

    test("rejects a key within a second after another process revoked it", async () => {
      const { key, secret } = await newKey();
      await authenticate(secret);
      const other = await connectDatabase(storage.location);
      await revokeKey({ database: other, now: storage.now }, key.id);
      await other.close();
      storage.clock.nowMs += 999;
      await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("rejects a revoked key within a second while the key is in constant use", async () => {
      const { key, secret } = await newKey();
      await authenticate(secret);
      storage.clock.nowMs += 1;
      await revokeKey(storage, key.id);
      const revokedAtMs = storage.clock.nowMs;
      let refusedAfterMs: number | undefined;
      while (refusedAfterMs === undefined && storage.clock.nowMs < revokedAtMs + 2_000) {
        storage.clock.nowMs += 10;
        await Promise.resolve(authenticate(secret)).catch(() => {
          refusedAfterMs = storage.clock.nowMs - revokedAtMs;
        });
      }
      expect(refusedAfterMs).toBeLessThanOrEqual(500);
    });

    test("reads the database at most once in half a second", async () => {
      const { key, secret } = await newKey();
      await authenticate(secret);
      await rename(key.id, "renamed");
      storage.clock.nowMs += 499;
      expect((await authenticate(secret)).key.name).toBe("k");
      storage.clock.nowMs += 1;
      expect((await authenticate(secret)).key.name).toBe("renamed");
    });

    test("reports within a second that an account is suspended or active again", async () => {
      const { key, secret } = await newKey();
      const { db, tables } = storage.database;
      const { accounts } = tables;
      for (const state of ["suspended", "active"] as const) {
        await authenticate(secret);
        await db.update(accounts).set({ state }).where(eq(accounts.id, key.accountId));
        storage.clock.nowMs += 500;
        expect((await authenticate(secret)).accountSuspended).toBe(state === "suspended");
      }
    });

    test("rejects a cached key at the millisecond of its expiry", async () => {
      const { secret } = await newKey({ expiresAtMs: storage.clock.nowMs + 100 });
      storage.clock.nowMs += 99;
      await authenticate(secret);
      storage.clock.nowMs += 1;
      await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("does not use a caller that was cached while the wall clock was an hour ahead", async () => {
      const uptime = { ms: 0 };
      const trusting = createAuthenticate({ ...storage, monotonicMs: () => uptime.ms });
      const { key, secret } = await newKey();
      storage.clock.nowMs += 3_600_000;
      await trusting(secret);
      storage.clock.nowMs -= 3_600_000;
      await revokeKey(storage, key.id);
      uptime.ms += 3_600_000;
      storage.clock.nowMs += 3_600_000;
      await expect(trusting(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("reads the key again after the clock has gone back", async () => {
      const { key, secret } = await newKey();
      await authenticate(secret);
      await revokeKey(storage, key.id);
      storage.clock.nowMs -= 3_600_000;
      await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("rejects a key whose account was deleted", async () => {
      const { key, secret } = await newKey();
      const { db, tables } = storage.database;
      await db.delete(tables.accounts).where(eq(tables.accounts.id, key.accountId));
      await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
    });

    test("caches 10,000 keys and reads the oldest one again beyond that", async () => {
      const { secret, key } = await newKey();
      await authenticate(secret);
      const { db, tables } = storage.database;
      const [template] = await db.select().from(tables.apiKeys);
      if (!template) throw new Error("There is no key");
      const secrets = Array.from({ length: 10_000 }, createSecret);
      for (let from = 0; from < secrets.length; from += 500) {
        const some = secrets.slice(from, from + 500);
        await db
          .insert(tables.apiKeys)
          .values(some.map((each) => ({ ...template, id: each, digest: digestOf(each) })));
        const callers = await Promise.all(some.map((each) => authenticate(each)));
        expect(callers.map((caller) => caller.key.id)).toEqual(some);
      }
      await rename(key.id, "read again");
      expect((await authenticate(secret)).key.name).toBe("read again");
    });

    test("takes less than 20 µs of CPU for a cached key", async () => {
      const { secret } = await newKey();
      for (let warm = 0; warm < 2_000; warm++) await authenticate(secret);
      const cpu = process.cpuUsage();
      for (let call = 0; call < 20_000; call++) await authenticate(secret);
      // Time of the processor, of which others on the machine take nothing.
      expect(process.cpuUsage(cpu).user / 20_000).toBeLessThan(20);
    });

    test("returns a frozen caller, which later callers share", async () => {
      const { secret } = await newKey({ models: ["a"] });
      const caller = await authenticate(secret);
      expect(
        Object.isFrozen(caller) && Object.isFrozen(caller.key) && Object.isFrozen(caller.key.models),
      ).toBe(true);
    });
  });
});
