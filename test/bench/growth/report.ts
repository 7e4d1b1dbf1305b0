import { type Machine, machineKind } from "../history/line.ts";
import { printTable } from "../history/table.ts";
import type { PartName } from "./plan.ts";
import { drawPlot } from "./plot.ts";
import type { GrowthPoint } from "./point.ts";

/** One measured part: where and when, and its points. */
export interface GrowthResult {
  readonly part: PartName;
  readonly date: string;
  readonly commit: string;
  readonly machine: Machine;
  readonly isQuick: boolean;
  readonly points: readonly GrowthPoint[];
}

interface PartText {
  readonly title: string;
  readonly xLabel: string;
  /** Body sizes span rates of several magnitudes. */
  readonly isLogarithmic?: boolean;
}

const TEXTS: Readonly<Record<PartName, PartText>> = {
  keys: { title: "Cost by the number of keys", xLabel: "keys, each with an account of its own" },
  bodies: { title: "Cost by the size of a body", xLabel: "size of the request body", isLogarithmic: true },
  receipts: { title: "Cost by the number of receipts", xLabel: "receipts in the ledger" },
  replicas: {
    title: "Cost by the number of replicas",
    xLabel: "gateways on one PostgreSQL and one Redis",
  },
};

/** Draws rate and p99 of gateway and proxy. */
export function plotGrowth(result: GrowthResult): string {
  const { title, xLabel, isLogarithmic = false } = TEXTS[result.part];
  const { points } = result;
  const seriesOf = (read: (rate: GrowthPoint["gateway"]) => number) => [
    { name: "gateway", values: points.map(({ gateway }) => read(gateway)) },
    { name: "proxy", values: points.map(({ proxy }) => read(proxy)) },
  ];
  return drawPlot({
    title,
    xLabel,
    steps: points.map(({ step }) => step),
    panels: [
      { yLabel: "requests/s", isLogarithmic, series: seriesOf(({ perSecond }) => perSecond) },
      { yLabel: "p99, ms", isLogarithmic, series: seriesOf(({ p99Ms }) => p99Ms) },
    ],
    caption: placeOf(result),
  });
}

/** Prints a Markdown table, with the machine and the date above it. */
export function printGrowth(result: GrowthResult): string {
  const { part, points } = result;
  const details = Object.keys(points[0]?.details ?? {});
  const headings = [
    TEXTS[part].xLabel,
    "gateway/s",
    "p99, ms",
    "CPU, µs",
    "proxy/s",
    "p99, ms",
    "rate ÷ proxy",
    "CPU ÷ proxy",
    ...details,
  ];
  const rows = points.map((point) => [
    point.step,
    point.gateway.perSecond.toFixed(0),
    point.gateway.p99Ms.toFixed(1),
    point.gateway.cpuUs.toFixed(0),
    point.proxy.perSecond.toFixed(0),
    point.proxy.p99Ms.toFixed(1),
    point.ratio.toFixed(2),
    point.cpuRatio.toFixed(1),
    ...details.map((heading) => point.details[heading] ?? ""),
  ]);
  return [`${placeOf(result)}.`, "", ...printTable(headings, rows)].join("\n");
}

function placeOf({ date, commit, machine, isQuick }: GrowthResult): string {
  const run = isQuick ? "quick run" : "run";
  return `${machineKind(machine)}, Bun ${machine.bun}; ${run} of ${date.slice(0, 10)}, commit ${commit}`;
}
