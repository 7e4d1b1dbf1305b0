import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Ticks of the kernel's accounts, in microseconds (Linux). */
const TICK_US = 10_000;
/** The places of user and system time behind the name, which may hold spaces. */
const USER_TIME = 11;

/** What a process has taken of the processors so far, all its threads together, in microseconds (Linux). */
export function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TIME]) + Number(fields[USER_TIME + 1])) * TICK_US;
}

/** Resident memory of a process and all it started, in MB (Linux). */
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

/** The most that a process has ever taken, in MB (Linux). */
export async function peakMbOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** The most that this process itself has ever taken, in MB (Linux); what started it does not count. */
export function peakMb(): number {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
