import { parseArgs } from "node:util";
import type { Format, RequestSize } from "./requests.ts";

/** What `bun run bench translate` measures, and how long. */
export interface TranslatePlan {
  readonly printsJson: boolean;
  readonly cells: readonly Cell[];
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
  /** The form of client and upstream that it is measured against. Default: that of its client. */
  readonly beside?: Format;
  readonly size: RequestSize;
  readonly stream: boolean;
}

export const FORMAT_PAIRS: readonly FormatPair[] = [
  { client: "chat", upstream: "messages" },
  { client: "messages", upstream: "chat" },
  { client: "responses", upstream: "chat" },
  { client: "responses", upstream: "messages" },
  { client: "gemini", upstream: "chat" },
];
/** A form that passes through, measured against another that does. */
const BESIDE: readonly (FormatPair & Pick<Cell, "beside">)[] = [
  { client: "gemini", upstream: "gemini", beside: "chat" },
];
export const SIZES: readonly RequestSize[] = ["usual", "agent", "late agent"];

const CELLS: readonly Cell[] = SIZES.flatMap((size) =>
  [false, true].flatMap((stream) => [...FORMAT_PAIRS, ...BESIDE].map((pair) => ({ ...pair, size, stream }))),
);

export const CONNECTIONS = 64;
/** Least ratio of the throughput to that of the client's own format. */
export const RATIO_MIN = 0.7;
/** Most microseconds to decode and encode one event. */
export const EVENT_US_MAX = 15;

/** Parses the options: `--quick` takes a minute, `--client gemini` leaves out others, `--json` prints one object. */
export function readTranslatePlan(args: readonly string[]): TranslatePlan {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean" }, json: { type: "boolean" }, client: { type: "string" } },
  });
  const printsJson = values.json ?? false;
  const cells = CELLS.filter(({ client }) => values.client === undefined || values.client === client);
  return values.quick
    ? { printsJson, cells, rounds: 3, roundMs: 500, warmUpMs: 500, pureMs: 300 }
    : { printsJson, cells, rounds: 5, roundMs: 1_500, warmUpMs: 1_000, pureMs: 2_000 };
}
