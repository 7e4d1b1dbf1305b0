import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { runKeyCreate, runKeyList, runKeyRevoke } from "../../src/cli/key.ts";
import { openTempStorage, type TempStorage } from "../accounts/temp-storage.ts";

const DAY_MS = 86_400_000;

let books: TempStorage;
beforeEach(async () => {
  books = await openTempStorage();
  await books.newAccount("acme");
});
afterEach(() => books.close());

const create = (options = {}) => runKeyCreate(books, { account: "acme", name: "k", ...options });

describe("key create", () => {
  test("expires the key after the days that were asked for", async () => {
    const { json } = await create({ expiresInDays: 2 });
    const leftMs = Date.parse(String(json.expires_at)) - books.clock.nowMs;
    expect(leftMs).toBe(2 * DAY_MS);
  });

  test("bounds a key without a period for ever", async () => {
    const { json } = await create({ spendingLimit: 0n });
    expect(json.spending_limit).toMatchObject({ amount_usd: "0.00", reset: "total", resets_at: null });
  });

  test("refuses a period without a limit as a wrong command line", async () => {
    await expect(create({ reset: "day" })).rejects.toMatchObject({ exitCode: 2 });
    expect(await runKeyList(books, {})).toMatchObject({ json: { keys: [] } });
  });
});

describe("key list", () => {
  test("lists the keys of one account only, when it is named", async () => {
    await create();
    await books.newAccount("other");
    expect((await runKeyList(books, { account: "other" })).json).toEqual({ keys: [] });
    expect((await runKeyList(books, { account: "acme" })).text.split("\n")).toHaveLength(2);
    await expect(runKeyList(books, { account: "nobody" })).rejects.toThrow('There is no account "nobody".');
  });
});

describe("key revoke", () => {
  test("revokes nothing when a hint stands for several keys", async () => {
    const { json } = await create();
    await create();
    const { db, tables } = books.database;
    await db.update(tables.apiKeys).set({ hint: "sk-tg-same" });
    await expect(runKeyRevoke(books, "sk-tg-same")).rejects.toThrow("name one by its id");
    expect((await runKeyList(books, {})).text).not.toContain("revoked");
    await runKeyRevoke(books, String(json.id));
    expect((await runKeyList(books, {})).text.match(/revoked/g)).toHaveLength(1);
  });

  test("says when the key was revoked before", async () => {
    const { json } = await create();
    await runKeyRevoke(books, String(json.id));
    const again = await runKeyRevoke(books, String(json.key));
    expect(again.json).toMatchObject({ id: json.id, revoked: true, replayed: true });
  });
});
