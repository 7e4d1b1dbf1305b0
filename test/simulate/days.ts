import { createAccount } from "../../src/accounts/accounts.ts";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { createInlineReader } from "../../src/ledger/sqlite/reads.ts";
import { proveWallet } from "../../src/payments/proof.ts";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { drawInteger, drawOne } from "../support/seeded-random.ts";
import { endingName, sendRequest } from "./clients.ts";
import { checkCredits } from "./credits/check.ts";
import { grantFirstCredits } from "./credits/operators.ts";
import type { SimulatedGateway } from "./gateway.ts";
import { createKey } from "./key-operators.ts";
import { readSlots, Violation } from "./model.ts";
import { night } from "./nights.ts";
import { createOwner } from "./project-operators.ts";
import { leapAtNight } from "./retention.ts";
import { checkCounted, checkScopes, limitEndUsers } from "./scope-model.ts";
import { strike } from "./strikes.ts";
import type { SimulatedKey, World } from "./world.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** About the most requests of a busy time: many small worlds have more to show than a few large ones. */
const BUSY_REQUESTS = 3_000;
/** Longer than every limit of a request, the expiry of its hold and the replay of its settlement. */
const REST_MS = 5 * MINUTE_MS;

/** Longer than a slot without renewal. */
const LEASE_MS = 35_000;

/** Lives through the simulated days. Rejects with a {@link Violation}. */
export async function live(world: World, days: number): Promise<void> {
  const { draw } = world.scheduler;
  world.luck.isOn = false;
  const gateways = Math.min(drawInteger(draw, 1, 3), world.bounds.gateways ?? Infinity);
  const names = ["gateway-1", "gateway-2", "gateway-3"].slice(0, gateways);
  await world.ledger?.start();
  for (const name of names) await world.start(name);
  await createKeys(world);
  await world.notices?.createRules();
  await world.plans?.subscribeAccounts();
  const lived = Math.max(days, (world.config.receiptsDays ?? -2) + 3);
  for (let day = 0; day < lived; day += 1) {
    const beganAtMs = world.scheduler.monotonicMs;
    await beBusy(world, drawInteger(draw, 1, 3) * MINUTE_MS);
    await rest(world);
    if (day + 1 === lived && draw() < 0.8) break;
    await leapAtNight(world);
    await night(world, DAY_MS - (world.scheduler.monotonicMs - beganAtMs));
  }
  await checkDatabase(world);
}

/** Wallets that are soon empty, that a few requests at a time fill with holds, and that pay for all. */
const FUNDS = [2_000_000n, 50_000_000n, 1_000_000_000_000n, 1_000_000_000_000n];

async function createKeys(world: World): Promise<void> {
  const { draw } = world.scheduler;
  const keysMax = world.bounds.keys ?? Infinity;
  for (let account = drawInteger(draw, 1, 3); account > 0 && world.keys.length < keysMax; account -= 1) {
    const create = ({ database, ledger }: SimulatedGateway) =>
      createAccount({ database, ledger }, { name: `account ${account}` });
    const { id: walletId } = await world.command("an operator creates an account", create);
    await world.topUp(walletId, drawOne(draw, FUNDS));
    await grantFirstCredits(world, walletId);
    await limitEndUsers(world, walletId);
    world.owners.set(walletId, await createOwner(world, walletId));
    const keys = Math.min(drawInteger(draw, 1, 4), keysMax - world.keys.length);
    for (let number = keys; number > 0; number -= 1) await createKey(world, walletId);
  }
}

/** Clients send requests, at a rate that the seed chooses, and things go wrong. */
async function beBusy(world: World, ms: number): Promise<void> {
  const { scheduler } = world;
  const { draw } = scheduler;
  const gapMs = drawOne(draw, [10, 40, 200, 1_000]);
  const endsAtMs = scheduler.monotonicMs + Math.min(ms, gapMs * BUSY_REQUESTS);
  world.luck.isOn = true;
  let strikesAtMs = scheduler.monotonicMs;
  const requestsMax = world.bounds.requests ?? Infinity;
  while (scheduler.monotonicMs < endsAtMs && world.sent < requestsMax) {
    const alive = world.alive();
    if (alive.length > 0) sendFrom(world, drawOne(draw, alive), drawKey(world));
    for (; strikesAtMs < scheduler.monotonicMs; strikesAtMs += SECOND_MS) strike(world);
    await world.sleep(-Math.log(1 - draw()) * gapMs, "clients go on");
  }
  world.luck.isOn = false;
}

/** Mostly a key in force. */
function drawKey(world: World): SimulatedKey {
  const { draw } = world.scheduler;
  const nowMs = world.scheduler.wallMs();
  const isInForce = ({ history: { latest } }: SimulatedKey) =>
    !latest.isRevoked && (latest.expiresAtMs ?? nowMs) >= nowMs;
  const inForce = world.keys.filter(isInForce);
  return drawOne(draw, draw() < 0.95 && inForce.length > 0 ? inForce : world.keys);
}

/** Sends a request as an event of the gateway's machine. */
function sendFrom(world: World, gateway: SimulatedGateway, key: SimulatedKey): void {
  const send = () => sendRequest(world, gateway, key);
  world.scheduler.after(0, "a request arrives", send, gateway.machine);
}

/** Waits until everything has come to rest, and checks what is left. */
async function rest(world: World): Promise<void> {
  const { model } = world;
  await world.sleep(REST_MS, "everything has come to rest");
  const ledger = world.books();
  for (const request of world.requests.values()) {
    const name = endingName(request.ending);
    world.endings.set(name, (world.endings.get(name) ?? 0) + 1);
    const { walletId } = request.key;
    const receipt = await ledger.receipt(walletId, request.id);
    model.checkRequest(request, receipt);
    if (receipt) checkScopes(request, receipt);
    if (receipt) world.retention.keep(request.id);
    if (receipt) world.exports?.checkReceipt(receipt);
  }
  model.admissions.checkCancelled(world.requests.values());
  world.requests.clear();
  await checkCredits(world, ledger);
  if (world.watch) world.plans?.model.check(world.watch.client);
  await model.checkMoney(ledger, world.credits);
  await world.exports?.checkWallets(ledger);
  world.notices?.model.checkAtRest();
  world.retention.lookAtClock();
  if (world.watch) world.retention.check(world.watch.client);
  for (const key of world.keys) await checkSpendingLimit(key, ledger);
  await askAfterSetBack(world);
  for (const { parts, machine, gateway } of world.alive()) {
    const tops = world.keys.filter(({ parents }) => parents.length === 0);
    for (const key of tops) await model.checkSlots(machine.name, gateway.limiter, key);
    if (parts.outbox.pending() > 0) throw new Violation(`the outbox of ${machine.name} is not empty`);
  }
  world.checkRedis();
  const [found] = findOutboxes(world.folder);
  if (found) throw new Violation(`an outbox keeps ${found.entries} entries`);
}

/**
 * Redis keeps the slots of a dead gateway for as long as nobody asks for their key, when its clock was set back
 * meanwhile: time stood still for the key. Asks for each key, and waits until such slots have expired.
 */
async function askAfterSetBack(world: World): Promise<void> {
  const [asking] = world.alive();
  if (!world.redis || !asking || world.luck.counts.clock_back === 0) return;
  for (const key of world.keys) await readSlots(asking.gateway.limiter, key);
  await world.sleep(LEASE_MS, "slots of dead gateways expire");
}

/** Checks that a key has the spending limit that its operator was told of. */
async function checkSpendingLimit(key: SimulatedKey, ledger: LocalLedger): Promise<void> {
  if (key.history.isChanging) return;
  const { id, walletId, spendingLimit } = key;
  const [found] = await ledger.spendLimits(walletId, id);
  if (found?.amount !== spendingLimit?.amount || found?.period !== spendingLimit?.period)
    throw new Violation(`key ${id} has the limit ${found?.amount}, not ${spendingLimit?.amount}`);
}

/** Checks the whole database, and every wallet's proof. */
async function checkDatabase(world: World): Promise<void> {
  const ledger = world.books();
  for (const walletId of world.model.toppedUp.keys()) {
    const { isProven } = await proveWallet(ledger, walletId);
    if (!isProven) throw new Violation(`wallet ${walletId} does not add up`);
  }
  if (!world.watch) return;
  const wasSetBack = world.luck.counts.clock_back + world.luck.counts.clock_leaps > 0;
  const kept = world.keys.filter(({ isLimitKept }) => isLimitKept).map(({ id }) => id);
  checkCounted(world.watch.client, { wasSetBack, keptLimits: new Set(kept) });
  const reader = { run: createInlineReader(world.watch.client), close() {} };
  const { findings } = await auditSqlite({ path: "" }, world.scheduler.wallMs(), { reader });
  const [first] = findings;
  if (first) throw new Violation(`the audit found: ${first.claim} ${first.walletId} ${first.subject ?? ""}`);
}
