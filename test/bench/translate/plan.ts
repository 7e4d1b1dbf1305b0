import { parseArgs } from "node:util";
import type { Format, RequestSize } from "./requests.ts";

/** What `bun run bench translate` measures, and how long. */
export interface TranslatePlan {
  readonly printsJson: boolean;
  readonly rounds: number;
  readonly roundMs: number;
  /** Length of a window of the warm-up. */
  readonly warmUpMs: number;
  /** Duration of each measurement of the codecs alone. */
  readonly pureMs: number;
}

/** The formats of a client and its upstream. */
export interface FormatPair {
  readonly client: Format;
  readonly upstream: Format;
}

/** One row of the table: a translation beside the client's own format. */
export interface Cell extends FormatPair {
  readonly size: RequestSize;
  readonly stream: boolean;
}

export const FORMAT_PAIRS: readonly FormatPair[] = [
  { client: "chat", upstream: "messages" },
  { client: "messages", upstream: "chat" },
  { client: "responses", upstream: "chat" },
  { client: "responses", upstream: "messages" },
];
export const SIZES: readonly RequestSize[] = ["usual", "agent", "late agent"];

export const CELLS: readonly Cell[] = SIZES.flatMap((size) =>
  [false, true].flatMap((stream) => FORMAT_PAIRS.map((pair) => ({ ...pair, size, stream }))),
);

export const CONNECTIONS = 64;
/** Least ratio of the throughput to that of the client's own format. */
export const RATIO_MIN = 0.7;
/** Most microseconds to decode and encode one event. */
export const EVENT_US_MAX = 15;

/** Parses the options: `--quick` takes a minute, `--json` prints one object. */
export function readTranslatePlan(args: readonly string[]): TranslatePlan {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean" }, json: { type: "boolean" } },
  });
  const printsJson = values.json ?? false;
  return values.quick
    ? { printsJson, rounds: 3, roundMs: 500, warmUpMs: 500, pureMs: 300 }
    : { printsJson, rounds: 5, roundMs: 1_500, warmUpMs: 1_000, pureMs: 2_000 };
}
