import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { runKeyCreate, runKeyList, runKeyRevoke } from "../../src/cli/key.ts";
import { openTempStorage, type TempStorage } from "../accounts/temp-storage.ts";

const DAY_MS = 86_400_000;

let storage: TempStorage;
beforeEach(async () => {
  storage = await openTempStorage();
  await storage.newAccount("acme");
});
afterEach(() => storage.close());

const create = (options = {}) => runKeyCreate(storage, { account: "acme", name: "k", ...options });

describe("key create", () => {
  test("sets the expiry from --expires-in-days", async () => {
    const { json } = await create({ expiresInDays: 2 });
    const leftMs = Date.parse(String(json.expires_at)) - storage.clock.nowMs;
    expect(leftMs).toBe(2 * DAY_MS);
  });

  test("sets a total spending limit by default", async () => {
    const { json } = await create({ spendingLimit: 0n });
    expect(json.spending_limit).toMatchObject({ amount_usd: "0.00", reset: "total", resets_at: null });
  });

  test("rejects --reset without --spending-limit as a wrong command line", async () => {
    await expect(create({ reset: "day" })).rejects.toMatchObject({ exitCode: 2 });
    expect(await runKeyList(storage, {})).toMatchObject({ json: { keys: [] } });
  });
});

describe("key list", () => {
  test("lists only the keys of the account that --account names", async () => {
    await create();
    await storage.newAccount("other");
    expect((await runKeyList(storage, { account: "other" })).json).toEqual({ keys: [] });
    expect((await runKeyList(storage, { account: "acme" })).text.split("\n")).toHaveLength(2);
    await expect(runKeyList(storage, { account: "nobody" })).rejects.toThrow('There is no account "nobody".');
  });
});

describe("key revoke", () => {
  test("revokes nothing when a hint matches several keys", async () => {
    const { json } = await create();
    await create();
    const { db, tables } = storage.database;
    await db.update(tables.apiKeys).set({ hint: "sk-tg-same" });
    await expect(runKeyRevoke(storage, "sk-tg-same")).rejects.toThrow("name one by its id");
    expect((await runKeyList(storage, {})).text).not.toContain("revoked");
    await runKeyRevoke(storage, String(json.id));
    expect((await runKeyList(storage, {})).text.match(/revoked/g)).toHaveLength(1);
  });

  test("reports a key that was revoked before as replayed", async () => {
    const { json } = await create();
    await runKeyRevoke(storage, String(json.id));
    const again = await runKeyRevoke(storage, String(json.key));
    expect(again.json).toMatchObject({ id: json.id, revoked: true, replayed: true });
  });
});
