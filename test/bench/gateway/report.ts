import type { MoneyResult } from "../contestants.ts";
import { atLeast, printMoney, tablePrinter, twoDecimals, verdict } from "../report-table.ts";
import type { CellResult, MemoryResult, SteadyResult } from "./bench-gateway.ts";
import { ADDED_MS_MAX, OPEN_STREAMS_MB_MAX } from "./plan.ts";

export interface Report {
  readonly throughput: readonly CellResult[];
  readonly steady: SteadyResult;
  readonly memory: MemoryResult;
  readonly money: MoneyResult;
}

const HEADINGS = [
  "answers",
  "conns",
  "proxy/s",
  "p50",
  "p99",
  "gateway/s",
  "p50",
  "p99",
  "ratio",
  "aim",
  "proxy µs",
  "gw µs",
  "CPU ratio",
  "ceiling/s",
];
const row = tablePrinter(0, 11);

/** Prints the report. Times are in milliseconds, CPU time per answer in microseconds. */
export function printReport({ throughput, steady, memory, money }: Report): string {
  return [
    row("", HEADINGS),
    ...throughput.map((cell) => row("", cellsOf(cell))),
    "",
    ...printSteady(steady),
    "",
    `${memory.streams} open streams: gateway ${mb(memory.gateway.openMb)} (before ${mb(memory.gateway.beforeMb)}), ` +
      `proxy ${mb(memory.proxy.openMb)} (before ${mb(memory.proxy.beforeMb)}); ` +
      `aim under ${OPEN_STREAMS_MB_MAX} MB: ${verdict(memory.gateway.openMb < OPEN_STREAMS_MB_MAX)}`,
    printMoney(money),
  ].join("\n");
}

function cellsOf({
  kind,
  connections,
  proxy,
  gateway,
  ratio,
  ratioMin,
  cpuRatio,
  ceilingPerSecond,
}: CellResult): string[] {
  return [
    kind,
    `${connections}`,
    proxy.perSecond.toFixed(0),
    twoDecimals(proxy.p50Ms),
    twoDecimals(proxy.p99Ms),
    gateway.perSecond.toFixed(0),
    twoDecimals(gateway.p50Ms),
    twoDecimals(gateway.p99Ms),
    ratio.toFixed(2),
    ratioMin === undefined ? "-" : atLeast(ratio, ratioMin),
    proxy.cpuUs.toFixed(0),
    gateway.cpuUs.toFixed(0),
    cpuRatio.toFixed(1),
    ceilingPerSecond.toFixed(0),
  ];
}

function printSteady({ perSecond, proxy, gateway, added, late }: SteadyResult): string[] {
  const isReached = added.p50 < ADDED_MS_MAX.p50 && added.p99 < ADDED_MS_MAX.p99;
  return [
    `steady ${perSecond} requests/s, from when each was due (the generator was late by ${twoDecimals(late.p50)} / ${twoDecimals(late.p99)}):`,
    `  p50: proxy ${twoDecimals(proxy.p50)}, gateway ${twoDecimals(gateway.p50)}, added ${twoDecimals(added.p50)} ms`,
    `  p99: proxy ${twoDecimals(proxy.p99)}, gateway ${twoDecimals(gateway.p99)}, added ${twoDecimals(added.p99)} ms`,
    `  aim under ${ADDED_MS_MAX.p50} and ${ADDED_MS_MAX.p99} ms added: ${verdict(isReached)}`,
  ];
}

function mb(value: number): string {
  return `${value.toFixed(0)} MB`;
}
