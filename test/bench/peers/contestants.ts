import { FAST_MODEL } from "../answers.ts";
import type { Target } from "../connection.ts";
import { startChild } from "../processes.ts";
import { type BenchGateway, startGateway } from "../start-gateway.ts";
import { PEERS, type Peer } from "./peers.ts";
import { PROXY, TOLLGATE } from "./plan.ts";
import { startPeer } from "./start-peer.ts";

/** One of the compared servers, with its processes. */
export interface Contestant {
  readonly name: string;
  /** "" for code of this repository. */
  readonly version: string;
  readonly pid: number;
  readonly target: Target;
  readonly model: string;
  stop(): Promise<void>;
}

/** A peer that could not be installed or started. */
export interface AbsentPeer {
  readonly name: string;
  readonly version: string;
  readonly reason: string;
}

export interface Contestants {
  /** The bare proxy and Tollgate first. */
  readonly running: readonly Contestant[];
  readonly absent: readonly AbsentPeer[];
  readonly tollgate: BenchGateway;
  stop(): Promise<void>;
}

/** Starts one upstream, and before it each contestant in a process of its own. */
export async function startContestants(cache: string): Promise<Contestants> {
  const upstream = await startChild("upstream-process.ts");
  const proxy = await startChild("proxy-process.ts", [upstream.url]);
  const tollgate = await startGateway(upstream.url);
  const own = { version: "", model: FAST_MODEL };
  const running: Contestant[] = [
    { name: PROXY, ...own, ...proxy, target: { url: proxy.url, secret: "" } },
    {
      name: TOLLGATE,
      ...own,
      ...tollgate,
      target: { url: tollgate.url, secret: tollgate.secret },
      stop: tollgate.remove,
    },
  ];
  const absent: AbsentPeer[] = [];
  for (const peer of PEERS) {
    const started = await tryPeer(peer, upstream.url, cache);
    if ("reason" in started) absent.push(started);
    else running.push(started);
  }
  return {
    running,
    absent,
    tollgate,
    async stop() {
      await Promise.all(running.map((contestant) => contestant.stop()));
      await upstream.stop();
    },
  };
}

async function tryPeer(peer: Peer, upstreamUrl: string, cache: string): Promise<Contestant | AbsentPeer> {
  const { name, model } = peer;
  const { version } = peer.package;
  try {
    return { name, version, model, ...(await startPeer(peer, upstreamUrl, cache)) };
  } catch (error) {
    return { name, version, reason: error instanceof Error ? error.message : String(error) };
  }
}
