import type { AgentsPlan } from "../agents/plan.ts";
import type { AgentsReport } from "../agents/report.ts";
import type { Plan } from "../gateway/plan.ts";
import type { Report } from "../gateway/report.ts";
import { saveRun } from "./files.ts";
import { describeMachine, readCommit } from "./machine.ts";

/** Records the report of a run with its date, commit and machine. */
export function recordRun(report: Report, { isQuick, isKept }: Plan): void {
  const throughput = report.throughput.map((cell) => ({ ...cell, beside: [...cell.beside] }));
  saveRun({ ...describeRun(), isQuick, ...report, throughput }, isKept);
}

/** Records the report of a run of `bun run bench agents`. The latencies of single turns are left out. */
export function recordAgentsRun(
  { cells, stallMs, money }: AgentsReport,
  { isQuick, isKept, form }: AgentsPlan,
): void {
  const kept = cells.map(({ name, ratio, cpuRatio, proxy, gateway }) => {
    return { name, ratio, cpuRatio, proxy, gateway };
  });
  saveRun({ ...describeRun(), isQuick, form, agents: { cells: kept, stallMs }, money }, isKept);
}

function describeRun() {
  return { date: new Date().toISOString(), commit: readCommit(), machine: describeMachine() };
}
