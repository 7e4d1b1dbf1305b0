import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { accounts, apiKeys } from "../../src/db/sqlite/schema.ts";
import { createAuthenticate } from "../../src/keys/authenticate.ts";
import { issueKey, type NewKey } from "../../src/keys/issue.ts";
import type { Authenticate } from "../../src/keys/key.ts";
import { revokeKey } from "../../src/keys/revoke.ts";
import { createSecret, digestOf } from "../../src/keys/secret.ts";
import { openTempBooks, type TempBooks } from "../accounts/temp-books.ts";

let books: TempBooks;
let authenticate: Authenticate;
beforeEach(() => {
  books = openTempBooks();
  authenticate = createAuthenticate(books);
});
afterEach(() => books.close());

async function newKey(request: Partial<NewKey> = {}) {
  const { id: accountId } = await books.newAccount();
  return issueKey(books, { accountId, name: "k", ...request });
}

const UNKNOWN = { kind: "unknown_key" };

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
    books.database.close();
    const almost = ["", secret.slice(0, -1), `${secret}x`, ` ${secret}`, `${secret}\n`, secret.toUpperCase()];
    for (const text of [undefined, ...almost, "x".repeat(1_000_000)]) {
      await expect(authenticate(text)).rejects.toMatchObject(UNKNOWN);
    }
    books = openTempBooks();
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
    const other = openDatabase(books.path);
    revokeKey({ database: other, now: books.now }, key.id);
    other.close();
    books.clock.nowMs += 999;
    await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
  });

  test("sees a revocation within a second while the key is in constant use", async () => {
    const { key, secret } = await newKey();
    await authenticate(secret);
    books.clock.nowMs += 1;
    revokeKey(books, key.id);
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
    books.database.db.update(apiKeys).set({ name: "renamed" }).where(eq(apiKeys.id, key.id)).run();
    books.clock.nowMs += 499;
    expect((await authenticate(secret)).key.name).toBe("k");
    books.clock.nowMs += 1;
    expect((await authenticate(secret)).key.name).toBe("renamed");
  });

  test("sees an account suspended and taken back within a second", async () => {
    const { key, secret } = await newKey();
    for (const state of ["suspended", "active"] as const) {
      await authenticate(secret);
      books.database.db.update(accounts).set({ state }).where(eq(accounts.id, key.accountId)).run();
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

  test("does not trust what it read when the clock has gone back", async () => {
    const { key, secret } = await newKey();
    await authenticate(secret);
    revokeKey(books, key.id);
    books.clock.nowMs -= 3_600_000;
    await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
  });

  test("refuses a key whose account is gone", async () => {
    const { key, secret } = await newKey();
    books.database.db.delete(accounts).where(eq(accounts.id, key.accountId)).run();
    await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
  });

  test("remembers a bounded number of keys and stays right beyond it", async () => {
    const { secret, key } = await newKey();
    await authenticate(secret);
    const { db } = books.database;
    const template = db.select().from(apiKeys).all();
    const secrets = Array.from({ length: 10_000 }, createSecret);
    db.transaction((tx) => {
      for (const each of secrets) {
        const rows = template.map((row) => ({ ...row, id: each, digest: digestOf(each) }));
        tx.insert(apiKeys).values(rows).run();
      }
    });
    for (const each of secrets) expect((await authenticate(each)).key.id).toBe(each);
    db.update(apiKeys).set({ name: "read again" }).where(eq(apiKeys.id, key.id)).run();
    expect((await authenticate(secret)).key.name).toBe("read again");
  });

  test("costs a few microseconds when the key is known", async () => {
    const { secret } = await newKey();
    for (let warm = 0; warm < 2_000; warm++) await authenticate(secret);
    const startedAtNs = Bun.nanoseconds();
    for (let call = 0; call < 20_000; call++) await authenticate(secret);
    expect((Bun.nanoseconds() - startedAtNs) / 20_000).toBeLessThan(20_000);
  });

  test("gives out nothing that a caller could change for others", async () => {
    const { secret } = await newKey({ models: ["a"] });
    const caller = await authenticate(secret);
    expect(Object.isFrozen(caller) && Object.isFrozen(caller.key) && Object.isFrozen(caller.key.models)).toBe(
      true,
    );
  });
});
