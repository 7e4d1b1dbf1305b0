import { type Child, startChild } from "../processes.ts";
import type { WireUpstreamCounts, WireUpstreamState } from "./wire-upstream-process.ts";

/**
 * The scripted upstream in a process of its own: at the pace of a model, over HTTP and HTTPS, failing on
 * demand.
 */
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
  // Safe because the process answers with this type.
  return (await answer.json()) as WireUpstreamState;
}
