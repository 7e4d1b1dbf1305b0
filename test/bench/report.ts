import type { SteadyResult } from "./added-latency.ts";
import type { MoneyResult } from "./money-check.ts";
import { ADDED_MS_MAX, OPEN_STREAMS_MB_MAX } from "./plan.ts";
import type { MemoryResult } from "./stream-memory.ts";
import type { CellResult } from "./throughput.ts";

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
const WIDTH = 11;

/** The whole report as text. Times are in milliseconds, processor time per answer in microseconds. */
export function printReport({ throughput, steady, memory, money }: Report): string {
  return [
    printRow(HEADINGS),
    ...throughput.map((cell) => printRow(cellsOf(cell))),
    "",
    ...printSteady(steady),
    "",
    `${memory.streams} open streams: gateway ${mb(memory.gateway.openMb)} (before ${mb(memory.gateway.beforeMb)}), ` +
      `proxy ${mb(memory.proxy.openMb)} (before ${mb(memory.proxy.beforeMb)}); ` +
      `aim under ${OPEN_STREAMS_MB_MAX} MB: ${verdict(memory.gateway.openMb < OPEN_STREAMS_MB_MAX)}`,
    `money: ${money.requests} requests charged ${money.chargedUsd} USD, expected ${money.expectedUsd}; ` +
      `on hold ${money.heldUsd}; audit ${money.auditIsClean ? "clean" : "NOT CLEAN"}: ${verdict(money.isRight)}`,
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
    ms(proxy.p50Ms),
    ms(proxy.p99Ms),
    gateway.perSecond.toFixed(0),
    ms(gateway.p50Ms),
    ms(gateway.p99Ms),
    ratio.toFixed(2),
    ratioMin === undefined ? "-" : `${ratioMin} ${verdict(ratio >= ratioMin)}`,
    proxy.cpuUs.toFixed(0),
    gateway.cpuUs.toFixed(0),
    cpuRatio.toFixed(1),
    ceilingPerSecond.toFixed(0),
  ];
}

function printSteady({ perSecond, proxy, gateway, added, late }: SteadyResult): string[] {
  const isReached = added.p50 < ADDED_MS_MAX.p50 && added.p99 < ADDED_MS_MAX.p99;
  return [
    `steady ${perSecond} requests/s, from when each was due (the generator was late by ${ms(late.p50)} / ${ms(late.p99)}):`,
    `  p50: proxy ${ms(proxy.p50)}, gateway ${ms(gateway.p50)}, added ${ms(added.p50)} ms`,
    `  p99: proxy ${ms(proxy.p99)}, gateway ${ms(gateway.p99)}, added ${ms(added.p99)} ms`,
    `  aim under ${ADDED_MS_MAX.p50} and ${ADDED_MS_MAX.p99} ms added: ${verdict(isReached)}`,
  ];
}

function printRow(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(WIDTH)).join("");
}

function verdict(isReached: boolean): string {
  return isReached ? "ok" : "SHORT";
}

function ms(value: number): string {
  return value.toFixed(2);
}

function mb(value: number): string {
  return `${value.toFixed(0)} MB`;
}
