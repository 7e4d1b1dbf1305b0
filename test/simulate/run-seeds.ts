import { type Options, replayCommand } from "./options.ts";
import type { RealRedis } from "./redis/real-redis.ts";
import { Report } from "./report.ts";
import { runSeed, runSeedOnRedis, type SeedOptions, type SeedResult } from "./run-seed.ts";

/** Prints one line. */
export type Print = (line: string) => void;

const MINUTE_MS = 60_000;

/**
 * Runs seed after seed, prints what they break at once, and a summary. Returns the exit code. A signal ends the run
 * after the running seed, with its summary.
 */
export async function runSeeds(options: Options, print: Print): Promise<0 | 1> {
  const { seed, seeds, ms, isFirstOnly, trace, without = [], plant } = options;
  const report = new Report();
  const stop = followSignals();
  const beganAtMs = performance.now();
  const passedMs = () => performance.now() - beganAtMs;
  let linesAtMs = MINUTE_MS;
  const isOver = (next: number) =>
    next - seed >= seeds ||
    (next > seed && passedMs() >= ms) ||
    (isFirstOnly && report.failures > 0) ||
    stop.signal !== undefined;
  const redis = options.redis ? await startRedis() : undefined;
  print(`seed ${seed}`);
  if (redis) print("on a real Redis: two runs of one seed differ");
  for (let next = seed; !isOver(next); next += 1) {
    const result = await run({ ...options, seed: next, onLine: trace ? print : undefined }, redis);
    const failed = report.add(result, replayCommand({ ...options, seed: next, until: result.steps }, plant));
    if (failed !== undefined) print(failed);
    if (passedMs() >= linesAtMs) {
      print(report.progress(passedMs()));
      linesAtMs = passedMs() + (passedMs() < 10 * MINUTE_MS ? 1 : 5) * MINUTE_MS;
    }
    // Signals are received between two turns of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await redis?.stop();
  stop.unfollow();
  if (stop.signal !== undefined) print(`ended by ${stop.signal}`);
  print(report.summary(passedMs()));
  const mayMiss = seeds < Number.POSITIVE_INFINITY || isFirstOnly || stop.signal !== undefined;
  const missed = mayMiss ? [] : report.missed().filter((name) => !without.some((each) => each === name));
  for (const name of missed) print(`never happened: ${name}`);
  return report.failures > 0 || missed.length > 0 ? 1 : 0;
}

/** Loads what a run without it does not need. */
async function startRedis(): Promise<RealRedis> {
  const { RealRedis } = await import("./redis/real-redis.ts");
  return RealRedis.start();
}

async function run(options: SeedOptions, redis: RealRedis | undefined): Promise<SeedResult> {
  return redis ? runSeedOnRedis(options, redis) : runSeed(options);
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Notes the first signal that asks this process to end. */
function followSignals(): { readonly signal: string | undefined; unfollow(): void } {
  let signal: string | undefined;
  const note = (name: string) => {
    signal ??= name;
  };
  for (const name of SIGNALS) process.on(name, note);
  return {
    get signal() {
      return signal;
    },
    unfollow() {
      for (const name of SIGNALS) process.off(name, note);
    },
  };
}
