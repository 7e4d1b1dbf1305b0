import { printUsd } from "../../../src/domain/money.ts";
import { medianOf } from "../measurements.ts";
import { cpuUs } from "../process-stats.ts";
import { type Child, type JobProcess, startChild, startJobProcess } from "../processes.ts";
import {
  type BenchGateway,
  COST,
  type ExtraConfig,
  modelEntry,
  startGateway,
  TOP_UP,
} from "../start-gateway.ts";
import { warmUp } from "../warm-up.ts";
import { measurePure } from "./codec-cost.ts";
import type { TranslateLoad, TranslateLoadResult } from "./load-process.ts";
import { type Cell, CONNECTIONS, readTranslatePlan, type TranslatePlan } from "./plan.ts";
import { printTranslateReport, type TranslateReport } from "./report.ts";
import type { Format } from "./requests.ts";

/**
 * `bun run bench translate [--quick] [--client C] [--json]`: measures the cost of a translation between formats, beside
 * the client's own format.
 */
export async function benchTranslate(args: readonly string[]): Promise<void> {
  const plan = readTranslatePlan(args);
  console.error("measuring, for some minutes unless --quick");
  const pure = measurePure(plan);
  const upstream = await startChild("translate/upstream-process.ts");
  const report = { pure, ...(await measureGateway(upstream, plan).finally(upstream.stop)) };
  console.log(plan.printsJson ? JSON.stringify(report) : printTranslateReport(report));
  process.exitCode = report.money.isRight ? 0 : 1;
}

async function measureGateway(upstream: Child, plan: TranslatePlan): Promise<Omit<TranslateReport, "pure">> {
  const gateway = await startGateway(upstream.url, {}, extraConfigOf(upstream));
  const load = startJobProcess<TranslateLoad>("translate/load-process.ts");
  try {
    const { cells, answers } = await measureThroughput({ gateway, load }, plan);
    return { cells, money: await checkMoney({ gateway, load }, answers) };
  } finally {
    await Promise.all([load.stop(), gateway.remove()]);
  }
}

async function checkMoney({ gateway }: Driven, requests: number): Promise<TranslateReport["money"]> {
  await gateway.stop();
  const { posted, held } = await gateway.wallet();
  const expected = BigInt(requests) * COST;
  return {
    requests,
    chargedUsd: printUsd(TOP_UP - posted),
    expectedUsd: printUsd(expected),
    isRight: TOP_UP - posted === expected && held === 0n,
  };
}

/** One upstream for each format. */
function extraConfigOf({ url }: Child): ExtraConfig {
  const openai = { protocol: "openai", base_url: `${url}/v1`, api_key: "bench" };
  const upstreams: Readonly<Record<Format, object>> = {
    chat: openai,
    responses: { ...openai, responses: true },
    messages: { protocol: "anthropic", base_url: url, api_key: "bench" },
    gemini: { protocol: "gemini", base_url: `${url}/v1beta`, api_key: "bench" },
  };
  const names = Object.keys(upstreams);
  return {
    upstreams: Object.fromEntries(Object.entries(upstreams).map(([name, entry]) => [modelOf(name), entry])),
    models: Object.fromEntries(
      names.map((name) => [modelOf(name), modelEntry([{ upstream: modelOf(name), model: "host-model" }])]),
    ),
  };
}

/** Medians over the rounds. */
interface Rate {
  /** Answers per second. */
  readonly perSecond: number;
  /** CPU time of the gateway per answer, in microseconds. Other load of the machine hardly changes it. */
  readonly cpuUs: number;
}

/** The rates with an upstream of another format, and of the client's own. */
export interface CellResult extends Cell {
  readonly own: Rate;
  readonly other: Rate;
  /** Median of the ratios of consecutive rounds, so that other load of the machine affects both. */
  readonly ratio: number;
  readonly ratioByCpu: number;
}

interface Throughput {
  readonly cells: readonly CellResult[];
  /** All answers, warm-up included. Each must be charged. */
  readonly answers: number;
}

interface Driven {
  readonly gateway: BenchGateway;
  readonly load: JobProcess<TranslateLoad>;
}

/** The model whose upstream has a format. */
function modelOf(upstream: string): string {
  return `bench-${upstream}`;
}

async function measureThroughput(
  { gateway, load }: Driven,
  { cells, rounds, roundMs, warmUpMs }: TranslatePlan,
): Promise<Throughput> {
  let answers = 0;
  const run = async ({ beside: _, ...cell }: Cell, ms: number): Promise<Rate> => {
    const { url, secret, pid } = gateway;
    const cpuBefore = cpuUs(pid);
    const job = {
      ...cell,
      target: { url, secret },
      model: modelOf(cell.upstream),
      connections: CONNECTIONS,
      ms,
    };
    // Safe because load-process.ts answers with this type.
    const result = (await load.perform(job)) as TranslateLoadResult;
    if (result.faults.length > 0) throw new Error(`${describe(cell)}: ${result.faults.join("; ")}`);
    answers += result.answers;
    return { perSecond: result.perSecond, cpuUs: (cpuUs(pid) - cpuBefore) / result.answers };
  };

  const results: CellResult[] = [];
  for (const cell of cells) {
    const { beside = cell.client } = cell;
    const base = { ...cell, client: beside, upstream: beside };
    for (const each of [base, cell]) await warmUp(() => run(each, warmUpMs));
    const pairs: { readonly own: Rate; readonly other: Rate }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const own = await run(base, roundMs);
      pairs.push({ own, other: await run(cell, roundMs) });
    }
    results.push({
      ...cell,
      own: medianRate(pairs.map(({ own }) => own)),
      other: medianRate(pairs.map(({ other }) => other)),
      ratio: medianOf(pairs.map(({ own, other }) => other.perSecond / own.perSecond)),
      ratioByCpu: medianOf(pairs.map(({ own, other }) => own.cpuUs / other.cpuUs)),
    });
  }
  return { cells: results, answers };
}

function medianRate(rates: readonly Rate[]): Rate {
  return {
    perSecond: medianOf(rates.map(({ perSecond }) => perSecond)),
    cpuUs: medianOf(rates.map(({ cpuUs }) => cpuUs)),
  };
}

function describe({ client, upstream, size, stream }: Cell): string {
  return `${client} to ${upstream}, ${size}, ${stream ? "streamed" : "whole"}`;
}
