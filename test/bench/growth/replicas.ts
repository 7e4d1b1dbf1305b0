import { type Contestant, startContestants } from "../contestants.ts";
import { cpuUs } from "../process-stats.ts";
import type { Replica } from "../start-gateway.ts";
import { CONNECTIONS, type GrowthDurations, REPLICA_COUNTS } from "./plan.ts";
import { type GrowthPoint, measurePoint, warmUp } from "./point.ts";

/** Measures replicas on one PostgreSQL, with the limits in one Redis. Connections are spread evenly. */
export async function measureReplicas(durations: GrowthDurations): Promise<readonly GrowthPoint[]> {
  const contestants = await startContestants(undefined, { database: "postgres", hasRedis: true }, []);
  const { gateway, gatewayProcess } = contestants;
  const replicas: Replica[] = [gatewayProcess];
  const points: GrowthPoint[] = [];
  try {
    for (const count of REPLICA_COUNTS) {
      while (replicas.length < count) replicas.push(await gatewayProcess.startReplica());
      const together: Contestant = {
        ...gateway,
        cpuUs: () => replicas.reduce((sum, { pid }) => sum + cpuUs(pid), 0),
        closedLoop: (job) => gateway.closedLoop({ ...job, urls: replicas.map(({ url }) => url) }),
      };
      await warmUp({ ...contestants, gateway: together });
      points.push(
        await measurePoint({ ...contestants, gateway: together }, durations, {
          step: `${count}`,
          connections: CONNECTIONS,
        }),
      );
    }
    if (!(await gatewayProcess.isAuditClean())) throw new Error("The audit found a problem");
  } finally {
    await contestants.stop();
  }
  return points;
}
