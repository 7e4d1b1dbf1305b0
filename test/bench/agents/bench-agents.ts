import { checkMoney } from "../contestants.ts";
import { measureStallTogether } from "../gateway/stall.ts";
import { recordAgentsRun } from "../history/record-run.ts";
import { type AgentCellResult, measureGroup } from "./measure.ts";
import { type AgentsPlan, readAgentsPlan, type TimedGroup } from "./plan.ts";
import { type AgentsReport, printAgentsReport } from "./report.ts";
import { type AgentContestants, startAgentContestants } from "./start-contestants.ts";

/**
 * `bun run bench agents [--quick] [--only TEXT] [--json] [--keep]`: measures the requests of coding agents, which
 * repeat their tools and the whole conversation, beside a bare proxy.
 */
export async function benchAgents(args: readonly string[]): Promise<void> {
  const plan = readAgentsPlan(args);
  const report = await measure(plan);
  console.log(plan.printsJson ? JSON.stringify(report) : printAgentsReport(report));
  if (plan.isWhole) recordAgentsRun(report, plan);
  process.exitCode = report.money.isRight ? 0 : 1;
}

async function measure({ groups }: AgentsPlan): Promise<AgentsReport> {
  const contestants = await startAgentContestants();
  try {
    const cells = await measureGroups(contestants, groups);
    const stallMs = await measureStallTogether();
    const answers = cells.reduce((sum, cell) => sum + cell.answers, 0);
    const money = await checkMoney({ gateway: { answers }, gatewayProcess: contestants.gateway });
    return { cells, stallMs, money };
  } finally {
    await contestants.stop();
  }
}

/** Measures groups one after the other, each with the proxy beside it. */
async function measureGroups(
  contestants: AgentContestants,
  groups: readonly TimedGroup[],
): Promise<readonly AgentCellResult[]> {
  const cells: AgentCellResult[] = [];
  for (const group of groups) cells.push(...(await measureGroup(contestants, group)));
  return cells;
}
