import { type Contestant, type Contestants, checkMoney, startContestants } from "../contestants.ts";
import { recordRun } from "../history/record-run.ts";
import type { OpenLoopResult } from "../loops.ts";
import { medianOf, type Percentiles } from "../measurements.ts";
import { residentMb } from "../process-stats.ts";
import { type Plan, readPlan } from "./plan.ts";
import { printReport, type Report } from "./report.ts";
import { measureStall } from "./stall.ts";
import { type CellResult, measureThroughput } from "./throughput.ts";

/**
 * `bun run bench [--database postgres] [--redis] [--quick] [--json] [--keep]`: compares the gateway with a
 * bare proxy, both with one fast upstream.
 */
export async function benchGateway(args: readonly string[]): Promise<void> {
  const plan = readPlan(args);
  const contestants = await startContestants(undefined, plan.form);
  const report = await measure(contestants, plan).finally(() => contestants.stop());
  console.log(plan.printsJson ? JSON.stringify(report) : printReport(report));
  recordRun(report, plan);
  process.exitCode = report.money.isRight ? 0 : 1;
}

async function measure(all: Contestants, plan: Plan): Promise<Report> {
  await Bun.sleep(SETTLE_MS);
  const idle = { proxyMb: await residentMb(all.proxy.pid), gatewayMb: await residentMb(all.gateway.pid) };
  const throughput: CellResult[] = [];
  for (const cell of plan.cells) throughput.push(await measureThroughput(all, plan, cell));
  return {
    form: plan.form,
    throughput,
    steady: await measureAddedLatency(all, plan),
    stall: await measureStall(all, plan),
    memory: { ...(await measureStreamMemory(all, plan)), idle },
    money: await checkMoney(all),
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
  /** After the start, before any load. */
  readonly idle: { readonly proxyMb: number; readonly gatewayMb: number };
  readonly streams: number;
  readonly proxy: Memory;
  readonly gateway: Memory;
}

interface Memory {
  /** After the load of the other measurements, without an open stream. */
  readonly beforeMb: number;
  readonly openMb: number;
}

const SETTLE_MS = 1500;

async function measureStreamMemory(
  { proxy, gateway }: Contestants,
  { openStreams }: Plan,
): Promise<Omit<MemoryResult, "idle">> {
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
