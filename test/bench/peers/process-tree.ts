import { readdirSync, readFileSync } from "node:fs";
import { cpuUs } from "../process-stats.ts";

/** CPU time of a process and its descendants so far, in microseconds (Linux). 0 for a process that has ended. */
export function treeCpuUs(pid: number): number {
  try {
    return childrenOf(pid).reduce((sum, child) => sum + treeCpuUs(child), cpuUs(pid));
  } catch {
    return 0;
  }
}

/** Children belong to the thread that started them. */
function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" "))
    .filter(Boolean)
    .map(Number);
}
