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

const ALONE_MS_MAX = 100;
const TOGETHER_MS_MAX = 250;

/** The head of the table, and what the machine does by itself while nothing is sent. */
export function printHead(control: Stall): string {
  return [
    row("GET /healthz, longest ms", "", ["alone", "aim", "together", "aim"], ""),
    row("nothing sent", "", [control.longestMs.toFixed(0), "", "", ""], `${control.probes} probes`),
  ].join("\n");
}

export function printResult({ name, way, alone, together, count }: BodyResult): string {
  const cells = [
    alone.longestMs.toFixed(0),
    atMost(alone.longestMs, ALONE_MS_MAX),
    together.longestMs.toFixed(0),
    atMost(together.longestMs, TOGETHER_MS_MAX),
  ];
  return row(name, way, cells, `${alone.statuses} | ${count}: ${together.statuses}`);
}

/** What the whole table comes to; memory is the gateway's at its most. */
export function printEnd(results: readonly BodyResult[], peakMb: number): string {
  const short = results.filter(
    ({ alone, together }) => alone.longestMs >= ALONE_MS_MAX || together.longestMs >= TOGETHER_MS_MAX,
  );
  return `\n${short.length} of ${results.length} are SHORT. The gateway took ${peakMb.toFixed(0)} MB at its most.`;
}

function row(name: string, way: string, cells: readonly string[], statuses: string): string {
  return `${name.padEnd(38)}${way.padEnd(24)}${cells.map((cell) => cell.padStart(11)).join("")}  ${statuses}`;
}

function atMost(value: number, most: number): string {
  return `${most} ${value < most ? "ok" : "SHORT"}`;
}
