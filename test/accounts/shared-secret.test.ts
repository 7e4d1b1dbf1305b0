import { describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { openSecret, sealSecret } from "../../src/accounts/second-factor/sealed-secret.ts";
import {
  dropLostSecrets,
  LostKeyError,
  readCookieSecret,
  readSharedSecret,
  sealSharedSecrets,
} from "../../src/accounts/shared-secret.ts";
import type { Database } from "../../src/db/database.ts";
import { createMasterKeys } from "../../src/db/sealing.ts";
import { readWebhookSecret } from "../../src/delivery/webhook-worker.ts";
import { DIALECTS, storageForTests } from "./temp-storage.ts";

const [FORMER, PRESENT] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64"));

describe.each(DIALECTS)("secrets that processes share on %s", (dialect) => {
  const storage = storageForTests(dialect);
  /** The database as a process with these keys sees it. */
  const withKeys = (...keys: (string | undefined)[]): Database => ({
    ...storage.database,
    masterKeys: createMasterKeys(() => keys.filter((key) => key !== undefined)),
  });
  const dump = async () => {
    const { db, tables } = storage.database;
    return JSON.stringify(await db.select().from(tables.sharedValues));
  };

  test("without a key they are in the clear, with one a dump has none of them, and they stay the same", async () => {
    const cookie = await readCookieSecret(withKeys());
    const webhook = await readWebhookSecret(withKeys(), "rule");
    const app = await sealSecret(withKeys(), "ada", Buffer.from("the secret of the app"));
    expect(await dump()).toContain(cookie);
    const sealed = withKeys(FORMER);
    await sealSharedSecrets(sealed);
    expect(await dump()).not.toContain(cookie);
    expect((await dump()).match(/sealed:/g)).toHaveLength(3);
    expect(await readCookieSecret(sealed)).toBe(cookie);
    expect(await readWebhookSecret(sealed, "rule")).toBe(webhook);
    const opened = await openSecret(sealed, { personId: "ada", secret: app });
    expect(opened.toString()).toBe("the secret of the app");
    const fresh = await readSharedSecret(sealed, "end_user_secret");
    expect(await dump()).not.toContain(fresh);
  });

  test("a rotation seals them anew, after which the former key may go", async () => {
    const cookie = await readCookieSecret(withKeys(FORMER));
    expect(await readCookieSecret(withKeys(PRESENT, FORMER))).toBe(cookie);
    await Promise.all([1, 2].map(() => sealSharedSecrets(withKeys(PRESENT, FORMER))));
    expect(await readCookieSecret(withKeys(PRESENT))).toBe(cookie);
    await expect(readCookieSecret(withKeys(FORMER))).rejects.toBeInstanceOf(LostKeyError);
  });

  test("a missing key is named before anything is served, and a lost one is given up by a command", async () => {
    const before = await readCookieSecret(withKeys(FORMER));
    const secret = await sealSecret(withKeys(FORMER), "ada", Buffer.from("the secret of the app"));
    for (const keys of [[], [PRESENT]]) {
      const refused = sealSharedSecrets(withKeys(...keys));
      await expect(refused).rejects.toThrow(/SEALING_KEYS lacks the key [0-9a-f]{16}, .* secrets renew/);
    }
    expect(await dropLostSecrets(withKeys(FORMER))).toEqual([]);
    const renewed = await dropLostSecrets(withKeys(PRESENT));
    expect(renewed.toSorted()).toEqual(["console_cookie_secret", "second_factor_key"]);
    await sealSharedSecrets(withKeys(PRESENT));
    expect(await readCookieSecret(withKeys(PRESENT))).not.toBe(before);
    const app = openSecret(withKeys(PRESENT), { personId: "ada", secret });
    await expect(app).rejects.toMatchObject({ kind: "not_permitted" });
  });

  test("of two commands that give up a lost one, the later leaves the new one that was made between them", async () => {
    await readCookieSecret(withKeys(FORMER));
    const database = withKeys(PRESENT);
    let renewed = "";
    const transact: Database["transact"] = async (work) => {
      await dropLostSecrets(database);
      renewed = await readCookieSecret(database);
      return database.transact(work);
    };
    await dropLostSecrets({ ...database, transact });
    expect(await readCookieSecret(database)).toBe(renewed);
  });

  test("a sealed secret that was moved to another name opens nothing", async () => {
    const database = withKeys(FORMER);
    await readCookieSecret(database);
    const { sharedValues } = database.tables;
    await database.db.update(sharedValues).set({ name: sql`'webhook_secret'` });
    await expect(readWebhookSecret(database, "rule")).rejects.toBeInstanceOf(LostKeyError);
  });
});
