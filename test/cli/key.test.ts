import { beforeEach, describe, expect, test } from "bun:test";
import { runKeyCreate, runKeyList, runKeyRevoke } from "../../src/cli/key.ts";
import { runKeyRotate, runKeyUpdate } from "../../src/cli/key-changes.ts";
import { createProgram } from "../../src/cli/program.ts";
import { storageForTests } from "../accounts/temp-storage.ts";

const DAY_MS = 86_400_000;

const storage = storageForTests();
beforeEach(async () => {
  await storage.newAccount("acme");
});

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

describe("key update", () => {
  test("changes what is named and keeps everything else", async () => {
    const { json } = await create({ requestsPerMinute: 5, spendingLimit: 7n, reset: "day" });
    const id = String(json.id);
    const changed = await runKeyUpdate(storage, id, { name: "other", tokensPerMinute: 9 });
    expect(changed.json).toMatchObject({
      name: "other",
      requests_per_minute: 5,
      tokens_per_minute: 9,
      spending_limit: { reset: "day" },
      version: 2,
    });
    const raised = await runKeyUpdate(storage, id, { spendingLimit: 8n, expiresInDays: 1 });
    expect(raised.json.spending_limit).toMatchObject({ amount_usd: "0.000000008", reset: "day" });
    expect(Date.parse(String(raised.json.expires_at))).toBe(storage.clock.nowMs + DAY_MS);
  });

  test("of nothing is refused, and leaves the version as it was", async () => {
    const { json } = await create({});
    const id = String(json.id);
    await expect(runKeyUpdate(storage, id, {})).rejects.toThrow("at least one change");
    expect((await runKeyUpdate(storage, id, { name: "other" })).json.version).toBe(2);
  });

  test("removes limits, models and expiry that are false", async () => {
    const { json } = await create({ requestsPerMinute: 5, spendingLimit: 7n, expiresInDays: 3 });
    const none = {
      requestsPerMinute: false,
      spendingLimit: false,
      models: false,
      expiresInDays: false,
    } as const;
    const changed = await runKeyUpdate(storage, String(json.id), none);
    expect(changed.json).toMatchObject({ requests_per_minute: null, spending_limit: null, expires_at: null });
  });

  test("rejects a revoked key, and --reset without an amount as a wrong command line", async () => {
    const { json } = await create();
    const id = String(json.id);
    await expect(runKeyUpdate(storage, id, { reset: "day" })).rejects.toMatchObject({ exitCode: 2 });
    await runKeyRevoke(storage, id);
    await expect(runKeyUpdate(storage, id, { name: "x" })).rejects.toThrow("The key was revoked");
  });

  test("has options for each member, with words that remove one", () => {
    const update = createProgram()
      .commands.find((each) => each.name() === "key")
      ?.commands.find((each) => each.name() === "update");
    const args = ["--spending-limit", "none", "--tokens-per-minute", "default", "--models", "all"];
    update?.parseOptions([...args, "--no-allow-clamp", "--expires-in-days", "never"]);
    expect(update?.opts()).toEqual({
      spendingLimit: false,
      tokensPerMinute: false,
      models: false,
      allowClamp: false,
      expiresInDays: false,
    });
  });
});

describe("key rotate", () => {
  test("prints the new secret once, and accepts the old one as the key's name", async () => {
    const { json } = await create();
    const rotated = await runKeyRotate(storage, String(json.key));
    expect(rotated.json).toMatchObject({ id: json.id, previous: { hint: json.hint }, version: 2 });
    expect(rotated.json.key).not.toBe(json.key);
    expect(rotated.text).toContain(String(rotated.json.key));
    expect((await runKeyList(storage, {})).text).not.toContain(String(rotated.json.key));
    const again = await runKeyRotate(storage, String(rotated.json.hint));
    expect(again.json).toMatchObject({ previous: { hint: rotated.json.hint }, version: 3 });
  });
});
