import { parseArgs } from "node:util";
import { MISFORTUNE_NAMES, type Misfortune, NOT_ON_REAL_REDIS } from "./misfortunes.ts";
import type { SeedOptions } from "./run-seed.ts";

/** What a simulation of the command line runs, and for how long. */
export interface Options extends SeedOptions {
  readonly days: number;
  /** How long new seeds begin. */
  readonly ms: number;
  /** The most seeds. */
  readonly seeds: number;
  /** Whether the first broken rule ends the run. */
  readonly isFirstOnly: boolean;
  /** Prints each event of one seed. */
  readonly trace: boolean;
  /** Looks for a shorter run that breaks the same rule. */
  readonly shrink: boolean;
  /** Prints the branches of the code that were not taken. */
  readonly coverage: boolean;
  /** The name of a fault that is planted into the code. */
  readonly plant: string | undefined;
}

/** Arguments that nothing can be run with. */
export class InvalidOptions extends Error {
  override readonly name = "InvalidOptions";
}

/** Reads the arguments of `bun run simulate`. Throws {@link InvalidOptions}. */
export function readOptions(args: readonly string[]): Options {
  const values = parse(args);
  const numberOf = (name: keyof typeof values) => readNumber(name, values[name]);
  const until = numberOf("until");
  const minutes = (numberOf("minutes") ?? 0) + 60 * (numberOf("hours") ?? 0);
  if (values.redis && values.shrink) throw new InvalidOptions("--shrink needs runs that repeat: not --redis");
  const isOne = values.trace || until !== undefined;
  return {
    seed: numberOf("seed") ?? Math.floor(Date.now() / 1_000),
    days: numberOf("days") ?? 1,
    until,
    ms: (minutes || (values.shrink ? 3 : 1)) * 60_000,
    seeds: isOne ? 1 : (numberOf("seeds") ?? Number.POSITIVE_INFINITY),
    without: [...readWithout(values.without, values.only), ...(values.redis ? NOT_ON_REAL_REDIS : [])],
    bounds: {
      gateways: numberOf("gateways"),
      upstreams: numberOf("upstreams"),
      keys: numberOf("keys"),
      requests: numberOf("requests"),
    },
    isFirstOnly: values.first,
    trace: values.trace,
    redis: values.redis,
    shrink: values.shrink,
    coverage: values.coverage,
    plant: values.plant,
  };
}

const TEXT = { type: "string" } as const;
const FLAG = { type: "boolean", default: false } as const;

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: TEXT,
        minutes: TEXT,
        hours: TEXT,
        seeds: TEXT,
        days: TEXT,
        until: TEXT,
        without: TEXT,
        only: TEXT,
        gateways: TEXT,
        upstreams: TEXT,
        keys: TEXT,
        requests: TEXT,
        plant: TEXT,
        first: FLAG,
        trace: FLAG,
        redis: FLAG,
        shrink: FLAG,
        coverage: FLAG,
      },
    });
    return values;
  } catch (error) {
    throw new InvalidOptions(error instanceof Error ? error.message : String(error));
  }
}

function readNumber(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (value === "" || !(number >= 0)) throw new InvalidOptions(`--${name} must be a number`);
  return number;
}

function readWithout(without: string | undefined, only: string | undefined): readonly Misfortune[] {
  const left = only === undefined ? MISFORTUNE_NAMES : readNames(only);
  const dropped = without === undefined ? [] : readNames(without);
  return MISFORTUNE_NAMES.filter((name) => !left.includes(name) || dropped.includes(name));
}

function readNames(text: string): readonly Misfortune[] {
  const names = text === "" ? [] : text.split(",");
  const unknown = names.find((name) => !isMisfortune(name));
  if (unknown !== undefined) throw new InvalidOptions(`${unknown} is no misfortune of misfortunes.ts`);
  return names.filter(isMisfortune);
}

function isMisfortune(name: string): name is Misfortune {
  return (MISFORTUNE_NAMES as readonly string[]).includes(name);
}

/** Prints the command that runs a seed again, up to a step with each event in words. */
export function replayCommand(options: SeedOptions, plant?: string): string {
  const { seed, days = 1, until, without = [], bounds = {}, redis } = options;
  const args = [
    `--seed ${seed}`,
    `--days ${days}`,
    ...Object.entries(bounds).flatMap(([name, max]) => (max === undefined ? [] : [`--${name} ${max}`])),
    ...namesArgument(without),
    ...(redis ? ["--redis"] : []),
    ...(plant === undefined ? [] : [`--plant ${plant}`]),
    ...(until === undefined ? [] : [`--until ${until} --trace`]),
  ];
  return `bun run simulate ${args.join(" ")}`;
}

/** Names the kinds that are left or those that are not, whichever are fewer. */
function namesArgument(without: readonly Misfortune[]): readonly string[] {
  const left = MISFORTUNE_NAMES.filter((name) => !without.includes(name));
  if (without.length === 0) return [];
  if (left.length < without.length) return [`--only ${left.join(",") || '""'}`];
  return [`--without ${without.join(",")}`];
}
