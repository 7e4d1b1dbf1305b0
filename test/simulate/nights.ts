import type { World } from "./world.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
/** Longer than the pause of any poll, jitter included: each poll happens in a stretch of this length. */
const STRETCH_MS = 100 * SECOND_MS;
/** Pending events within this time are polls that repeat themselves. */
const POLL_MS_MAX = 75 * SECOND_MS;
/** Before an hour ends, all machines live again: roll-ups are closed after it. */
const BEFORE_HOUR_MS = 10 * SECOND_MS;
const BEGUN_CHANCE = 0.02;
/** How long polls are not skipped in a night that begins with all of them. */
const BEGINNING_MS = 2 * HOUR_MS;

/**
 * How a night passes: with every poll, with every poll at its beginning, without those that change nothing, or while
 * all machines are suspended.
 */
type Night = "whole" | "begun" | "skipped" | "suspended";

export interface Nights {
  /** Default: the seed decides. */
  readonly kind?: Night;
  /** Called at the end of each night. */
  readonly onMorning?: (world: World) => void;
}

/**
 * A night without requests. The gateways live through it, or are suspended with their machine, as a laptop is. A
 * stretch in which every poll happened and changed nothing is not repeated: the polls are moved to the next hour.
 */
export async function night(world: World, ms: number): Promise<void> {
  const { scheduler, nights } = world;
  const endsAtMs = scheduler.monotonicMs + ms;
  const drawn = drawNight(world);
  const kind = nights.kind ?? drawn;
  const skipsFromMs = SKIPS_AFTER_MS[kind] + scheduler.monotonicMs;
  if (kind === "suspended") scheduler.suspend(ms - STRETCH_MS);
  while (scheduler.monotonicMs < endsAtMs) {
    const before = readBooks(world);
    await world.sleep(Math.min(STRETCH_MS, endsAtMs - scheduler.monotonicMs), "a night goes on");
    const maySkip = scheduler.monotonicMs >= skipsFromMs;
    if (maySkip && isQuiet(world) && readBooks(world) === before) skip(world, endsAtMs);
  }
  nights.onMorning?.(world);
}

/** When the skipping of polls begins. */
const SKIPS_AFTER_MS: Readonly<Record<Night, number>> = {
  whole: Number.POSITIVE_INFINITY,
  begun: BEGINNING_MS,
  skipped: 0,
  suspended: Number.POSITIVE_INFINITY,
};

function drawNight({ scheduler, luck }: World): Night {
  luck.isOn = true;
  const isSuspended = luck.strikes("suspended_night");
  luck.isOn = false;
  const isBegun = scheduler.draw() < BEGUN_CHANCE;
  if (isSuspended) return "suspended";
  return isBegun ? "begun" : "skipped";
}

/** Whether every gateway runs and has nothing to do. */
function isQuiet({ requests, gateways }: World): boolean {
  return requests.size === 0 && gateways.values().every((gateway) => gateway?.parts.outbox.pending() === 0);
}

/** Moves every poll to the end of the hour or of the night, unless something else happens before. */
function skip({ scheduler }: World, endsAtMs: number): void {
  const toHourMs = HOUR_MS - (scheduler.wallMs() % HOUR_MS) - BEFORE_HOUR_MS;
  const toMorningMs = endsAtMs - scheduler.monotonicMs - STRETCH_MS;
  scheduler.skip(Math.min(toHourMs, toMorningMs), POLL_MS_MAX);
}

/** Everything that the polls of gateways change, but for the leases of their jobs. */
function readBooks({ watch }: World): string {
  const rows = watch?.client.query(BOOKS).values();
  return JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value));
}

const BOOKS = `SELECT version, totals_version, fence_ms,
  (SELECT sum(version) FROM exports), (SELECT count(*) FROM usage_stale), (SELECT sum(last_seq) FROM wallets),
  (SELECT sum(position) FROM journal_sums), (SELECT count(*) FROM holds WHERE state = 'held')
  FROM usage_cursor CROSS JOIN usage_fence`;
