import { MISFORTUNE_NAMES, type Misfortune } from "./misfortunes.ts";
import { type Options, replayCommand } from "./options.ts";
import { ruleOf } from "./report.ts";
import { runSeed, type SeedOptions, type SeedResult } from "./run-seed.ts";
import type { Print } from "./run-seeds.ts";
import type { Bounds } from "./world.ts";

/** A run that breaks the rule. */
interface Broken {
  readonly options: SeedOptions;
  readonly result: SeedResult;
}

interface ShrinkOptions {
  /** How long it looks, in milliseconds of the machine. */
  readonly ms?: number;
  /** How many runs it tries. */
  readonly runs?: number;
  /** Called with each run that is simpler than the one before. */
  readonly onFound?: ((found: Broken, how: string) => void) | undefined;
}

/** Other seeds that are tried when a world has become smaller: each change gives all draws another meaning. */
const NEIGHBOURS = 12;
/** Seeds of the last world, of which the one with the fewest steps is taken. */
const LAST_SEEDS_MAX = 400;

/** Prints a shorter run that breaks the same rule as a seed. Returns the exit code, which is 1 for a broken rule. */
export function shrinkSeed(options: Options, print: Print): 0 | 1 {
  const { seed, ms, plant } = options;
  const best = shrink(options, {
    ms,
    onFound: ({ options: { seed: found }, result }, how) =>
      print(`${String(result.steps).padStart(8)} steps, ${result.requests} requests, seed ${found}: ${how}`),
  });
  if (!best) {
    print(`seed ${seed} breaks no rule`);
    return 0;
  }
  const { first, result } = best;
  print(`FAILED ${String(result.failure)}`);
  print(
    `  ${first.steps} steps and ${first.requests} requests before, ${result.steps} and ${result.requests} now`,
  );
  print(`  replay: ${replayCommand({ ...best.options, until: result.steps }, plant)}`);
  return 1;
}

/**
 * Finds a simpler run that breaks the rule that a seed breaks: fewer requests, fewer kinds of misfortune, fewer
 * gateways, upstreams, keys and days, and then the seed with the fewest steps. Returns `undefined` when the seed
 * breaks no rule.
 */
export function shrink(
  start: SeedOptions,
  options: ShrinkOptions,
): (Broken & { readonly first: SeedResult }) | undefined {
  const first = runSeed(start);
  if (first.failure === undefined) return undefined;
  const search = new Search({ options: start, result: first }, options);
  for (let steps = Number.POSITIVE_INFINITY; search.best.result.steps < steps && !search.isOver(); ) {
    steps = search.best.result.steps;
    search.cutRequests();
    search.dropMisfortunes();
    for (const name of ["gateways", "upstreams", "keys"] as const) search.cutBound(name);
    search.cutDays();
    search.tryOtherSeeds();
  }
  return { ...search.best, first };
}

class Search {
  best: Broken;
  readonly #rule: string;
  readonly #endsAtMs: number;
  readonly #onFound: ShrinkOptions["onFound"];
  #runsLeft: number;

  constructor(first: Broken, { ms = Infinity, runs = Infinity, onFound }: ShrinkOptions) {
    this.best = first;
    this.#rule = ruleOf(first.result.failure);
    this.#endsAtMs = performance.now() + ms;
    this.#runsLeft = runs;
    this.#onFound = onFound;
  }

  isOver(): boolean {
    return this.#runsLeft <= 0 || performance.now() >= this.#endsAtMs;
  }

  /** Halves the steps between too few requests and enough of them. */
  cutRequests(): void {
    let enough = Math.min(this.best.result.requests, this.best.options.bounds?.requests ?? Infinity);
    for (let tooFew = 0; enough - tooFew > 1; ) {
      const requests = Math.floor((tooFew + enough) / 2);
      if (this.#take(this.#bounded({ requests }), `${requests} requests`)) enough = requests;
      else tooFew = requests;
    }
  }

  /** Delta debugging: drops halves of the kinds, then quarters, until each kind that is left is needed. */
  dropMisfortunes(): void {
    const { counts } = this.best.result;
    const unused = MISFORTUNE_NAMES.filter((name) => counts[name] === 0);
    this.#take(this.#without(unused), "the misfortunes that happened");
    for (let parts = 2, left = this.#left(); left.length > 0; ) {
      const size = Math.ceil(left.length / parts);
      const chunks = Array.from({ length: Math.ceil(left.length / size) }, (_, place) =>
        left.slice(place * size, (place + 1) * size),
      );
      const how = (chunk: readonly Misfortune[]) => `without ${chunk.join(", ")}`;
      const isDropped =
        chunks.some((chunk) => this.#take(this.#without(chunk), how(chunk))) ||
        chunks.some((chunk) => this.#takeAny(this.#without(chunk), how(chunk)));
      if (!isDropped && size === 1) return;
      parts = isDropped ? Math.max(2, parts - 1) : parts * 2;
      left = this.#left();
    }
  }

  cutBound(name: "gateways" | "upstreams" | "keys"): void {
    if (this.best.options.bounds?.[name] !== 1) this.#takeAny(this.#bounded({ [name]: 1 }), `one of ${name}`);
  }

  cutDays(): void {
    const isCut = (days: number) => this.#takeAny({ ...this.best.options, days }, `${days} days`);
    for (let days = this.best.options.days ?? 1; days > 1; days = this.best.options.days ?? 1) {
      if (![1, Math.ceil(days / 2), days - 1].some(isCut)) return;
    }
  }

  /** Looks for the seed with the fewest steps. */
  tryOtherSeeds(): void {
    const { seed } = this.best.options;
    for (let next = seed + 1; next <= seed + LAST_SEEDS_MAX && !this.isOver(); next += 1) {
      this.#take({ ...this.best.options, seed: next }, `seed ${next}`, this.best.result.steps - 1);
    }
  }

  /** Takes a simpler world when its seed, or one next to it, breaks the rule. */
  #takeAny(options: SeedOptions, how: string): boolean {
    for (let place = 0; place <= NEIGHBOURS; place += 1) {
      if (this.#take({ ...options, seed: options.seed + place }, how)) return true;
    }
    return false;
  }

  /** Takes a run when it breaks the same rule. */
  #take(options: SeedOptions, how: string, until = 2 * this.best.result.steps): boolean {
    if (this.isOver()) return false;
    this.#runsLeft -= 1;
    const result = runSeed({ ...options, until, onLine: undefined });
    if (result.failure === undefined || ruleOf(result.failure) !== this.#rule) return false;
    this.best = { options, result };
    this.#onFound?.(this.best, how);
    return true;
  }

  #left(): readonly Misfortune[] {
    const { without = [] } = this.best.options;
    return MISFORTUNE_NAMES.filter((name) => !without.includes(name));
  }

  #without(names: readonly Misfortune[]): SeedOptions {
    const { options } = this.best;
    return { ...options, without: [...new Set([...(options.without ?? []), ...names])] };
  }

  #bounded(bounds: Bounds): SeedOptions {
    const { options } = this.best;
    return { ...options, bounds: { ...options.bounds, ...bounds } };
  }
}
