import { expect, test } from "bun:test";
import { PLANTED } from "./faults.ts";
import { MISFORTUNE_NAMES, type Misfortune } from "./misfortunes.ts";
import { runSeed, type SeedOptions } from "./run-seed.ts";

/** The worlds in which a fault is found soon. */
interface Worlds {
  /** Default: every kind. */
  readonly only?: readonly Misfortune[];
  /** Default: {@link REQUESTS}. */
  readonly requests?: number;
  readonly hasRedis?: boolean;
}

const REQUESTS = 300;
const SEEDS_MAX = 80;
/** A fault that needs more steps is found in another world with less work. */
const STEPS_MAX = 5_000;
const TEST_MS_MAX = 300_000;

/** Faults that few worlds show. */
const WORLDS: Readonly<Record<string, Worlds>> = {
  log_not_synced: { only: ["power_loss"] },
  offline_admissions_not_restored: {
    only: ["redis_silent", "redis_loses_command", "redis_stalls", "redis_restarts", "redis_loses_answer"],
    requests: 3_000,
    hasRedis: true,
  },
};

/** Faults whose like is planted in the code, too: `bun run simulate --plant` finds them. */
const LONG = [
  "settlement_sent_twice",
  "hold_not_extended",
  "attempts_not_recorded",
  "settlement_of_nothing",
  "lease_not_renewed",
];

test.each(Object.keys(PLANTED).filter((name) => !LONG.includes(name)))(
  "a planted fault is found, and the same world without it breaks no rule: %s",
  (name) => {
    const found = worldsOf(name).find(
      (world) => runSeed({ ...world, faults: PLANTED[name] }).failure !== undefined,
    );
    expect(runSeed(found ?? expect.unreachable()).failure).toBeUndefined();
  },
  TEST_MS_MAX,
);

function worldsOf(name: string): readonly SeedOptions[] {
  const { only = MISFORTUNE_NAMES, requests = REQUESTS, hasRedis } = WORLDS[name] ?? {};
  const without = MISFORTUNE_NAMES.filter((each) => !only.includes(each));
  return Array.from({ length: SEEDS_MAX }, (_, place) => ({
    seed: place + 1,
    without,
    often: true,
    bounds: { requests, hasRedis },
    until: STEPS_MAX,
  }));
}
