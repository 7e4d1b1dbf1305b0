import type { MoneyResult } from "../contestants.ts";
import { STALL_MS_MAX } from "../gateway/plan.ts";
import { leastOf, mostOf, printMoney, tablePrinter, twoDecimals } from "../report-table.ts";
import type { AgentCellResult, TurnResult } from "./measure.ts";
import { aimsOf } from "./plan.ts";

export interface AgentsReport {
  readonly cells: readonly AgentCellResult[];
  /** The longest stall of the event loop while 50 of the costliest bodies arrive at once, in ms. */
  readonly stallMs: number;
  readonly money: MoneyResult;
}

const row = tablePrinter(42, 14);
const HEADINGS = [
  "CPU ms",
  "aim",
  "gateway/s",
  "aim",
  "rate ÷ proxy",
  "aim",
  "CPU ÷ proxy",
  "p50 ms",
  "p99 ms",
  "proxy/s",
  "CPU ms",
  "p50 ms",
  "p99 ms",
];
/** The turns that are printed. JSON has all of them. */
const PRINTED_TURNS = new Set([1, 5, 10, 15, 20]);

/** Prints the report. Times are in milliseconds, CPU time is that of one answer. */
export function printAgentsReport({ cells, stallMs, money }: AgentsReport): string {
  const conversations = cells.filter(({ turns }) => turns.length > 1);
  return [
    row("requests of 180 KB, or of 20 to 400 KB", HEADINGS),
    ...cells.map(printCell),
    "",
    ...(conversations.length > 0 ? printTurns(conversations) : []),
    `longest stall of the event loop, 50 of the costliest admitted bodies at once: ${stallMs.toFixed(0)} ms, ` +
      `aim at most ${mostOf(stallMs, { aim: STALL_MS_MAX })}`,
    printMoney(money),
  ].join("\n");
}

function printCell({ name, gateway, proxy, ratio, cpuRatio }: AgentCellResult): string {
  const aims = aimsOf(name);
  const cpuMs = gateway.cpuUs / 1_000;
  return row(name, [
    twoDecimals(cpuMs),
    mostOf(cpuMs, aims.cpuMs) ?? "-",
    gateway.perSecond.toFixed(0),
    leastOf(gateway.perSecond, aims.perSecond) ?? "-",
    twoDecimals(ratio),
    leastOf(ratio, aims.ratio) ?? "-",
    twoDecimals(cpuRatio),
    gateway.p50Ms.toFixed(1),
    gateway.p99Ms.toFixed(1),
    proxy.perSecond.toFixed(0),
    twoDecimals(proxy.cpuUs / 1_000),
    proxy.p50Ms.toFixed(1),
    proxy.p99Ms.toFixed(1),
  ]);
}

function printTurns(cells: readonly AgentCellResult[]): readonly string[] {
  const printed = (turns: readonly TurnResult[]) => turns.filter(({ turn }) => PRINTED_TURNS.has(turn));
  return [
    row(
      "p50 / p99 ms of a turn",
      printed(cells[0]?.turns ?? []).map(({ turn }) => `turn ${turn}`),
    ),
    ...cells.map(({ name, turns }) =>
      row(
        name,
        printed(turns).map(({ gateway: { p50, p99 } }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`),
      ),
    ),
    "",
  ];
}
