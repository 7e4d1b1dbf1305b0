import { type Child, startChild } from "../processes.ts";
import type { WireUpstreamCounts, WireUpstreamState } from "./wire-upstream-process.ts";

/** The scripted upstream in its own process: at a model's pace, over HTTP and HTTPS, failing when told. */
export interface WireUpstream extends Omit<WireUpstreamState, "counts"> {
  counts(): Promise<WireUpstreamCounts>;
  stop(): Promise<void>;
}

export async function startWireUpstream(): Promise<WireUpstream> {
  const child = await startChild("upstream/wire-upstream-process.ts");
  const { plainUrl, secureUrl, authority } = await readState(child);
  return {
    plainUrl,
    secureUrl,
    authority,
    counts: async () => (await readState(child)).counts,
    stop: child.stop,
  };
}

async function readState({ url }: Child): Promise<WireUpstreamState> {
  const answer = await fetch(url);
  // Safe because the process says exactly this.
  return (await answer.json()) as WireUpstreamState;
}
