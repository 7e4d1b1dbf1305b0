import { type Contestant, startContestants } from "../contestants.ts";
import { type ExtraConfig, NO_EXTRA_CONFIG } from "../start-gateway.ts";
import { BODY_CONNECTIONS, BODY_SIZES, type GrowthDurations } from "./plan.ts";
import { type GrowthPoint, measurePoint, warmUp } from "./point.ts";

/** The one account may use the whole cap of bodies in flight. By default it may use a quarter. */
const ONE_ACCOUNT_ONLY: ExtraConfig = {
  ...NO_EXTRA_CONFIG,
  accountLimits: { body_bytes_in_flight: 128 * 1024 * 1024 },
};

/** Measures request bodies of growing size. Answers stay small. */
export async function measureBodies(durations: GrowthDurations): Promise<readonly GrowthPoint[]> {
  const contestants = await startContestants(ONE_ACCOUNT_ONLY);
  const { upstream, proxy, gateway } = contestants;
  const points: GrowthPoint[] = [];
  try {
    await warmUp(contestants);
    for (const { label, bytes } of BODY_SIZES) {
      const withBodies = (each: Contestant): Contestant => ({
        ...each,
        closedLoop: (job) => each.closedLoop({ ...job, bodyBytes: bytes }),
      });
      const sized = {
        ...contestants,
        upstream: withBodies(upstream),
        proxy: withBodies(proxy),
        gateway: withBodies(gateway),
      };
      points.push(await measurePoint(sized, durations, { step: label, connections: BODY_CONNECTIONS }));
    }
  } finally {
    await contestants.stop();
  }
  return points;
}
