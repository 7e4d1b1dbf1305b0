import { beforeEach, describe, expect, test } from "bun:test";
import { createAccount, findAccount } from "../../src/accounts/accounts.ts";
import { COMMAND_LINE, listAuditEntries } from "../../src/accounts/audit-trail.ts";
import { createAuthenticate, findCaller } from "../../src/accounts/keys/authenticate.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { setMarkup } from "../../src/accounts/markup.ts";
import { parseMarkup } from "../../src/domain/money.ts";
import { actionsOf } from "./actors.ts";
import { DIALECTS, storageForTests } from "./temp-storage.ts";

const MARKUP = parseMarkup("1.15");

describe.each(DIALECTS)("the markup of an account in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
  });

  const set = (markup: bigint | undefined) =>
    setMarkup(storage, COMMAND_LINE, { accountId, markup, reason: "contract" });

  test("is set and removed, each with one audit entry that the account's members do not see", async () => {
    expect(await set(MARKUP)).toMatchObject({ markup: MARKUP, version: 2 });
    await set(MARKUP);
    expect((await findAccount(storage.database, accountId))?.markup).toBe(MARKUP);
    expect((await set(undefined)).markup).toBeUndefined();
    expect(await actionsOf(storage.database, accountId)).toEqual(["account.created"]);
    const entries = await listAuditEntries(
      storage.database,
      { action: "account.markup_changed" },
      { size: 10, after: undefined },
    );
    expect(entries.map(({ target, before, after }) => [target, before, after])).toEqual([
      [accountId, '{"markup":"1.15"}', '{"markup":null,"reason":"contract"}'],
      [accountId, '{"markup":null}', '{"markup":"1.15","reason":"contract"}'],
    ]);
  });

  test("reaches the callers of its keys within a second, whatever was cached", async () => {
    const { key, secret } = await issueKey(storage, { accountId, name: "k" });
    let ageMs = 0;
    const authenticate = createAuthenticate({ database: storage.database, monotonicMs: () => ageMs });
    expect((await authenticate(secret)).markup).toBeUndefined();
    await set(MARKUP);
    ageMs = 500;
    expect((await authenticate(secret)).markup).toBe(MARKUP);
    const named = { accountId, keyId: key.id, nowMs: storage.now() };
    expect((await findCaller(storage.database, named)).markup).toBe(MARKUP);
  });

  test("of an unknown account is refused, and no other account changes", async () => {
    const other = await createAccount(storage, { name: "other" });
    const change = { accountId: "nobody", markup: MARKUP, reason: "contract" };
    await expect(setMarkup(storage, COMMAND_LINE, change)).rejects.toThrow();
    await set(MARKUP);
    expect((await findAccount(storage.database, other.id))?.markup).toBeUndefined();
  });
});
