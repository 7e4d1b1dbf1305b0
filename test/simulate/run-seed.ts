import { followConnections } from "./connections.ts";
import { live } from "./days.ts";
import { type Faults, NO_FAULTS } from "./faults.ts";
import { migratedFile } from "./migrated-file.ts";
import { type Kinds, type MisfortuneCounts, noMisfortunes } from "./misfortunes.ts";
import type { Nights } from "./nights.ts";
import { PowerModel } from "./power.ts";
import type { RealRedis } from "./redis/real-redis.ts";
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

export interface SeedOptions extends Kinds {
  readonly seed: number;
  readonly days?: number;
  /** Ends after this step. */
  readonly until?: number | undefined;
  /** Cuts what the seed draws. */
  readonly bounds?: Bounds | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
  /** Makes the faults that are planted into this run. */
  readonly faults?: (() => Faults) | undefined;
  readonly nights?: Nights;
  /** Whether a real Redis runs the scripts of the limiter: no two runs are then equal. */
  readonly redis?: boolean;
}

/** Runs one simulated world to its end. Synchronous: no time of the machine passes for the simulated code. */
export function runSeed(options: SeedOptions): SeedResult {
  const run = new SeedRun(options);
  while (run.goesOn) run.step();
  return run.end();
}

/** Runs one world whose scripts a real Redis runs. Waits for its answers after each event. */
export async function runSeedOnRedis(options: SeedOptions, redis: RealRedis): Promise<SeedResult> {
  const run = new SeedRun(options, redis);
  while (run.goesOn) {
    run.step();
    if (redis.isBusy) await redis.idle();
  }
  await redis.idle();
  return run.end();
}

/** One simulated world, from its beginning to its end. */
class SeedRun {
  readonly #options: SeedOptions;
  readonly #scheduler: Scheduler;
  readonly #world: World;
  readonly #release: () => void;
  readonly #counts = noMisfortunes();
  #isOver = false;
  #failure: unknown;

  constructor(options: SeedOptions, realRedis?: RealRedis) {
    const { seed, days = 1, onLine, faults: plant, bounds = {}, nights = {} } = options;
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
    this.#options = options;
    this.#scheduler = scheduler;
    this.#release = () => {
      unfollow();
      unbind();
      Error.stackTraceLimit = framesMax;
    };
    this.#world = new World({
      seed,
      scheduler,
      world: machine,
      counts: this.#counts,
      power,
      faults: plant?.() ?? NO_FAULTS,
      nights,
      database,
      kinds: options,
      bounds,
      realRedis,
    });
    scheduler.after(0, "the world begins", () => this.#live(days));
  }

  get goesOn(): boolean {
    const { until = Number.POSITIVE_INFINITY } = this.#options;
    return !this.#isOver && this.#failure === undefined && this.#scheduler.steps < until;
  }

  /** Runs the next event, and checks what it did. Keeps what was broken. */
  step(): void {
    try {
      if (!this.#scheduler.step()) throw new Error("Nothing is left to happen");
      this.#world.check();
    } catch (fault) {
      this.#failure ??= fault;
    }
  }

  /** Removes the world. Must be called once. */
  end(): SeedResult {
    this.#release();
    this.#world.remove();
    // SQLite's memory, of which the collector knows nothing, would else grow for hours.
    if (this.#options.seed % SEEDS_PER_COLLECTION === 0) Bun.gc(true);
    const { steps, monotonicMs: simulatedMs } = this.#scheduler;
    return {
      seed: this.#options.seed,
      steps,
      requests: this.#world.sent,
      simulatedMs,
      digest: this.#scheduler.digest(),
      counts: this.#counts,
      endings: this.#world.endings,
      failure: this.#failure,
    };
  }

  #live(days: number): void {
    live(this.#world, days).then(
      () => {
        this.#isOver = true;
      },
      (fault: unknown) => {
        this.#failure = fault;
      },
    );
  }
}
