import { followConnections } from "./connections.ts";
import { live } from "./days.ts";
import { type Faults, NO_FAULTS } from "./faults.ts";
import { migratedFile } from "./migrated-file.ts";
import { type Misfortune, type MisfortuneCounts, noMisfortunes } from "./misfortunes.ts";
import type { Nights } from "./nights.ts";
import { PowerModel } from "./power.ts";
import { type Machine, Scheduler } from "./scheduler.ts";
import { type Bounds, World } from "./world.ts";

const SEEDS_PER_COLLECTION = 8;

/** What one seed came to. */
export interface SeedResult {
  readonly seed: number;
  /** Events that ran. */
  readonly steps: number;
  readonly requests: number;
  readonly simulatedMs: number;
  /** The digest of the trace: equal for equal seeds. */
  readonly digest: string;
  readonly counts: MisfortuneCounts;
  /** How many requests ended in each way. */
  readonly endings: ReadonlyMap<string, number>;
  /** What the model does not allow, or what the program threw; `undefined` when all is well. */
  readonly failure: unknown;
}

export interface SeedOptions {
  readonly seed: number;
  readonly days?: number;
  /** Ends after this step. */
  readonly until?: number | undefined;
  /** Kinds of misfortune that do not happen. */
  readonly without?: readonly Misfortune[] | undefined;
  /** Cuts what the seed draws. */
  readonly bounds?: Bounds | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
  /** Makes the faults that are planted into this run. */
  readonly faults?: (() => Faults) | undefined;
  readonly nights?: Nights;
}

/** Runs one simulated world to its end. Synchronous: no time of the machine passes for the simulated code. */
export function runSeed(options: SeedOptions): SeedResult {
  const { seed, days = 1, until = Number.POSITIVE_INFINITY, onLine, faults: plant } = options;
  const { without = [], bounds = {}, nights = {} } = options;
  const faults = plant?.() ?? NO_FAULTS;
  const machine: Machine = { name: "world", isAlive: true };
  const database = migratedFile();
  const scheduler = new Scheduler({ seed, onLine }, machine);
  const unbind = scheduler.bind();
  const framesMax = Error.stackTraceLimit;
  // Most requests are declined by an error. Where it was thrown is of use in a trace only.
  if (!onLine) Error.stackTraceLimit = 0;
  const power = new PowerModel();
  const onSynced = (path: string) => power.syncing(path)();
  const unfollow = followConnections(() => scheduler.current, onSynced);
  const counts = noMisfortunes();
  const world = new World({
    scheduler,
    world: machine,
    counts,
    power,
    faults,
    nights,
    database,
    without,
    bounds,
  });
  let failure: unknown;
  let isOver = false;
  scheduler.after(0, "the world begins", () =>
    live(world, days).then(
      () => {
        isOver = true;
      },
      (fault: unknown) => {
        failure = fault;
      },
    ),
  );
  try {
    while (!isOver && failure === undefined && scheduler.steps < until) {
      if (!scheduler.step()) throw new Error("Nothing is left to happen");
      world.check();
    }
  } catch (fault) {
    failure ??= fault;
  } finally {
    unfollow();
    unbind();
    Error.stackTraceLimit = framesMax;
    world.remove();
    // SQLite's memory, of which the collector knows nothing, would else grow for hours.
    if (seed % SEEDS_PER_COLLECTION === 0) Bun.gc(true);
  }
  const { steps, monotonicMs: simulatedMs } = scheduler;
  return {
    seed,
    steps,
    requests: world.sent,
    simulatedMs,
    digest: scheduler.digest(),
    counts,
    endings: world.endings,
    failure,
  };
}
