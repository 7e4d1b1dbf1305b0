import { cpuUs } from "../cpu-time.ts";
import type { BenchGateway } from "../gateway.ts";
import type { JobProcess } from "../job-process.ts";
import { medianOf } from "../percentiles.ts";
import type { TranslateLoad, TranslateLoadResult } from "./load-process.ts";
import { type Cell, CONNECTIONS, type TranslatePlan } from "./plan.ts";

/** What a run came to; medians over the rounds. */
interface Rate {
  /** Answers a second. */
  readonly perSecond: number;
  /** Of the gateway's process, in microseconds for each answer: what else the machine does hardly changes it. */
  readonly cpuUs: number;
}

/** A client with an upstream of another format, and with one of its own. */
export interface CellResult extends Cell {
  readonly own: Rate;
  readonly other: Rate;
  /** Medians of the ratios of neighbouring rounds: what else the machine did then hit both. */
  readonly ratio: number;
  readonly ratioByCpu: number;
}

export interface Throughput {
  readonly cells: readonly CellResult[];
  /** All of them, warm-up included: each has to be paid for. */
  readonly answers: number;
}

export interface Driven {
  readonly gateway: BenchGateway;
  readonly load: JobProcess<TranslateLoad>;
}

/** The model whose upstream speaks a format. */
export function modelOf(upstream: string): string {
  return `bench-${upstream}`;
}

export async function measureThroughput(
  { gateway, load }: Driven,
  cells: readonly Cell[],
  { rounds, roundMs, warmUpMs }: TranslatePlan,
): Promise<Throughput> {
  let answers = 0;
  const run = async (cell: Cell, upstream: string, ms: number): Promise<Rate> => {
    const { url, secret, pid } = gateway;
    const cpuBefore = cpuUs(pid);
    const job = { ...cell, target: { url, secret }, model: modelOf(upstream), connections: CONNECTIONS, ms };
    // Safe because load-process.ts answers with exactly this.
    const result = (await load.perform(job)) as TranslateLoadResult;
    if (result.faults.length > 0) throw new Error(`${describe(cell)}: ${result.faults.join("; ")}`);
    answers += result.answers;
    return { perSecond: result.perSecond, cpuUs: (cpuUs(pid) - cpuBefore) / result.answers };
  };

  const results: CellResult[] = [];
  for (const cell of cells) {
    for (const upstream of [cell.client, cell.upstream]) await run(cell, upstream, warmUpMs);
    const pairs: { readonly own: Rate; readonly other: Rate }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const own = await run(cell, cell.client, roundMs);
      pairs.push({ own, other: await run(cell, cell.upstream, roundMs) });
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
