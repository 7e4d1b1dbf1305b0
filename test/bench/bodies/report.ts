import type { Stretch } from "./probe-process.ts";

/** What a second client saw while bodies were sent. */
export interface Stall extends Stretch {
  /** How the bodies were answered, "48x200 2x429". */
  readonly statuses: string;
}

export interface BodyResult {
  readonly name: string;
  /** The client's format and the model. */
  readonly way: string;
  readonly alone: Stall;
  readonly together: Stall;
  /** How many were sent together. */
  readonly count: number;
}

export interface BodiesReport {
  /** While nothing was sent: what the machine does by itself. */
  readonly control: Stall;
  readonly results: readonly BodyResult[];
  /** Resident memory of the gateway at its most. */
  readonly peakMb: number;
}

const ALONE_MS_MAX = 100;
const TOGETHER_MS_MAX = 250;

export function printBodiesReport({ control, results, peakMb }: BodiesReport): string {
  return [
    row("GET /healthz, longest ms", "", ["alone", "aim", "together", "aim"], ""),
    row("nothing sent", "", [control.longestMs.toFixed(0), "", "", ""], `${control.probes} probes`),
    ...results.map(printResult),
    "",
    `The gateway took ${peakMb.toFixed(0)} MB at its most.`,
  ].join("\n");
}

function printResult({ name, way, alone, together, count }: BodyResult): string {
  const cells = [
    alone.longestMs.toFixed(0),
    atMost(alone.longestMs, ALONE_MS_MAX),
    together.longestMs.toFixed(0),
    atMost(together.longestMs, TOGETHER_MS_MAX),
  ];
  return row(name, way, cells, `${alone.statuses} | ${count}: ${together.statuses}`);
}

function row(name: string, way: string, cells: readonly string[], statuses: string): string {
  return `${name.padEnd(38)}${way.padEnd(24)}${cells.map((cell) => cell.padStart(11)).join("")}  ${statuses}`;
}

function atMost(value: number, most: number): string {
  return `${most} ${value < most ? "ok" : "SHORT"}`;
}
