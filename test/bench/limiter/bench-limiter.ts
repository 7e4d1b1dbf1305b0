import { type Contestants, startContestants } from "./contestants.ts";
import { createLoads } from "./loads.ts";
import { measureHeapBytes, measureStoredBytes } from "./memory.ts";
import { type LimiterPlan, readLimiterPlan } from "./plan.ts";
import { type LimiterReport, printLimiterReport } from "./report.ts";
import { type BesideResult, type RoundsResult, runBesideIncr, runRounds } from "./rounds.ts";
import { measureGateways } from "./whole-gateway.ts";

/** `bun run bench limiter [--quick] [--json]`: the limiter on both stores beside a bare INCR on the same Redis. */
export async function benchLimiter(args: readonly string[]): Promise<void> {
  const plan = readLimiterPlan(args);
  const contestants = await startContestants();
  const report = await measure(contestants, plan).finally(contestants.stop);
  console.log(plan.printsJson ? JSON.stringify(report) : printLimiterReport(report));
}

async function measure(contestants: Contestants, plan: LimiterPlan): Promise<LimiterReport> {
  const heapBytes = await measureHeapBytes();
  const storedBytes = await measureStoredBytes(contestants);
  const onRedis: BesideResult[] = [];
  const inProcess: RoundsResult[] = [];
  console.error("measuring, for some minutes unless --quick");
  for (const load of createLoads()) onRedis.push(await runBesideIncr(contestants, load, plan));
  for (const load of createLoads()) inProcess.push(await runRounds(contestants.inProcess, load, plan));
  return { onRedis, inProcess, storedBytes, heapBytes, gateways: await measureGateways(contestants, plan) };
}
