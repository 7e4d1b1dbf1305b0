import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Length of a kernel clock tick in microseconds (Linux). */
const TICK_US = 10_000;
/** Index of the user time after the process name, which may contain spaces. */
const USER_TIME = 11;

/** CPU time of all threads of a process so far, in microseconds (Linux). */
export function cpuUs(pid: number): number {
  const [user = 0, system = 0] = readTimes(pid);
  return (user + system) * TICK_US;
}

/** User and system time of a process, and of its children that have ended, in clock ticks. */
function readTimes(pid: number): readonly number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(USER_TIME, USER_TIME + 4).map(Number);
}

/** CPU time of a process and its descendants so far, in microseconds. Includes children that have ended (Linux). */
export function cpuUsOfTree(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const own = readTimes(pid).reduce((sum, ticks) => sum + ticks, 0) * TICK_US;
  return children.reduce((sum, child) => sum + cpuUsOfTree(Number(child)), own);
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
