import { measureAddedLatency } from "./added-latency.ts";
import { type Contestants, startContestants } from "./contestants.ts";
import { checkMoney } from "./money-check.ts";
import { type Plan, readPlan } from "./plan.ts";
import { printReport, type Report } from "./report.ts";
import { measureStreamMemory } from "./stream-memory.ts";
import { type CellResult, measureThroughput } from "./throughput.ts";

/** `bun run bench [--quick] [--json]`: the gateway beside a bare proxy, both before one fast upstream. */
export async function benchGateway(args: readonly string[]): Promise<void> {
  const plan = readPlan(args);
  const contestants = await startContestants();
  const report = await measure(contestants, plan).finally(() => contestants.stop());
  console.log(plan.printsJson ? JSON.stringify(report) : printReport(report));
  process.exitCode = report.money.isRight ? 0 : 1;
}

async function measure(all: Contestants, plan: Plan): Promise<Report> {
  const throughput: CellResult[] = [];
  for (const cell of plan.cells) throughput.push(await measureThroughput(all, plan, cell));
  return {
    throughput,
    steady: await measureAddedLatency(all, plan),
    memory: await measureStreamMemory(all, plan),
    money: await checkMoney(all),
  };
}
