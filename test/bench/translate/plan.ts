import { parseArgs } from "node:util";
import type { AskSize, Format } from "./requests.ts";

/** What `bun run bench translate` measures, and for how long. */
export interface TranslatePlan {
  readonly printsJson: boolean;
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
  /** The same for readers and printers by themselves. */
  readonly pureMs: number;
}

/** A client and the upstream it is translated for. */
export interface Way {
  readonly client: Format;
  readonly upstream: Format;
}

/** One line of the table: a way, beside the same client's own format. */
export interface Cell extends Way {
  readonly size: AskSize;
  readonly stream: boolean;
}

export const WAYS: readonly Way[] = [
  { client: "chat", upstream: "messages" },
  { client: "messages", upstream: "chat" },
  { client: "responses", upstream: "chat" },
  { client: "responses", upstream: "messages" },
];
export const SIZES: readonly AskSize[] = ["usual", "agent"];

export const CELLS: readonly Cell[] = SIZES.flatMap((size) =>
  [false, true].flatMap((stream) => WAYS.map((way) => ({ ...way, size, stream }))),
);

export const CONNECTIONS = 64;
/** Least share of the throughput that the same client has with its own format. */
export const RATIO_MIN = 0.7;
/** Most that reading an event and printing it anew may take, in microseconds. */
export const EVENT_US_MAX = 15;

/** Reads the command line: `--quick` for a minute, `--json` for one object. */
export function readTranslatePlan(args: readonly string[]): TranslatePlan {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean" }, json: { type: "boolean" } },
  });
  const printsJson = values.json ?? false;
  return values.quick
    ? { printsJson, rounds: 3, roundMs: 500, warmUpMs: 500, pureMs: 300 }
    : { printsJson, rounds: 5, roundMs: 1_500, warmUpMs: 3_000, pureMs: 2_000 };
}
