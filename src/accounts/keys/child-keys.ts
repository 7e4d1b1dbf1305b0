import { eq, inArray } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { platform } from "../../platform.ts";
import { recordChange } from "../audit-trail.ts";
import { lockOpenProject } from "../projects.ts";
import { describeSpendingLimit, putSpendingLimit } from "../spending-limits.ts";
import { type ApiKey, createSecret, digestOf, hintOf, rootIdOf } from "./key.ts";
import { type KeyRow, readKey } from "./key-row.ts";
import { countChildren, inherit, lockTree, PARENTS_MAX } from "./key-tree.ts";
import { describeKey, type IssuedKey } from "./keys.ts";
import type { MakeChild, NewChild } from "./own-keys.ts";

interface ChildParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "setSpendLimit" | "deleteSpendLimit">;
  readonly now?: () => number;
  /** The most keys in force that a key has made. Default: 10,000. */
  readonly childrenMax?: number;
}

const CHILDREN_MAX = 10_000;

/**
 * Returns a function that makes a key below another one, for its project and its author. It rejects with
 * `not_permitted` for a parent that may make none, `unknown_key` for one whose secret has ended meanwhile, `wrong_shape`
 * for a model that the parent may not use, and `conflict` when the parent has 10,000 keys in force or its project is
 * archived.
 */
export function createMakeChild(parts: ChildParts): MakeChild {
  const { ledger, now = platform.now } = parts;
  const inTurn = createTurns();
  return async ({ key: parent, secret: sent }, child) => {
    requireMaker(parent, child);
    const createdAtMs = now();
    const id = platform.uuidV7(createdAtMs);
    const target = { kind: "key", keyId: id } as const;
    // The spending limit comes first, so that the key is never in force without it.
    await putSpendingLimit(ledger, parent.accountId, target, child.spendingLimit, true);
    try {
      const making = { id, createdAtMs, parentId: parent.id, parentDigest: digestOf(sent), child };
      return await inTurn(rootIdOf(parent), () => store(parts, making));
    } catch (fault) {
      // Not after other faults: a key whose commit is in doubt keeps its limit.
      if (fault instanceof GatewayError) {
        await putSpendingLimit(ledger, parent.accountId, target, null).catch(() => undefined);
      }
      throw fault;
    }
  };
}

/**
 * Runs one transaction of a tree after the other. All of them lock its root: those that wait for each other would take
 * every connection to the database.
 */
function createTurns() {
  const last = new Map<string, Promise<void>>();
  return <Result>(rootId: string, run: () => Promise<Result>): Promise<Result> => {
    const running = (last.get(rootId) ?? Promise.resolve()).then(run);
    const forget = () => {
      if (last.get(rootId) === ended) last.delete(rootId);
    };
    const ended: Promise<void> = running.then(forget, forget);
    last.set(rootId, ended);
    return running;
  };
}

interface Making {
  readonly id: string;
  readonly createdAtMs: number;
  readonly parentId: string;
  readonly parentDigest: string;
  readonly child: NewChild;
}

/** Stores the key with its audit entry, with the parent's tree locked: no end of a key above misses it. */
async function store(
  { database, childrenMax = CHILDREN_MAX }: ChildParts,
  { id, createdAtMs, parentId, parentDigest, child }: Making,
): Promise<IssuedKey> {
  const { apiKeys } = database.tables;
  return database.transact(async (tx) => {
    const { row, key: parent } = await lockParent(database, tx, parentId);
    const endsAtMs = endOfParent({ row, key: parent }, parentDigest, createdAtMs);
    requireMaker(parent, child);
    const living = await countChildren(database, tx, { keyId: parentId, nowMs: createdAtMs });
    if (living >= childrenMax) throw new GatewayError("conflict");
    const { accountId, projectId, createdBy, parentIds } = parent;
    if (projectId !== undefined) await lockOpenProject(database, tx, { id: projectId, accountId });
    const [parent2Id, parent3Id] = parentIds;
    const { name, models, tiers, forbidsPaidTools, lifeMs } = child;
    const secret = createSecret();
    const owner = { accountId, projectId, createdBy, parentId, parent2Id, parent3Id, parentDigest };
    const expiresAtMs = Math.min(createdAtMs + lifeMs, endsAtMs);
    const allowsChildren = parentIds.length + 1 < PARENTS_MAX;
    const rights = { models, tiers, forbidsPaidTools, expiresAtMs, allowsChildren };
    const values = { id, name, createdAtMs, digest: digestOf(secret), hint: hintOf(secret) };
    const [inserted] = await tx
      .insert(apiKeys)
      .values({ ...values, ...owner, ...rights })
      .returning();
    if (!inserted) throw new Error("The insert returned no row");
    const key = readKey(inserted);
    const after = { ...describeKey(key), ...describeSpendingLimit(child.spendingLimit) };
    const actor = { kind: "api_key", id: parentId, name: row.hint } as const;
    const change = { accountId, action: "key.created", target: id, after };
    await recordChange(database, tx, actor, change, createdAtMs);
    const above = new Map([[parentId, parent], ...(await readKeys(database, tx, parentIds))]);
    return { key: inherit(key, above), secret };
  });
}

/** Reads a key as the keys above it bind it, with its tree locked. */
async function lockParent(
  database: Database,
  tx: Db,
  id: string,
): Promise<{ readonly row: KeyRow; readonly key: ApiKey }> {
  const { apiKeys } = database.tables;
  const [read] = await tx.select().from(apiKeys).where(eq(apiKeys.id, id));
  if (!read) throw new GatewayError("unknown_key");
  // The keys above a key never change.
  await lockTree(database, tx, readKey(read));
  const [row = read] = await tx.select().from(apiKeys).where(eq(apiKeys.id, id));
  const key = readKey(row);
  return { row, key: inherit(key, await readKeys(database, tx, key.parentIds)) };
}

async function readKeys(
  { tables: { apiKeys } }: Database,
  tx: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ApiKey>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .select()
    .from(apiKeys)
    .where(inArray(apiKeys.id, [...ids]));
  return new Map(rows.map((row) => [row.id, readKey(row)]));
}

/** Returns when a key or the secret that it was sent with ends. Throws `unknown_key` when it has ended. */
function endOfParent(
  { row, key }: { readonly row: KeyRow; readonly key: ApiKey },
  digest: string,
  nowMs: number,
): number {
  const isPrevious = row.digest !== digest;
  const isOurs = !isPrevious || row.previousDigest === digest;
  const secretEndsAtMs = isPrevious ? (row.previousEndsAtMs ?? 0) : Infinity;
  const endsAtMs = Math.min(key.expiresAtMs ?? Infinity, secretEndsAtMs);
  if (!isOurs || key.revokedAtMs !== undefined || endsAtMs <= nowMs) throw new GatewayError("unknown_key");
  return endsAtMs;
}

function requireMaker(parent: ApiKey, { models, tiers, forbidsPaidTools }: NewChild): void {
  if (!parent.allowsChildren) throw new GatewayError("not_permitted");
  if (parent.forbidsPaidTools && forbidsPaidTools === false)
    throw new GatewayError("wrong_shape", { path: "allows_paid_tools" });
  requireAmong("models", models, parent.models);
  requireAmong("tiers", tiers, parent.tiers);
}

/** Throws `wrong_shape` for a model or tier that the parent does not have. */
function requireAmong(
  name: string,
  list: readonly string[] | undefined,
  allowed: readonly string[] | undefined,
): void {
  const foreign = allowed ? (list?.findIndex((each) => !allowed.includes(each)) ?? -1) : -1;
  if (foreign >= 0) throw new GatewayError("wrong_shape", { path: `${name}[${foreign}]` });
}
