import type { Database } from "bun:sqlite";
import { startRetention } from "../../src/ledger/background-jobs.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import type { RetentionDropper } from "../../src/ledger/sqlite/retention-store.ts";
import { createRetentionWork } from "../../src/ledger/sqlite/retention-worker.ts";
import { drawOne } from "../support/seeded-random.ts";
import { Violation } from "./model.ts";
import type { World } from "./world.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** Dropped hours, and the jumps of a clock that are too small to be doubted, are counted in whole hours. */
const MARGIN_MS = 2 * HOUR_MS;

/** How often in a row the worker may die, so that it comes to its end. */
const DEATHS_MAX = 2;

/** Drops receipts on the event loop. Its thread may die between two transactions, or be out of time. */
export function createSimulatedDropper({ scheduler, luck, model }: World): RetentionDropper {
  let spentMs = 0;
  let deaths = 0;
  const work = createRetentionWork({
    busyMs: 0,
    monotonicMs: () => scheduler.monotonicMs + spentMs,
    rest() {
      if (deaths < DEATHS_MAX && luck.strikes("dropping_dies")) throw new Error("the worker died");
      if (luck.strikes("dropping_slow")) spentMs += 2_000;
    },
  });
  return {
    async run(job) {
      await scheduler.sleep(scheduler.draw() * 5, `a worker begins to ${job.kind} receipts`);
      // It has most of its work in the morning, before anything else happens.
      const { isOn } = luck;
      luck.isOn = true;
      const reply = model.costsAbove.dropping(job.path, () => work(job));
      luck.isOn = isOn;
      deaths = "fault" in reply ? deaths + 1 : 0;
      scheduler.note(`a worker has done its work: ${JSON.stringify(reply)}`);
      await scheduler.sleep(scheduler.draw() * 50, "a worker replies");
      return reply;
    },
    close() {},
  };
}

/** Starts to drop receipts, where the configuration says so. */
export function startSimulatedRetention({ scheduler, model, config }: World, ledger: LocalLedger) {
  const { receiptsDays } = config;
  if (receiptsDays === undefined) return undefined;
  return startRetention({
    ledger,
    policy: { receiptsDays },
    onRun(run) {
      scheduler.note(`retention: ${JSON.stringify(run)}`);
      if (run.stopped === "usage_differs") model.report("receipts and their usage differ");
    },
    onError: (fault) => scheduler.note(`retention failed: ${String(fault)}`),
  });
}

/** One receipt that was seen, by the id of its request. */
interface Kept {
  readonly id: string;
  readonly idMs: number;
}

/** Knows which receipts may be gone: those that were old by a clock that was believed. */
export class RetentionModel {
  readonly #world: World;
  #kept: Kept[] = [];
  /** The latest time of the clock, except of leaps, which are too long to be believed at once. */
  #latestMs = Number.NEGATIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
  }

  /** Notes the clock. Must be called before it is set back, and not while it has leapt. */
  lookAtClock(): void {
    this.#latestMs = Math.max(this.#latestMs, this.#world.scheduler.wallMs());
  }

  keep(id: string): void {
    this.#kept.push({ id, idMs: Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16) });
  }

  /** Checks that each receipt is there, or old enough to be gone. */
  check(client: Database): void {
    const days = this.#world.config.receiptsDays ?? Number.POSITIVE_INFINITY;
    const mayGoMs = this.#latestMs - days * DAY_MS;
    const present = new Set(client.query("SELECT hold_id FROM holds").values().flat());
    const kept: Kept[] = [];
    for (const each of this.#kept) {
      if (present.has(each.id)) kept.push(each);
      else if (each.idMs >= mayGoMs)
        throw new Violation(`receipt ${each.id} is gone, ${(each.idMs - mayGoMs) / HOUR_MS} hours too early`);
    }
    this.#kept = kept;
    const nowMs = this.#world.scheduler.wallMs();
    const old = kept.find(({ idMs }) => idMs < nowMs - days * DAY_MS - MARGIN_MS);
    if (old && !isPaused(client)) throw new Violation(`receipt ${old.id} is old, and was not dropped`);
  }
}

/** Whether a leap of the clock keeps receipts from being dropped. */
function isPaused(client: Database): boolean {
  const [row] = client.query("SELECT paused_until_ms FROM retention").values();
  return Number(row?.[0]) > 0;
}

/** Sets the clock ahead by days for a part of a night, so that every receipt seems to be old. */
export async function leapAtNight(world: World): Promise<void> {
  const { scheduler, luck } = world;
  luck.isOn = true;
  const leaps = luck.strikes("clock_leaps", 100);
  luck.isOn = false;
  if (!leaps) return;
  const byMs = drawOne(scheduler.draw, [4, 30, 400]) * DAY_MS;
  scheduler.shiftMs += byMs;
  await world.sleep(20 * 60_000, "an operator notices the clock");
  world.plans?.model.lookAtClock();
  scheduler.shiftMs -= byMs;
  await world.sleep(5 * 60_000, "the clock is right again");
}
