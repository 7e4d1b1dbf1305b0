import type { MoneyResult } from "../contestants.ts";
import { atLeast, printMoney, tablePrinter, twoDecimals } from "../report-table.ts";
import type { AbsentPeer } from "./contestants.ts";
import type { Measured, Memory } from "./measure.ts";
import type { PeersCell } from "./plan.ts";
import type { AimResult, CellResult, Row } from "./rates.ts";

export interface PeersReport extends Measured {
  readonly aims: readonly AimResult[];
  readonly money: MoneyResult;
}

const TITLES = {
  whole: "whole answers",
  stream: "streams of 200 events",
  agent: "requests of 180 KB",
} as const satisfies Record<PeersCell["kind"], string>;
const row = tablePrinter(38, 12);
const HEADINGS = ["/s", "p99 ms", "CPU µs", "/s ÷ proxy", "÷ Tollgate", "CPU ÷ proxy", "÷ Tollgate"];

const CONDITIONS = [
  "Tollgate bills, limits and logs each request. The peers run as their documentation starts them, with neither",
  "billing, keys, logs of requests nor a database. CPU time is that of all threads and processes of a contestant.",
];

/** Prints the report. Ratios are medians of paired rounds. */
export function printPeersReport({ cells, memory, absent, aims, money }: PeersReport): string {
  return [
    ...cells.flatMap(printCell),
    row("resident memory, MB", ["idle", "under load"]),
    ...memory.map(printMemory),
    "",
    ...absent.map(printAbsent),
    ...aims.map(printAim),
    printMoney(money),
    ...CONDITIONS,
  ].join("\n");
}

function printCell({ kind, connections, rows }: CellResult): string[] {
  return [row(`${TITLES[kind]}, ${connections} connections`, HEADINGS), ...rows.map(printRow), ""];
}

function printRow({ name, fault, ...figures }: Row): string {
  if (fault !== undefined) return row(name, [`  could not be measured: ${fault}`]);
  return row(name, [
    figures.perSecond.toFixed(0),
    // No answer came within a round.
    Number.isNaN(figures.p99Ms) ? "-" : twoDecimals(figures.p99Ms),
    figures.cpuUs.toFixed(0),
    twoDecimals(figures.byProxy),
    twoDecimals(figures.byTollgate),
    twoDecimals(figures.cpuByProxy),
    twoDecimals(figures.cpuByTollgate),
  ]);
}

function printMemory({ name, version, idleMb, loadedMb }: Memory): string {
  return row(`${name} ${version}`, [idleMb.toFixed(0), loadedMb.toFixed(0)]);
}

function printAbsent({ name, version, reason }: AbsentPeer): string {
  return `${name} ${version} could not be measured: ${reason}`;
}

function printAim({ peer, kind, connections, min, beyond, ratio }: AimResult): string {
  const label = `Tollgate ÷ ${peer}, ${TITLES[kind]}/s, ${connections} connections:`;
  if (ratio === undefined) return `${label} could not be measured`;
  const further = beyond === undefined ? "" : `, beyond it ${atLeast(ratio, beyond)}`;
  return `${label} ${twoDecimals(ratio)}, aim ${atLeast(ratio, min)}${further}`;
}
