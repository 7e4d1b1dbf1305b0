import { type Contestant, type Contestants, checkMoney, startContestants } from "../contestants.ts";
import type { ClosedLoopResult, OpenLoopResult } from "../loops.ts";
import { medianOf, type Percentiles } from "../measurements.ts";
import { cpuUs, residentMb } from "../process-stats.ts";
import { type Cell, type Plan, readPlan } from "./plan.ts";
import { printReport, type Report } from "./report.ts";

/**
 * `bun run bench [--quick] [--json]`: compares the gateway with a bare proxy, both with one fast upstream.
 */
export async function benchGateway(args: readonly string[]): Promise<void> {
  const plan = readPlan(args);
  const contestants = await startContestants();
  const report = await measure(contestants, plan).finally(() => contestants.stop());
  console.log(plan.printsJson ? JSON.stringify(report) : printReport(report));
  process.exitCode = report.money.isRight ? 0 : 1;
}

async function measure(all: Contestants, plan: Plan): Promise<Report> {
  const throughput: CellResult[] = [];
  for (const cell of plan.cells) throughput.push(await measureThroughput(all, plan, cell));
  return {
    throughput,
    steady: await measureAddedLatency(all, plan),
    memory: await measureStreamMemory(all, plan),
    money: await checkMoney(all),
  };
}

/** Medians over the rounds of one closed loop. */
interface Rate {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the process per answer, in microseconds. */
  readonly cpuUs: number;
}

/** A closed loop and the CPU time per answer. */
interface Round extends ClosedLoopResult {
  readonly cpuUs: number;
}

export interface CellResult extends Cell {
  readonly proxy: Rate;
  readonly gateway: Rate;
  /** Median of the ratios of consecutive rounds, so that other load of the machine affects both. */
  readonly ratio: number;
  /** Median of the ratios of CPU time per answer. Varies less than throughput on a shared machine. */
  readonly cpuRatio: number;
  /** Answers per second of the upstream without a proxy: the upper bound. */
  readonly ceilingPerSecond: number;
}

/** Measures proxy and gateway alternately, in several short rounds. */
async function measureThroughput(
  { upstream, proxy, gateway }: Contestants,
  plan: Plan,
  cell: Cell,
): Promise<CellResult> {
  const run = (contestant: Contestant, ms: number) => runRound(contestant, cell, ms);
  for (const contestant of [upstream, proxy, gateway]) await run(contestant, plan.warmUpMs);
  const ceiling = await run(upstream, plan.roundMs);

  const proxyRounds: Round[] = [];
  const gatewayRounds: Round[] = [];
  const ratios: number[] = [];
  const cpuRatios: number[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const bare = await run(proxy, plan.roundMs);
    const ours = await run(gateway, plan.roundMs);
    proxyRounds.push(bare);
    gatewayRounds.push(ours);
    ratios.push(ours.perSecond / bare.perSecond);
    cpuRatios.push(ours.cpuUs / bare.cpuUs);
  }
  return {
    ...cell,
    proxy: rateOf(proxyRounds),
    gateway: rateOf(gatewayRounds),
    ratio: medianOf(ratios),
    cpuRatio: medianOf(cpuRatios),
    ceilingPerSecond: ceiling.perSecond,
  };
}

async function runRound(contestant: Contestant, cell: Cell, ms: number): Promise<Round> {
  const before = cpuUs(contestant.pid);
  const result = await contestant.closedLoop({ ...cell, ms });
  return { ...result, cpuUs: (cpuUs(contestant.pid) - before) / result.answers };
}

function rateOf(rounds: readonly Round[]): Rate {
  return {
    perSecond: medianOf(rounds.map((round) => round.perSecond)),
    p50Ms: medianOf(rounds.map((round) => round.latencyMs.p50)),
    p99Ms: medianOf(rounds.map((round) => round.latencyMs.p99)),
    cpuUs: medianOf(rounds.map((round) => round.cpuUs)),
  };
}

/** Latencies at a steady rate, in ms; medians over the rounds. */
export interface SteadyResult {
  readonly perSecond: number;
  readonly proxy: Percentiles;
  readonly gateway: Percentiles;
  /** Gateway minus proxy per percentile, from consecutive rounds. */
  readonly added: Percentiles;
  /** How late the generator sent requests. Part of both latencies. */
  readonly late: Percentiles;
}

async function measureAddedLatency(
  { proxy, gateway }: Contestants,
  { steady: { perSecond, rounds, roundMs } }: Plan,
): Promise<SteadyResult> {
  const bare: OpenLoopResult[] = [];
  const ours: OpenLoopResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await proxy.openLoop({ perSecond, ms: roundMs }));
    ours.push(await gateway.openLoop({ perSecond, ms: roundMs }));
  }
  const added = ours.map(({ latencyMs }, round) => minus(latencyMs, bare[round]?.latencyMs ?? latencyMs));
  return {
    perSecond,
    proxy: medians(bare.map((round) => round.latencyMs)),
    gateway: medians(ours.map((round) => round.latencyMs)),
    added: medians(added),
    late: medians([...bare, ...ours].map((round) => round.lateMs)),
  };
}

function minus(left: Percentiles, right: Percentiles): Percentiles {
  return { p50: left.p50 - right.p50, p99: left.p99 - right.p99 };
}

function medians(rounds: readonly Percentiles[]): Percentiles {
  return { p50: medianOf(rounds.map(({ p50 }) => p50)), p99: medianOf(rounds.map(({ p99 }) => p99)) };
}

/** Resident memory of a process and its children, in MB. */
export interface MemoryResult {
  readonly streams: number;
  readonly proxy: Memory;
  readonly gateway: Memory;
}

interface Memory {
  readonly beforeMb: number;
  readonly openMb: number;
}

const SETTLE_MS = 1500;

async function measureStreamMemory(
  { proxy, gateway }: Contestants,
  { openStreams }: Plan,
): Promise<MemoryResult> {
  return {
    streams: openStreams,
    proxy: await measureMemory(proxy, openStreams),
    gateway: await measureMemory(gateway, openStreams),
  };
}

async function measureMemory(contestant: Contestant, streams: number): Promise<Memory> {
  const beforeMb = await residentMb(contestant.pid);
  const openMb = await contestant.withOpenStreams(streams, async () => {
    await Bun.sleep(SETTLE_MS);
    return residentMb(contestant.pid);
  });
  return { beforeMb, openMb };
}
