import { readFileSync } from "node:fs";

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
