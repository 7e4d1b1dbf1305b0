import type { ApiKey } from "../../src/accounts/keys/key.ts";
import type { KeyChanges } from "../../src/accounts/keys/key-changes.ts";
import { endPreviousSecret, ROTATION_MS, rotateKey, updateKey } from "../../src/accounts/keys/key-changes.ts";
import { findKey, issueKey, revokeKey } from "../../src/accounts/keys/keys.ts";
import { platform } from "../../src/platform.ts";
import { drawInteger, drawOne, type RandomSource } from "../support/seeded-random.ts";
import type { SimulatedGateway } from "./gateway.ts";
import { KeyHistory, type KeyState } from "./key-model.ts";
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
  const issue = ({ database, ledger }: SimulatedGateway) =>
    issueKey({ database, ledger }, { accountId: walletId, name, limits, spendingLimit });
  const { key, secret } = await world.command("an operator creates a key", issue);
  const state = { limits, expiresAtMs, isRevoked: false, secrets: [{ text: secret }] };
  const history = new KeyHistory(world.scheduler, state);
  world.keys.push({ id: key.id, walletId, secrets: [secret], history, spendingLimit });
}

function drawSpendingLimit(draw: RandomSource) {
  const period = drawOne(draw, ["total", "day"] as const);
  return { amount: BigInt(drawInteger(draw, 200_000, 9_000_000)), period, timeZone: "UTC" };
}

/** May change keys. */
export function strikeKeys(world: World): void {
  const { luck, scheduler } = world;
  const { draw } = scheduler;
  if (luck.strikes("key_created") && world.keys.length < KEYS_MAX)
    void createKey(world, drawOne(draw, world.keys).walletId);
  if (luck.strikes("key_revoked")) revoke(world);
  if (luck.strikes("key_rotated")) changeOne(world, rotate);
  if (luck.strikes("old_secret_ended")) changeOne(world, endPrevious);
  if (luck.strikes("key_limits_changed")) {
    const limits = drawKeyLimits(draw);
    const { requestsPerMinute = null, tokensPerMinute = null, concurrentRequests = null } = limits;
    changeOne(world, update({ requestsPerMinute, tokensPerMinute, concurrentRequests }, { limits }));
  }
  if (luck.strikes("key_expiry_changed")) {
    const expiresAtMs = draw() < 0.3 ? undefined : platform.now() + drawInteger(draw, 0, 60_000);
    changeOne(world, update({ expiresAtMs: expiresAtMs ?? null }, { expiresAtMs }));
  }
  if (luck.strikes("spending_limit_changed")) {
    const spendingLimit = draw() < 0.3 ? null : drawSpendingLimit(draw);
    changeOne(world, async (_, key) => {
      await update({ spendingLimit }, {})(world, key);
      key.spendingLimit = spendingLimit ?? undefined;
    });
  }
}

type KeyWork = (world: World, key: SimulatedKey) => Promise<void>;

/** Changes a key that no one else changes; one of `preferred` if there is any. */
function changeOne(world: World, change: KeyWork, preferred = new Set<SimulatedKey>()): void {
  const all = world.keys.filter(({ history }) => !history.isChanging && !history.latest.isRevoked);
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
  changeOne(world, revokeOne, new Set(running.map(({ key }) => key)));
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
