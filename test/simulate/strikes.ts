import { Database } from "bun:sqlite";
import type { WalletState } from "../../src/ledger/records.ts";
import { drawInteger, drawOne } from "../support/seeded-random.ts";
import { connectionsTo } from "./connections.ts";
import { strikeCredits } from "./credits/operators.ts";
import type { SimulatedGateway } from "./gateway.ts";
import type { LedgerProcess } from "./grpc/ledger-process.ts";
import { strikeKeys } from "./key-operators.ts";
import { costOfReport } from "./prices.ts";
import { strikeProjects } from "./project-operators.ts";
import type { SimulatedRedis } from "./redis/server.ts";
import { strikeConfiguration } from "./reloads.ts";
import type { Machine } from "./scheduler.ts";
import type { World } from "./world.ts";

const HOUR_MS = 60 * 60_000;

/** What may go wrong once a second. */
export function strike(world: World): void {
  const { scheduler, luck } = world;
  const { draw } = scheduler;
  const alive = world.alive();
  const victim = alive.length > 0 ? drawOne(draw, alive) : undefined;
  if (victim && luck.strikes("death_between_steps", 2)) world.kill(victim.machine);
  else if (victim && luck.strikes("drain", 2)) world.drain(victim);
  else if (victim && luck.strikes("full_disk", 2)) fillDisk(world, victim.machine, "/journal/");
  else if (victim && luck.strikes("full_database", 2))
    fillDisk(world, world.ledger?.machine ?? victim.machine, "/tollgate.db");
  if (luck.strikes("refund")) void refund(world);
  if (mayLosePower(world) && luck.strikes("power_loss")) losePower(world);
  if (!world.isFileLocked && luck.strikes("locked_file", 2)) lockFile(world, draw() * 6_000);
  if (luck.strikes("clock_forward")) setClock(world, drawOne(draw, [2_000, 70_000, 3 * HOUR_MS]));
  if (luck.strikes("clock_back")) setClock(world, -drawOne(draw, [2_000, 70_000, HOUR_MS / 2, 3 * HOUR_MS]));
  if (world.ledger) strikeLedger(world, world.ledger);
  if (world.redis) strikeRedis(world, world.redis);
  if (draw() < 0.02) void world.topUp(drawOne(draw, world.keys).walletId, 500_000n);
  strikeConfiguration(world);
  strikeKeys(world);
  strikeProjects(world);
  strikeCredits(world);
  world.plans?.strike();
  if (luck.strikes("wallet_frozen")) void freeze(world);
}

function strikeLedger({ luck }: World, ledger: LedgerProcess): void {
  if (luck.strikes("ledger_dies")) ledger.die();
  else if (luck.strikes("ledger_drains")) ledger.drain();
}

function strikeRedis({ luck, scheduler }: World, redis: SimulatedRedis): void {
  if (!redis.isUp) return;
  if (luck.strikes("redis_stalls")) redis.stall(scheduler.draw() * 4_000);
  if (luck.strikes("redis_restarts")) redis.restart("all");
  else if (luck.strikes("redis_restarts_empty")) redis.restart("nothing");
  else if (luck.strikes("redis_fails_over")) redis.restart("replicated");
}

/** The files may be replaced while every gateway runs and no other program has the database open. */
function mayLosePower({ isFileLocked, gateways, ledger }: World): boolean {
  const isLedgerUp = !ledger || ledger.machine !== undefined;
  return isLedgerUp && !isFileLocked && gateways.values().every((gateway) => gateway !== undefined);
}

/** Every gateway ends at once, and the disk has what was synced. */
function losePower(world: World): void {
  const alive = world.alive();
  for (const request of world.requests.values()) if (!request.isOver) request.isPowerLost = true;
  world.power.lose(world.folder, () => {
    world.watch?.close();
    world.watch = undefined;
    world.credits.losePower();
    world.ledger?.die();
    for (const { machine } of alive) world.kill(machine);
  });
}

function setClock(world: World, byMs: number): void {
  if (byMs < 0) world.retention.lookAtClock();
  if (byMs < 0) world.plans?.model.lookAtClock();
  world.scheduler.shiftMs += byMs;
  world.model.shared.onClockSet(byMs);
  if (byMs > 0) world.model.clockSetAtMs = world.scheduler.monotonicMs;
}

/** The files of a machine whose path holds a text cannot grow. */
function fillDisk(world: World, machine: Machine, part: string): void {
  const setMax = (pages: number) => {
    for (const client of connectionsTo(machine, part)) client.query(`PRAGMA max_page_count = ${pages}`).get();
  };
  setMax(1);
  world.scheduler.after(
    world.scheduler.draw() * 20_000,
    "the disk has room again",
    () => setMax(1_000_000),
    machine,
  );
}

/** Another process has the write lock of the database. */
function lockFile(world: World, ms: number): void {
  const client = new Database(`${world.folder}/tollgate.db`);
  client.run("PRAGMA busy_timeout = 0");
  client.run("BEGIN IMMEDIATE");
  world.isFileLocked = true;
  world.scheduler.after(ms, "the database is unlocked", () => {
    client.run("ROLLBACK");
    client.close();
    world.isFileLocked = false;
  });
}

/** Refunds a part of a receipt, once. */
async function refund(world: World): Promise<void> {
  const { draw } = world.scheduler;
  const [gateway] = world.alive();
  const done = [...world.requests.values()].filter(({ ending }) => ending === "finished");
  if (!gateway || done.length === 0) return;
  const request = drawOne(draw, done);
  const { walletId } = request.key;
  const last = request.asked.at(-1);
  const cost = (last && costOfReport(request, last)) ?? 1n;
  const amount = BigInt(drawInteger(draw, 1, Number(cost)));
  const posting = { walletId, refundId: `refund ${request.number}`, holdId: request.id, amount };
  if (!world.model.refund(request, amount)) return;
  await world.command("an operator refunds", ({ ledger }) => ledger.refund(posting));
}

async function freeze(world: World): Promise<void> {
  const { walletId } = drawOne(world.scheduler.draw, world.keys);
  const become = (state: WalletState) => (gateway: SimulatedGateway) =>
    gateway.ledger.setWalletState({ walletId, state });
  await world.command("an operator freezes a wallet", become("frozen"));
  await world.sleep(world.scheduler.draw() * 20_000, "a wallet has been frozen");
  await world.command("an operator thaws a wallet", become("active"));
}
