import { STALL_MS_MAX } from "../gateway/plan.ts";
import { below, tablePrinter } from "../report-table.ts";
import type { MemoryResult } from "./measure-memory.ts";
import type { Stretch } from "./probe-process.ts";

/** The effect of bodies on a second client. */
export interface Stall extends Stretch {
  /** The statuses of the bodies, such as "48x200 2x429". */
  readonly statuses: string;
}

export interface BodyResult {
  readonly name: string;
  /** The client's format and the model. */
  readonly way: string;
  readonly alone: Stall;
  readonly together: Stall;
  /** Number of concurrent requests. */
  readonly count: number;
}

const printCells = tablePrinter(0, 11);
const ALONE_MS_MAX = STALL_MS_MAX;
const TOGETHER_MS_MAX = 250;

/**
 * Prints the head of the table: latencies without and with the wait for a processor, and the control without
 * load.
 */
export function printHead(control: Stall): string {
  return [
    row("GET /healthz, longest ms", "", ["alone", "seen", "aim", "together", "seen", "aim"], ""),
    row(
      "nothing sent",
      "",
      [control.longestMs.toFixed(0), control.seenMs.toFixed(0), "", "", "", ""],
      `${control.probes} probes`,
    ),
  ].join("\n");
}

export function printResult({ name, way, alone, together, count }: BodyResult): string {
  const cells = [
    alone.longestMs.toFixed(0),
    alone.seenMs.toFixed(0),
    below(alone.longestMs, ALONE_MS_MAX),
    together.longestMs.toFixed(0),
    together.seenMs.toFixed(0),
    below(together.longestMs, TOGETHER_MS_MAX),
  ];
  return row(name, way, cells, `${alone.statuses} | ${count}: ${together.statuses}`);
}

/** Prints the summary of the table. `peakMb` is the peak memory of the gateway. */
export function printEnd(results: readonly BodyResult[], peakMb: number): string {
  const short = results.filter(
    ({ alone, together }) => alone.longestMs >= ALONE_MS_MAX || together.longestMs >= TOGETHER_MS_MAX,
  );
  return `\n${short.length} of ${results.length} are SHORT. The gateway took ${peakMb.toFixed(0)} MB at its most.`;
}

const MEMORY_MB_MAX = 1_000;

/** Prints the memory of bodies in flight, in MB. */
export function printMemory(results: readonly MemoryResult[]): string {
  const head = ["in flight", "before", "held", "times", "at most", "aim"];
  return [
    row("resident memory, MB", "", head, ""),
    ...results.map(({ name, inFlightMb, beforeMb, heldMb, peakMb, statuses }) => {
      const sizes = [inFlightMb, beforeMb, heldMb].map((each) => each.toFixed(0));
      const times = ((heldMb - beforeMb) / inFlightMb).toFixed(2);
      return row(name, "", [...sizes, times, peakMb.toFixed(0), below(peakMb, MEMORY_MB_MAX)], statuses);
    }),
  ].join("\n");
}

function row(name: string, way: string, cells: readonly string[], statuses: string): string {
  return `${printCells(`${name.padEnd(38)}${way.padEnd(24)}`, cells)}  ${statuses}`;
}
