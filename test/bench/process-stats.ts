import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Length of a kernel clock tick in microseconds (Linux). */
const TICK_US = 10_000;
/** Index of the user time after the process name, which may contain spaces. */
const USER_TIME = 11;

/** CPU time of all threads of a process so far, in microseconds (Linux). */
export function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TIME]) + Number(fields[USER_TIME + 1])) * TICK_US;
}

/** Resident memory of a process and its children, in MB (Linux). */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  const own = Number(/VmRSS:\s*(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
  const ofChildren = await Promise.all(
    children
      .split(" ")
      .filter(Boolean)
      .map((child) => residentMb(Number(child))),
  );
  return ofChildren.reduce((sum, each) => sum + each, own);
}

/** Peak resident memory of a process, in MB (Linux). */
export async function peakMbOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** Peak resident memory of this process, in MB (Linux). */
export function peakMb(): number {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
