import { residentMb } from "../bench/process-stats.ts";
import type { FlakyUpstreams } from "./flaky-upstreams.ts";
import type { StormGateway } from "./storm-gateway.ts";

/** What is still in use when nobody asks any more. */
export interface Leftovers {
  readonly slots: number;
  readonly heldUsd: readonly string[];
  readonly callsUnderWay: number;
}

export const NOTHING_LEFT: Leftovers = { slots: 0, heldUsd: [], callsUnderWay: 0 };

const SETTLE_MS = 60_000;

/** Waits until nothing is in use, or has been for too long. Returns what is left then. */
export async function untilSettled(gateway: StormGateway, upstreams: FlakyUpstreams): Promise<Leftovers> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const [held, { underWay }] = await Promise.all([gateway.held(), upstreams.count()]);
    const left = { slots: held.slots, heldUsd: held.usd, callsUnderWay: underWay };
    if (Bun.deepEquals(left, NOTHING_LEFT) || performance.now() > deadline) return left;
    await Bun.sleep(20);
  }
}

/** Waits until no connection to the upstreams is open, or has been for too long. Returns how many are then. */
export async function untilDisconnected(upstreams: FlakyUpstreams): Promise<number> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const { openSockets } = await upstreams.count();
    if (openSockets === 0 || performance.now() > deadline) return openSockets;
    await Bun.sleep(20);
  }
}

/** So many readings in a row that are no lower than those before, and at most so many in all. */
const READINGS = { last: 5, most: 50 };
const BETWEEN_MS = 200;
const LOWER = 0.99;

/**
 * The resident memory of an idle gateway in MB, each reading after a full collection, when it has come to rest:
 * so it is what the process holds, and not what its collector has not come to yet.
 */
export async function restingMb(pid: number): Promise<number> {
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
