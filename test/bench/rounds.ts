import type { Load } from "./contestants.ts";
import { medianOf } from "./measurements.ts";
import { cpuUs } from "./process-stats.ts";
import type { BenchGateway } from "./start-gateway.ts";
import { warmUp } from "./warm-up.ts";

export interface RoundPlan {
  readonly connections: number;
  readonly rounds: number;
  readonly roundMs: number;
  /** Length of a window of the warm-up. */
  readonly warmUpMs: number;
}

/** One round of whole answers of one gateway. */
export interface Round {
  readonly perSecond: number;
  /** CPU of the gateway's process for each answer. */
  readonly cpuUs: number;
}

/**
 * Measures gateways in turns and returns the rounds of each. Every second round has the reverse order: a
 * gateway that always came first would look the faster one.
 */
export async function measureInTurns(
  load: Load,
  gateways: readonly BenchGateway[],
  plan: RoundPlan,
): Promise<readonly (readonly Round[])[]> {
  for (const gateway of gateways) {
    await warmUp(() => runRound(load, gateway, plan.connections, plan.warmUpMs));
  }
  return alternate(gateways, plan.rounds, (gateway) =>
    runRound(load, gateway, plan.connections, plan.roundMs),
  );
}

/** Runs each contestant once per round, every second round in the reverse order. Returns the rounds by contestant. */
export async function alternate<Each, Result>(
  contestants: readonly Each[],
  rounds: number,
  run: (contestant: Each) => Promise<Result>,
): Promise<readonly (readonly Result[])[]> {
  const results = contestants.map((): Result[] => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...contestants.entries()];
    for (const [at, contestant] of round % 2 === 0 ? order : order.reverse()) {
      results[at]?.push(await run(contestant));
    }
  }
  return results;
}

async function runRound(
  load: Load,
  { url, secret, pid }: BenchGateway,
  connections: number,
  ms: number,
): Promise<Round> {
  const before = cpuUs(pid);
  const result = await load.closedLoop({ target: { url, secret }, kind: "whole", connections, ms });
  if (result.faults.length > 0) throw new Error(`A gateway answered wrongly: ${result.faults.join("; ")}`);
  return { perSecond: result.perSecond, cpuUs: (cpuUs(pid) - before) / result.answers };
}

/** Median over the rounds. */
export function medianRound(rounds: readonly Round[], figure: keyof Round): number {
  return medianOf(rounds.map((round) => round[figure]));
}

/** Median of the ratios to another gateway's figure, round by round. */
export function medianRatio(rounds: readonly Round[], others: readonly Round[], figure: keyof Round): number {
  return medianOf(rounds.map((round, at) => round[figure] / (others[at]?.[figure] ?? Number.NaN)));
}
