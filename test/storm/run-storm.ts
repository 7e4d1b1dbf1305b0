import { residentMb } from "../bench/process-stats.ts";
import { type CallResult, call } from "./call.ts";
import { type Answered, type FlakyUpstreams, startFlakyUpstreams } from "./flaky-upstreams.ts";
import { readLedgerTables, type StoredLedger } from "./ledger-tables.ts";
import { type Outage, outagesOf, planOf, type StormConditions } from "./plan.ts";
import { countDescriptors, type StormGateway, startStormGateway } from "./storm-gateway.ts";

/** Everything that a storm leaves behind. */
export interface Evidence {
  readonly seen: readonly CallResult[];
  readonly answered: Answered;
  readonly ledger: StoredLedger;
  readonly log: readonly string[];
  /** Resources in use after the last client has left. */
  readonly leftovers: Leftovers;
  readonly memory: { readonly beforeMb: number; readonly afterMb: number };
  /** Connections to the upstreams, while the gateway was idle and after it stopped. */
  readonly sockets: { readonly idle: number; readonly ended: number };
  /** Sockets, files and pipes of the gateway, before the first request and while it was idle. */
  readonly descriptors: { readonly before: number; readonly idle: number };
  readonly exitCode: number;
  /** The output of `tollgate audit` while the gateway ran and after it stopped. */
  readonly audits: readonly Record<string, unknown>[];
}

export interface StormPlan {
  readonly conditions: StormConditions;
  /** Requests before the first measurement of memory. */
  readonly warmUp: number;
  readonly requests: number;
  /** Concurrent requests. */
  readonly callers: number;
}

/** Starts a gateway with flaky upstreams, sends it a storm of requests, and stops it. */
export async function runStorm(plan: StormPlan): Promise<Evidence> {
  const upstreams = await startFlakyUpstreams(plan.conditions);
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
  { conditions, warmUp, requests, callers }: StormPlan,
): Promise<Evidence> {
  const { gateway, upstreams } = parts;
  const descriptorsBefore = countDescriptors(gateway.pid);
  const warm = await sendRequests(parts, { conditions, first: 1, count: warmUp, callers });
  await untilSettled(gateway, upstreams);
  const beforeMb = await restingMb(gateway.pid);
  const seen = await sendRequests(parts, { conditions, first: warmUp + 1, count: requests, callers });
  const leftovers = await untilSettled(gateway, upstreams);
  const afterMb = await restingMb(gateway.pid);
  const descriptors = { before: descriptorsBefore, idle: countDescriptors(gateway.pid) };
  const { openSockets } = await upstreams.count();
  const audited = await gateway.audit();
  const exitCode = await gateway.stop();
  return {
    seen: [...warm, ...seen],
    answered: await upstreams.answered(),
    ledger: readLedgerTables(gateway.databasePath),
    log: gateway.log(),
    leftovers,
    memory: { beforeMb, afterMb },
    sockets: { idle: openSockets, ended: await untilDisconnected(upstreams) },
    descriptors,
    exitCode,
    audits: [audited.json(), (await gateway.audit()).json()],
  };
}

interface RequestBatch {
  readonly conditions: StormConditions;
  /** The number of the first request; the others follow. */
  readonly first: number;
  readonly count: number;
  /** Concurrent requests. */
  readonly callers: number;
}

/** Sends all requests of a batch, with the outages in between. */
async function sendRequests(
  { gateway, upstreams }: { gateway: StormGateway; upstreams: FlakyUpstreams },
  { conditions, first, count, callers }: RequestBatch,
): Promise<readonly CallResult[]> {
  const outages = outagesOf(conditions, first, count);
  const seen: CallResult[] = [];
  let next = first;
  const work = async () => {
    while (next < first + count) {
      const number = next++;
      applyOutages(outages, number, upstreams);
      const plan = planOf(conditions, number);
      seen.push(await call(gateway.payer(plan.key), plan));
    }
  };
  await Promise.all(Array.from({ length: callers }, work));
  // Ends an outage that would last beyond the last request.
  for (const { upstream, to } of outages) if (to >= first + count) upstreams.comeUp(upstream);
  return seen;
}

function applyOutages(outages: readonly Outage[], number: number, upstreams: FlakyUpstreams): void {
  for (const { upstream, from, to } of outages) {
    if (number === from) upstreams.goDown(upstream);
    if (number === to) upstreams.comeUp(upstream);
  }
}

/** Resources in use after the last request. */
export interface Leftovers {
  readonly slots: number;
  readonly heldUsd: readonly string[];
  readonly callsUnderWay: number;
}

export const NOTHING_LEFT: Leftovers = { slots: 0, heldUsd: [], callsUnderWay: 0 };

const SETTLE_MS = 60_000;

/** Waits until nothing is in use, at most one minute. Returns what is still in use. */
export async function untilSettled(gateway: StormGateway, upstreams: FlakyUpstreams): Promise<Leftovers> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const [held, { underWay }] = await Promise.all([gateway.held(), upstreams.count()]);
    const left = { slots: held.slots, heldUsd: held.usd, callsUnderWay: underWay };
    if (Bun.deepEquals(left, NOTHING_LEFT) || performance.now() > deadline) return left;
    await Bun.sleep(20);
  }
}

/** Waits until no upstream connection is open, at most one minute. Returns how many are still open. */
async function untilDisconnected(upstreams: FlakyUpstreams): Promise<number> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const { openSockets } = await upstreams.count();
    if (openSockets === 0 || performance.now() > deadline) return openSockets;
    await Bun.sleep(20);
  }
}

/** Stops after five readings in a row without a lower one, at most after fifty. */
const READINGS = { last: 5, most: 50 };
const BETWEEN_MS = 200;
const LOWER = 0.99;

/**
 * Resident memory of an idle gateway in MB. Repeats full collections until no reading is lower, so that
 * garbage does not count.
 */
async function restingMb(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  let last = 0;
  for (let reading = 0; reading < READINGS.most && last < READINGS.last; reading++) {
    process.kill(pid, "SIGUSR2");
    await Bun.sleep(BETWEEN_MS);
    const mb = await residentMb(pid);
    last = mb < least * LOWER ? 0 : last + 1;
    least = Math.min(least, mb);
  }
  return least;
}
