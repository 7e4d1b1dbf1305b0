import { eq } from "drizzle-orm";
import type { ApiKey } from "../../src/accounts/keys/key.ts";
import type { KeyChanges } from "../../src/accounts/keys/key-changes.ts";
import { endPreviousSecret, ROTATION_MS, rotateKey, updateKey } from "../../src/accounts/keys/key-changes.ts";
import { findKey, issueKey, type OnIssued, revokeKey } from "../../src/accounts/keys/keys.ts";
import type { Database } from "../../src/db/database.ts";
import { platform } from "../../src/platform.ts";
import { drawInteger, drawOne, type RandomSource } from "../support/seeded-random.ts";
import { keysBelow, strikeChildren } from "./child-operators.ts";
import type { SimulatedGateway } from "./gateway.ts";
import { KeyHistory, type KeyState } from "./key-model.ts";
import { type SimulatedOwner, whileBusy } from "./project-operators.ts";
import { drawKeyLimits } from "./reloads.ts";
import type { SimulatedKey, World } from "./world.ts";

const KEYS_MAX = 40;

/** Issues a key of an account. */
export async function createKey(world: World, walletId: string): Promise<void> {
  const { draw } = world.scheduler;
  const limits = drawKeyLimits(draw);
  const spendingLimit = draw() < 0.2 ? drawSpendingLimit(draw) : undefined;
  const name = `key ${world.sent} ${world.keys.length}`;
  const expiresAtMs = undefined;
  const allowsChildren = draw() < 0.4;
  const owner = world.owners.get(walletId);
  const { project, memberId } = drawOwner(owner, draw);
  const projectId = project?.id;
  const request = { accountId: walletId, name, limits, spendingLimit, allowsChildren, projectId };
  const issue = ({ database, ledger }: SimulatedGateway) =>
    issueKey({ database, ledger, issued: ofMember(database, memberId) }, request);
  const { key, secret } = await whileBusy(project, () => world.command("an operator creates a key", issue));
  const state = { limits, expiresAtMs, isRevoked: false, secrets: [{ text: secret }] };
  world.keys.push({
    id: key.id,
    walletId,
    secrets: [secret],
    history: new KeyHistory(world.scheduler, state),
    spendingLimit,
    isLimitKept: spendingLimit !== undefined,
    makesChildren: allowsChildren,
    parents: [],
    scopes: owner
      ? [`project ${projectId ?? walletId}`, ...(memberId === undefined ? [] : [`member ${memberId}`])]
      : [],
  });
}

/** Draws an open project, or the default one, and who makes a key. */
function drawOwner(owner: SimulatedOwner | undefined, draw: RandomSource) {
  if (!owner) return { project: undefined, memberId: undefined };
  const open = owner.projects.filter(({ isArchived, busy }) => !isArchived && busy === 0);
  return {
    project: open.length > 0 && draw() < 0.7 ? drawOne(draw, open) : undefined,
    memberId: draw() < 0.7 ? drawOne(draw, owner.memberIds) : undefined,
  };
}

/** Notes a person as the author of a key, in the transaction that stores it. */
function ofMember({ tables: { apiKeys } }: Database, createdBy: string | undefined): OnIssued {
  return async (tx, { key }) => {
    if (createdBy !== undefined) await tx.update(apiKeys).set({ createdBy }).where(eq(apiKeys.id, key.id));
  };
}

function drawSpendingLimit(draw: RandomSource) {
  const period = drawOne(draw, ["total", "day"] as const);
  return { amount: BigInt(drawInteger(draw, 200_000, 9_000_000)), period, timeZone: "UTC" };
}

/** May change keys. */
export function strikeKeys(world: World): void {
  const { luck, scheduler } = world;
  const { draw } = scheduler;
  strikeChildren(world);
  if (luck.strikes("key_created") && world.keys.length < KEYS_MAX)
    void createKey(world, drawOne(draw, world.keys).walletId);
  if (luck.strikes("key_revoked")) revoke(world);
  if (luck.strikes("key_rotated")) changeOne(world, rotate, isRotated);
  if (luck.strikes("old_secret_ended")) changeOne(world, endPrevious, isRotated);
  if (luck.strikes("key_limits_changed")) {
    const limits = drawKeyLimits(draw);
    const { requestsPerMinute = null, tokensPerMinute = null, concurrentRequests = null } = limits;
    const changes = { requestsPerMinute, tokensPerMinute, concurrentRequests };
    changeOne(world, update(changes, { limits }), isTop);
  }
  if (luck.strikes("key_expiry_changed")) {
    const expiresAtMs = draw() < 0.3 ? undefined : platform.now() + drawInteger(draw, 0, 60_000);
    changeOne(world, changeExpiry(expiresAtMs), isFree(world));
  }
  if (luck.strikes("spending_limit_changed")) {
    const spendingLimit = draw() < 0.3 ? null : drawSpendingLimit(draw);
    changeOne(
      world,
      async (_, key) => {
        key.isLimitKept = false;
        await update({ spendingLimit }, {})(world, key);
        key.spendingLimit = spendingLimit ?? undefined;
      },
      isTop,
    );
  }
}

type KeyChoice = (key: SimulatedKey) => boolean;

const isAny: KeyChoice = () => true;
/** Keys that keys made have no rates of their own, and keep their limit. */
const isTop: KeyChoice = ({ parents }) => parents.length === 0;
/** The keys below a key would end with its secret. */
const isRotated: KeyChoice = (key) => isTop(key) && !key.history.hasChildren && key.history.making === 0;

/** An earlier end of a key brings that of the keys below it forward: nobody else may be at them. */
function isFree(world: World): KeyChoice {
  return (key) =>
    isTop(key) &&
    key.history.making === 0 &&
    keysBelow(world, key).every(({ history }) => !history.isChanging && history.making === 0);
}

function changeExpiry(expiresAtMs: number | undefined): KeyWork {
  return async (world, key) => {
    const below = keysBelow(world, key).filter(({ history }) => !history.latest.isRevoked);
    for (const { history } of below) {
      history.isChanging = true;
      const ends = [expiresAtMs, history.latest.expiresAtMs].filter((ms) => ms !== undefined);
      history.begin({ expiresAtMs: Math.min(...ends) });
    }
    await update({ expiresAtMs: expiresAtMs ?? null }, { expiresAtMs })(world, key);
    for (const { history } of below) {
      history.end();
      history.isChanging = false;
    }
  };
}

type KeyWork = (world: World, key: SimulatedKey) => Promise<void>;

/** Changes a key that no one else changes; one of `preferred` if there is any. */
function changeOne(
  world: World,
  change: KeyWork,
  isChoice: KeyChoice = isAny,
  preferred = new Set<SimulatedKey>(),
): void {
  const all = world.keys.filter(
    (key) => !key.history.isChanging && !key.history.latest.isRevoked && isChoice(key),
  );
  const some = all.filter((key) => preferred.has(key));
  const free = some.length > 0 ? some : all;
  if (free.length > 0) void changing(world, drawOne(world.scheduler.draw, free), change);
}

async function changing(world: World, key: SimulatedKey, change: KeyWork): Promise<void> {
  key.history.isChanging = true;
  await change(world, key);
  key.history.end();
  key.history.isChanging = false;
}

function revoke(world: World): void {
  if (world.keys.filter(({ history }) => !history.latest.isRevoked).length < 2) return;
  const { monotonicMs } = world.scheduler;
  // Requests that run for a while must end.
  const running = [...world.requests.values()].filter(
    (each) => !each.isOver && each.startedAtMs < monotonicMs - 1_000,
  );
  const revokeOne: KeyWork = async (_, { id, history }) => {
    history.begin({ isRevoked: true });
    await world.command("an operator revokes a key", ({ database }) => revokeKey({ database }, id));
    history.revokedAtMs = world.scheduler.monotonicMs;
  };
  const used = running.flatMap(({ key }) => [key, ...key.parents]);
  changeOne(world, revokeOne, isAny, new Set(used));
}

/** Sets members of a key, again with its next version when another try has changed it already. */
function update(changes: KeyChanges, state: Partial<KeyState>): KeyWork {
  return async (world, { id, walletId, history }) => {
    history.begin(state);
    await world.command("an operator changes a key", async ({ database, ledger }) => {
      const read = await requireKey({ database }, walletId, id);
      await updateKey({ database, ledger }, read, changes);
    });
  };
}

/**
 * Rotates the secret of a key. A try whose answer was lost may have happened: then the key has a secret that this
 * operator has seen stored.
 */
async function rotate(world: World, { id, walletId, secrets, history }: SimulatedKey): Promise<void> {
  const tried: KeyState["secrets"][] = [];
  const [current] = history.latest.secrets;
  await world.command("an operator rotates a key", async ({ database }) => {
    const read = await requireKey({ database }, walletId, id);
    const stored = tried.find(([latest]) => latest?.text.startsWith(read.hint));
    if (stored) return history.begin({ secrets: stored });
    await rotateKey(
      {
        database,
        async issued(_, { secret, key }) {
          const endsAtMs = key.previous?.endsAtMs ?? platform.now() + ROTATION_MS;
          const both = [{ text: secret }, ...(current ? [{ text: current.text, endsAtMs }] : [])];
          tried.push(both);
          secrets.push(secret);
          history.begin({ secrets: both });
        },
      },
      read,
    );
  });
}

async function endPrevious(world: World, { id, walletId, history }: SimulatedKey): Promise<void> {
  history.begin({ secrets: history.latest.secrets.slice(0, 1) });
  await world.command("an operator ends an old secret", async ({ database }) => {
    await endPreviousSecret({ database }, await requireKey({ database }, walletId, id));
  });
}

async function requireKey(
  { database }: Pick<SimulatedGateway, "database">,
  accountId: string,
  keyId: string,
): Promise<ApiKey> {
  const key = await findKey(database, { accountId, keyId });
  if (!key) throw new Error(`Key ${keyId} is gone`);
  return key;
}
