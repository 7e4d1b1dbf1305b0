import { readStorage, type StoredBooks } from "./books.ts";
import type { Seen } from "./call.ts";
import { type Answered, type FlakyUpstreams, startFlakyUpstreams } from "./flaky-upstreams.ts";
import type { Weather } from "./plan.ts";
import { runStorm } from "./run-storm.ts";
import { type Leftovers, restingMb, untilDisconnected, untilSettled } from "./settle-down.ts";
import { countDescriptors, type StormGateway, startStormGateway } from "./storm-gateway.ts";

/** Everything that a storm left behind. */
export interface Evidence {
  readonly seen: readonly Seen[];
  readonly answered: Answered;
  readonly books: StoredBooks;
  readonly log: readonly string[];
  /** What was in use when the last client had gone. */
  readonly leftovers: Leftovers;
  readonly memory: { readonly beforeMb: number; readonly afterMb: number };
  /** Connections to the upstreams, while the gateway was idle and after it had ended. */
  readonly sockets: { readonly idle: number; readonly ended: number };
  /** Sockets, files and pipes of the gateway, before the first request and while it was idle. */
  readonly descriptors: { readonly before: number; readonly idle: number };
  readonly exitCode: number;
  /** What `tollgate audit` said while it ran and after it had ended. */
  readonly audits: readonly Record<string, unknown>[];
}

export interface StormPlan {
  readonly weather: Weather;
  /** Requests before memory is measured for the first time. */
  readonly warmUp: number;
  readonly requests: number;
  /** Requests at a time. */
  readonly callers: number;
}

/** Starts a gateway before flaky upstreams, lets a storm pass over it, and stops it. */
export async function gather(plan: StormPlan): Promise<Evidence> {
  const upstreams = await startFlakyUpstreams(plan.weather);
  try {
    const gateway = await startStormGateway(upstreams.url, COLLECTS);
    return await gatherFrom({ gateway, upstreams }, plan).finally(gateway.remove);
  } finally {
    await upstreams.stop();
  }
}

const COLLECTS = { BUN_OPTIONS: `"--preload=${import.meta.dir}/collect-child.ts"` };

async function gatherFrom(
  parts: { gateway: StormGateway; upstreams: FlakyUpstreams },
  { weather, warmUp, requests, callers }: StormPlan,
): Promise<Evidence> {
  const { gateway, upstreams } = parts;
  const descriptorsBefore = countDescriptors(gateway.pid);
  const warm = await runStorm(parts, { weather, first: 1, count: warmUp, callers });
  await untilSettled(gateway, upstreams);
  const beforeMb = await restingMb(gateway.pid);
  const seen = await runStorm(parts, { weather, first: warmUp + 1, count: requests, callers });
  const leftovers = await untilSettled(gateway, upstreams);
  const afterMb = await restingMb(gateway.pid);
  const descriptors = { before: descriptorsBefore, idle: countDescriptors(gateway.pid) };
  const { openSockets } = await upstreams.count();
  const audited = await gateway.audit();
  const exitCode = await gateway.stop();
  return {
    seen: [...warm, ...seen],
    answered: await upstreams.answered(),
    books: readStorage(gateway.databasePath),
    log: gateway.log(),
    leftovers,
    memory: { beforeMb, afterMb },
    sockets: { idle: openSockets, ended: await untilDisconnected(upstreams) },
    descriptors,
    exitCode,
    audits: [audited.json(), (await gateway.audit()).json()],
  };
}
