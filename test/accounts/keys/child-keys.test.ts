import { beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { listAuditEntries } from "../../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../../src/accounts/keys/authenticate.ts";
import { createMakeChild } from "../../../src/accounts/keys/child-keys.ts";
import { sweepChildLimits, sweepEndedChildren } from "../../../src/accounts/keys/child-limits.ts";
import { createFindEndedKeys } from "../../../src/accounts/keys/ended-keys.ts";
import type { Authenticate } from "../../../src/accounts/keys/key.ts";
import {
  endPreviousSecret,
  ROTATION_MS,
  rotateKey,
  updateKey,
} from "../../../src/accounts/keys/key-changes.ts";
import {
  findKey,
  type IssuedKey,
  issueKey,
  type NewKey,
  revokeKey,
} from "../../../src/accounts/keys/keys.ts";
import type { NewChild } from "../../../src/accounts/keys/own-keys.ts";
import { createProject } from "../../../src/accounts/project-changes.ts";
import { connectDatabase } from "../../../src/db/database.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

const HOUR_MS = 3_600_000;
const UNKNOWN = { kind: "unknown_key" };

describe.each(DIALECTS)("keys below keys in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let authenticate: Authenticate;
  let accountId: string;
  beforeEach(async () => {
    authenticate = createAuthenticate({ ...storage, monotonicMs: storage.now });
    accountId = (await storage.newAccount()).id;
  });

  const issue = (request: Partial<NewKey> = {}) =>
    issueKey(storage, { accountId, name: "root", allowsChildren: true, ...request });
  const make = async ({ secret }: Pick<IssuedKey, "secret">, child: Partial<NewChild> = {}) => {
    const { key } = await authenticate(secret);
    const spendingLimit = { amount: 2_000_000_000n, period: "total" } as const;
    const wanted = { name: "run", spendingLimit, lifeMs: HOUR_MS, models: undefined, ...child };
    return createMakeChild(storage)({ key, secret }, wanted);
  };
  /** Lets every cached caller end. */
  const passSecond = () => {
    storage.clock.nowMs += 1_000;
  };
  const read = async (keyId: string) => {
    const key = await findKey(storage.database, { accountId, keyId });
    if (!key) throw new Error("There is no such key");
    return key;
  };

  test("a child has account, project, author and rates of its root, and a limit of its own", async () => {
    const project = await createProject(storage, { accountId, name: "Search" });
    const root = await issue({ projectId: project.id, limits: { requestsPerMinute: 7 } });
    const child = await make(root);
    const grandchild = await make(child);
    const { key } = await authenticate(grandchild.secret);
    expect(key).toMatchObject({
      accountId,
      projectId: project.id,
      limits: { requestsPerMinute: 7 },
      parentIds: [child.key.id, root.key.id],
      expiresAtMs: storage.now() + HOUR_MS,
    });
    expect(key).toEqual(grandchild.key);
    expect(Object.isFrozen(key)).toBe(true);
    const limits = await storage.ledger.spendLimits(accountId, key.id);
    expect(limits.find(({ limitId }) => limitId === key.id)).toMatchObject({
      keyId: key.id,
      amount: 2_000_000_000n,
      period: "total",
    });
    const [entry] = await listAuditEntries(storage.database, { accountId }, { size: 1, after: undefined });
    expect(entry).toMatchObject({ action: "key.created", actorKind: "api_key", actorId: child.key.id });
  });

  test("a key makes no child unless it may, and none below three keys above it", async () => {
    const plain = await issue({ allowsChildren: false });
    await expect(make(plain)).rejects.toMatchObject({ kind: "not_permitted" });
    const third = await make(await make(await make(await issue())));
    expect(third.key.parentIds).toHaveLength(3);
    expect(third.key.allowsChildren).toBe(false);
    await expect(make(third)).rejects.toMatchObject({ kind: "not_permitted" });
    // Nothing is left of a child that was refused.
    expect(await storage.ledger.spendLimits(accountId)).toHaveLength(3);
  });

  test("a key whose right is taken makes no more children, nor do the keys below it", async () => {
    const root = await issue();
    const child = await make(root);
    await updateKey(storage, root.key, { allowsChildren: false });
    passSecond();
    await expect(make(root)).rejects.toMatchObject({ kind: "not_permitted" });
    await expect(make(child)).rejects.toMatchObject({ kind: "not_permitted" });
    expect(await authenticate(child.secret)).toMatchObject({ key: { id: child.key.id } });
  });

  test("models of a child are some of its parent's, and the parent's later changes bind", async () => {
    const root = await issue({ models: ["a", "b", "c"] });
    await expect(make(root, { models: ["a", "d"] })).rejects.toMatchObject({
      kind: "wrong_shape",
      publicMessage: expect.stringContaining("models[1]"),
    });
    const some = await make(root, { models: ["a", "b"] });
    const all = await make(root);
    await updateKey(storage, root.key, { models: ["b", "e"] });
    passSecond();
    expect((await authenticate(some.secret)).key.models).toEqual(["b"]);
    expect((await authenticate(all.secret)).key.models).toEqual(["b", "e"]);
  });

  test("later rates of the root are those of every key below it", async () => {
    const root = await issue();
    const grandchild = await make(await make(root));
    await updateKey(storage, root.key, { concurrentRequests: 3 });
    passSecond();
    expect((await authenticate(grandchild.secret)).key.limits).toEqual({ concurrentRequests: 3 });
  });

  test("a revoked key ends all keys below it, and their running requests", async () => {
    const root = await issue();
    const middle = await make(root);
    const low = await make(middle);
    const other = await make(root);
    await revokeKey(storage, middle.key.id);
    passSecond();
    await expect(authenticate(low.secret)).rejects.toMatchObject(UNKNOWN);
    expect(await authenticate(other.secret)).toMatchObject({ key: { id: other.key.id } });
    const keys = [middle, low, other].map(({ key }) => key.id);
    const ended = await createFindEndedKeys(storage.database)(keys);
    expect([...ended.keys()].sort()).toEqual([middle.key.id, low.key.id].sort());
    const [entry] = await listAuditEntries(storage.database, { accountId }, { size: 1, after: undefined });
    expect(entry).toMatchObject({ action: "key.revoked", target: middle.key.id });
    expect(JSON.parse(entry?.after ?? "{}")).toEqual({ keys_below_revoked: 1 });
  });

  test("a child that an older program did not revoke with its parent is refused", async () => {
    const root = await issue();
    const child = await make(root);
    const { db, tables } = storage.database;
    await storage.database.transact((tx) => tx.update(tables.apiKeys).set({ revokedAtMs: storage.now() }));
    await db.update(tables.apiKeys).set({ revokedAtMs: null }).where(isKey(child.key.id));
    passSecond();
    await expect(authenticate(child.secret)).rejects.toMatchObject(UNKNOWN);
    const free = await issue();
    const ended = await createFindEndedKeys(storage.database)([child.key.id, free.key.id]);
    expect([...ended]).toEqual([[child.key.id, "revoked"]]);
  });

  test("a child whose parent or root was deleted is refused", async () => {
    for (const depth of [0, 1]) {
      const chain = [await issue()];
      for (let at = 0; at < 2; at += 1) chain.push(await make(chain.at(-1) ?? { secret: "" }));
      const { apiKeys } = storage.database.tables;
      const id = chain[depth]?.key.id ?? "";
      await storage.database.transact((tx) => tx.delete(apiKeys).where(eq(apiKeys.id, id)));
      passSecond();
      await expect(authenticate(chain[2]?.secret)).rejects.toMatchObject(UNKNOWN);
    }
  });

  const isKey = (id: string) => eq(storage.database.tables.apiKeys.id, id);

  test("a child ends with its parent, also when the parent's end is brought forward", async () => {
    const root = await issue({ expiresAtMs: storage.now() + 5_000 });
    const child = await make(root);
    expect(child.key.expiresAtMs).toBe(storage.now() + 5_000);
    const later = await updateKey(storage, root.key, { expiresAtMs: null });
    const longer = await make(await make(root));
    expect(longer.key.expiresAtMs).toBe(storage.now() + HOUR_MS);
    await updateKey(storage, later, { expiresAtMs: storage.now() + 2_000 });
    expect((await read(longer.key.id)).expiresAtMs).toBe(storage.now() + 2_000);
    expect((await read(child.key.id)).expiresAtMs).toBe(storage.now() + 2_000);
    storage.clock.nowMs += 2_000;
    await expect(authenticate(longer.secret)).rejects.toMatchObject(UNKNOWN);
  });

  test("keys that a secret made end with it, and those that the new secret made go on", async () => {
    const root = await issue();
    const life = { lifeMs: 10 * 24 * HOUR_MS };
    const old = await make(root, life);
    const below = await make(old, life);
    const rotated = await rotateKey(storage, root.key);
    const made = await make(rotated, life);
    expect((await read(below.key.id)).expiresAtMs).toBe(storage.now() + ROTATION_MS);
    expect((await make(root, life)).key.expiresAtMs).toBe(storage.now() + ROTATION_MS);
    await endPreviousSecret(storage, rotated.key);
    passSecond();
    for (const { secret } of [old, below]) {
      await expect(authenticate(secret)).rejects.toMatchObject(UNKNOWN);
    }
    await expect(make(root)).rejects.toMatchObject(UNKNOWN);
    expect(await authenticate(made.secret)).toMatchObject({ key: { id: made.key.id } });
  });

  test("a second rotation revokes the keys of the secret that it ends", async () => {
    const root = await issue();
    const first = await make(root);
    const once = await rotateKey(storage, root.key);
    const second = await make(once);
    await rotateKey(storage, once.key);
    expect((await read(first.key.id)).revokedAtMs).toBe(storage.now());
    expect((await read(second.key.id)).revokedAtMs).toBeUndefined();
  });

  test("a parent's secret that was rotated away after it was read makes no child", async () => {
    const root = await issue();
    const { key } = await authenticate(root.secret);
    const once = await rotateKey(storage, root.key);
    await rotateKey(storage, once.key);
    const spendingLimit = { amount: 1n, period: "total" } as const;
    const child = { name: "late", spendingLimit, lifeMs: HOUR_MS, models: undefined };
    const making = createMakeChild(storage)({ key, secret: root.secret }, child);
    await expect(making).rejects.toMatchObject(UNKNOWN);
  });

  test("a parent that moves takes the keys below it to its project", async () => {
    const project = await createProject(storage, { accountId, name: "Search" });
    const root = await issue();
    const low = await make(await make(root));
    const moved = await updateKey(storage, root.key, { projectId: project.id });
    passSecond();
    expect((await authenticate(low.secret)).key.projectId).toBe(project.id);
    expect((await read(low.key.id)).projectId).toBe(project.id);
    await updateKey(storage, moved, { projectId: null });
    expect((await read(low.key.id)).projectId).toBeUndefined();
  });

  test("a child takes no project, rates or later end of its own", async () => {
    const project = await createProject(storage, { accountId, name: "Search" });
    const child = await make(await issue({ projectId: project.id }));
    const refused = [
      { projectId: null },
      { projectId: accountId },
      { projectId: "another" },
      { requestsPerMinute: 1 },
      { concurrentRequests: 1 },
      { expiresAtMs: null },
      { expiresAtMs: storage.now() + 2 * HOUR_MS },
    ];
    const { key } = child;
    for (const changes of refused) {
      await expect(updateKey(storage, key, changes)).rejects.toMatchObject({ kind: "wrong_shape" });
    }
    const narrowed = await updateKey(storage, key, { name: "n", expiresAtMs: storage.now() + 1 });
    expect(narrowed).toMatchObject({ name: "n", expiresAtMs: storage.now() + 1 });
  });

  test("no child that is made while its root is revoked outlives it", async () => {
    const other = await connectDatabase(storage.location);
    for (let round = 0; round < 5; round += 1) {
      const root = await issue();
      const parent = await make(root);
      const makings = Array.from({ length: 8 }, () => make(parent));
      const [made] = await Promise.all([
        Promise.allSettled(makings),
        revokeKey({ ...storage, database: other }, root.key.id),
      ]);
      passSecond();
      for (const each of made) {
        if (each.status === "rejected") expect(each.reason).toMatchObject(UNKNOWN);
        else await expect(authenticate(each.value.secret)).rejects.toMatchObject(UNKNOWN);
      }
    }
    await other.close();
  });

  test("the limit of a child is removed a day after its end, and no other", async () => {
    const root = await issue({ spendingLimit: { amount: 1n, period: "day" } });
    const ended = await make(root, { lifeMs: 1_000 });
    const living = await make(root, { lifeMs: 3 * 24 * HOUR_MS });
    storage.clock.nowMs += 24 * HOUR_MS;
    expect(await sweepChildLimits(storage)).toBe(0);
    storage.clock.nowMs += 1_001;
    expect(await sweepChildLimits(storage)).toBe(1);
    expect(await sweepChildLimits(storage)).toBe(0);
    const ids = (await storage.ledger.spendLimits(accountId)).map(({ limitId }) => limitId);
    expect(ids.sort()).toEqual([root.key.id, living.key.id].sort());
    expect((await read(ended.key.id)).name).toBe("run");
  });

  test("an ended child is deleted once no receipt of its time is kept, and its audit entry stays", async () => {
    const root = await issue();
    const ended = await make(root, { lifeMs: 1_000 });
    const living = await make(root, { lifeMs: 30 * 24 * HOUR_MS });
    const below = await make(living, { lifeMs: 1_000 });
    storage.clock.nowMs += 2 * 24 * HOUR_MS;
    const keptFrom = (ms: number) => ({ ...storage, keptFromMs: async () => ms });
    expect(await sweepEndedChildren(keptFrom(storage.clock.nowMs + 30 * 24 * HOUR_MS))).toBe(0);
    await sweepChildLimits(storage);
    expect(await sweepEndedChildren(keptFrom(storage.clock.nowMs))).toBe(0);
    expect(await sweepEndedChildren(keptFrom(storage.clock.nowMs + HOUR_MS))).toBe(2);
    for (const { key } of [ended, below]) {
      expect(await findKey(storage.database, { accountId, keyId: key.id })).toBeUndefined();
    }
    expect((await read(living.key.id)).revokedAtMs).toBeUndefined();
    await expect(authenticate(ended.secret)).rejects.toMatchObject(UNKNOWN);
    const page = { size: 10, after: undefined };
    const entries = await listAuditEntries(storage.database, { accountId, action: "key.created" }, page);
    expect(entries.map(({ target }) => target)).toContain(ended.key.id);
  });

  test("a key has at most so many children in force, also when all are made at once", async () => {
    const root = await issue();
    const { key } = await authenticate(root.secret);
    const makeChild = createMakeChild({ ...storage, childrenMax: 12 });
    const spendingLimit = { amount: 1n, period: "total" } as const;
    const child = { name: "storm", spendingLimit, lifeMs: 1_000, models: undefined };
    const storm = () =>
      Promise.allSettled(Array.from({ length: 30 }, () => makeChild({ key, secret: root.secret }, child)));
    const made = await storm();
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(12);
    for (const each of made) if (each.status === "rejected") expect(each.reason.kind).toBe("conflict");
    expect(await storage.ledger.spendLimits(accountId)).toHaveLength(12);
    storage.clock.nowMs += 1_000;
    expect((await storm()).filter(({ status }) => status === "fulfilled")).toHaveLength(12);
  });
});
