import { beforeEach, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../../src/accounts/keys/authenticate.ts";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import {
  findManagementKey,
  issueManagementKey,
  listManagementKeys,
  revokeManagementKey,
} from "../../../src/accounts/keys/management-keys.ts";
import { actionsOf, addMember, addPerson } from "../actors.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

describe.each(DIALECTS)("management keys in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let owner: Actor;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
    owner = await addMember(storage.database, accountId, "owner");
  });

  const issue = (expiresAtMs?: number) =>
    issueManagementKey(storage, owner, { accountId, role: "developer", name: "deploy", expiresAtMs });
  const find = (secret: string) => findManagementKey(storage.database, secret, storage.clock.nowMs);

  test("a key is found by its secret, with its role in its account alone", async () => {
    const { key, secret } = await issue();
    expect(secret).toMatch(/^mk-tg-[\w-]{43}$/);
    expect(await find(secret)).toEqual({
      kind: "management_key",
      id: key.id,
      name: secret.slice(0, 10),
      isOperator: false,
      role: { accountId, role: "developer" },
      acting: undefined,
      session: undefined,
      address: undefined,
    });
  });

  test("no table holds the secret", async () => {
    const { secret } = await issue();
    const { db, tables } = storage.database;
    const rows = [await db.select().from(tables.managementKeys), await db.select().from(tables.auditEntries)];
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(12));
  });

  test("a key of the platform is an operator in no account", async () => {
    const platform = { accountId: undefined, role: "operator" } as const;
    const operator = await addPerson(storage.database, { isOperator: true });
    const { secret } = await issueManagementKey(storage, operator, {
      ...platform,
      name: "ci",
      expiresAtMs: undefined,
    });
    expect(await find(secret)).toMatchObject({ isOperator: true, role: undefined });
    expect(await listManagementKeys(storage.database, accountId)).toEqual([]);
    expect(await listManagementKeys(storage.database, undefined)).toHaveLength(1);
  });

  test("a revoked key is unknown at once", async () => {
    const { key, secret } = await issue();
    await revokeManagementKey(storage, owner, { id: key.id, accountId });
    expect(await find(secret)).toBeUndefined();
    const again = revokeManagementKey(storage, owner, { id: key.id, accountId });
    await expect(again).rejects.toMatchObject({ kind: "unknown_item" });
    const actions = (await actionsOf(storage.database, accountId)).slice(1);
    expect(actions).toEqual(["management_key.created", "management_key.revoked"]);
  });

  test("another account, and the platform, cannot revoke a key", async () => {
    const { key, secret } = await issue();
    for (const other of [(await storage.newAccount()).id, undefined]) {
      const revoked = revokeManagementKey(storage, owner, { id: key.id, accountId: other });
      await expect(revoked).rejects.toMatchObject({ kind: "unknown_item" });
    }
    expect(await find(secret)).toBeDefined();
  });

  test("a key ends at its expiry, which cannot be in the past", async () => {
    const { secret } = await issue(storage.clock.nowMs + 1_000);
    storage.clock.nowMs += 999;
    expect(await find(secret)).toBeDefined();
    storage.clock.nowMs += 1;
    expect(await find(secret)).toBeUndefined();
    await expect(issue(storage.clock.nowMs)).rejects.toMatchObject({ kind: "wrong_shape" });
  });

  test("a use is recorded at most once a minute", async () => {
    const { secret } = await issue();
    const lastUse = async () => (await listManagementKeys(storage.database, accountId))[0]?.lastUsedAtMs;
    const first = storage.clock.nowMs;
    await find(secret);
    while ((await lastUse()) !== first) await Bun.sleep(5);
    storage.clock.nowMs += 59_999;
    await find(secret);
    await storage.database.transact(async () => undefined);
    expect(await lastUse()).toBe(first);
    storage.clock.nowMs += 1;
    await find(secret);
    while ((await lastUse()) === first) await Bun.sleep(5);
    expect(await lastUse()).toBe(first + 60_000);
  });

  test("a management key never authenticates at /v1, and an API key never at the console", async () => {
    const { secret } = await issue();
    const authenticate = createAuthenticate({ database: storage.database });
    await expect(authenticate(secret)).rejects.toMatchObject({ kind: "unknown_key" });
    const key = await issueKey(storage, { accountId, name: "k" });
    expect(await find(key.secret)).toBeUndefined();
    expect(await find(key.secret.replace("sk-", "mk-"))).toBeUndefined();
  });

  test("a text of another form is no management key", async () => {
    for (const text of ["", "mk-tg-", "mk-tg-short", `mk-tg-${"é".repeat(43)}`, `xmk-tg-${"a".repeat(43)}`]) {
      expect(await find(text)).toBeUndefined();
    }
  });
});
