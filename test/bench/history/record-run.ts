import type { Plan } from "../gateway/plan.ts";
import type { Report } from "../gateway/report.ts";
import { saveRun } from "./files.ts";
import { describeMachine, readCommit } from "./machine.ts";

/** Records the report of a run with its date, commit and machine. */
export function recordRun(report: Report, { isQuick, isKept }: Plan): void {
  const line = {
    date: new Date().toISOString(),
    commit: readCommit(),
    machine: describeMachine(),
    isQuick,
    ...report,
    throughput: report.throughput.map((cell) => ({ ...cell, beside: [...cell.beside] })),
  };
  saveRun(line, isKept);
}
