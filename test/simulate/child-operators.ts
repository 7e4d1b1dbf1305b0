import type { NewChild } from "../../src/accounts/keys/own-keys.ts";
import { drawInteger, drawOne } from "../support/seeded-random.ts";
import { KeyHistory } from "./key-model.ts";
import type { SimulatedKey, World } from "./world.ts";

const SECOND_MS = 1_000;
/** Each key costs time in every look at the limits. */
const KEYS_MAX = 24;
/** The most keys above a key. */
const DEPTH_MAX = 3;

/** May have an agent make a key below its own. */
export function strikeChildren(world: World): void {
  const { luck, scheduler } = world;
  const makers = world.keys.filter(
    ({ makesChildren, parents, history }) =>
      makesChildren && parents.length < DEPTH_MAX && !history.latest.isRevoked && !isMoving(history),
  );
  if (makers.length === 0 || world.keys.length >= KEYS_MAX) return;
  if (luck.strikes("child_made", 2)) void makeChild(world, drawOne(scheduler.draw, makers));
}

/** A key whose end changes meanwhile would give its child an end that nobody knows. */
function isMoving(history: KeyHistory): boolean {
  return history.chain().some((each) => each.isChanging);
}

/** Tries once: a child whose answer is lost is used by nobody. */
async function makeChild(world: World, parent: SimulatedKey): Promise<void> {
  const { draw } = world.scheduler;
  const [secret] = parent.history.latest.secrets;
  const alive = world.alive();
  if (!secret || alive.length === 0) return;
  const { machine, gateway } = drawOne(draw, alive);
  const child: NewChild = {
    name: `child ${world.sent} ${world.keys.length}`,
    spendingLimit: {
      amount: BigInt(drawInteger(draw, 200_000, 9_000_000)),
      period: drawOne(draw, ["total", "day", "1h"] as const),
    },
    lifeMs: drawInteger(draw, 1, 180) * SECOND_MS,
    models: undefined,
  };
  const make = async () => {
    const { key } = await gateway.authenticate(secret.text);
    return gateway.keys.makeChild({ key, secret: secret.text }, child);
  };
  const chain = parent.history.chain();
  for (const each of chain) each.making += 1;
  try {
    const made = await world.on(machine, "an agent makes a key", make);
    const state = {
      limits: {},
      expiresAtMs: made.key.expiresAtMs,
      isRevoked: false,
      secrets: [{ text: made.secret }],
    };
    parent.history.hasChildren = true;
    world.keys.push({
      id: made.key.id,
      walletId: parent.walletId,
      secrets: [made.secret],
      history: new KeyHistory(world.scheduler, state, parent.history),
      spendingLimit: child.spendingLimit,
      isLimitKept: true,
      makesChildren: made.key.allowsChildren,
      parents: [parent, ...parent.parents],
      scopes: parent.scopes,
    });
  } catch (fault) {
    world.scheduler.note(`no key was made: ${String(fault)}`);
  } finally {
    for (const each of chain) each.making -= 1;
  }
}

/** The keys below a key. */
export function keysBelow(world: World, key: SimulatedKey): readonly SimulatedKey[] {
  return world.keys.filter(({ parents }) => parents.includes(key));
}
