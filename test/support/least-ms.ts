import { cpuMs } from "./cpu-ms.ts";

const TRIES = 5;

/** CPU time that some work took at its least, in milliseconds. */
export function leastMs(work: () => void): number {
  return Math.min(...Array.from({ length: TRIES }, () => cpuMs(work)));
}
