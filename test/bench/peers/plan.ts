import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** Names of the contestants that all others are compared with. */
export const PROXY = "bare proxy";
export const TOLLGATE = "Tollgate";

/** What is measured, and how long. */
export interface PeersPlan {
  readonly printsJson: boolean;
  /** Folder of installed peers. Default: one of this user among the temporary files. */
  readonly cache: string;
  readonly rounds: number;
  /** Length of a window of the warm-up. */
  readonly warmUpMs: number;
  /** A round of a slow contestant is as long as this many answers on each connection take. */
  readonly answersMin: number;
  readonly cells: readonly PeersCell[];
}

/** One table: closed loops with this many connections. */
export interface PeersCell {
  /** An answer to a small request, whole or streamed, or a whole answer to an agent's request of 180 KB. */
  readonly kind: "whole" | "stream" | "agent";
  readonly connections: number;
  readonly roundMs: number;
}

/** The least ratio of Tollgate's answers per second to a peer's. */
export interface Aim extends Pick<PeersCell, "kind" | "connections"> {
  readonly peer: string;
  readonly min: number;
  /** A further aim. */
  readonly beyond?: number;
}

export const AIMS: readonly Aim[] = [
  { peer: "Portkey on Bun", kind: "whole", connections: 32, min: 1.3, beyond: 2 },
  { peer: "Portkey on Bun", kind: "whole", connections: 128, min: 1.5, beyond: 2 },
  { peer: "TensorZero", kind: "whole", connections: 32, min: 1 },
  { peer: "Portkey on Bun", kind: "agent", connections: 16, min: 1.4, beyond: 2 },
];

/** Parses the options: `--quick` takes three minutes, `--json` prints one object, `--cache DIR` keeps the peers. */
export function readPeersPlan(args: readonly string[]): PeersPlan {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean" }, json: { type: "boolean" }, cache: { type: "string" } },
  });
  const [wholeMs, streamMs] = values.quick ? [500, 1000] : [2000, 3000];
  return {
    printsJson: values.json ?? false,
    cache: values.cache ?? join(tmpdir(), `tollgate-peers-${process.getuid?.()}`),
    rounds: values.quick ? 2 : 5,
    warmUpMs: values.quick ? 1000 : 1500,
    answersMin: values.quick ? 1 : 3,
    cells: [
      { kind: "whole", connections: 32, roundMs: wholeMs },
      { kind: "whole", connections: 128, roundMs: wholeMs },
      { kind: "stream", connections: 32, roundMs: streamMs },
      { kind: "agent", connections: 16, roundMs: wholeMs },
    ],
  };
}
