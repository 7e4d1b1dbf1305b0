/**
 * CPU time of this process while some synchronous work runs, in milliseconds. Unlike the time of a clock, it does
 * not grow when others use the processor.
 */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const TRIES = 5;

/** CPU time that some work took at its least, in milliseconds. */
export function leastCpuMs(work: () => void): number {
  return Math.min(...Array.from({ length: TRIES }, () => cpuMs(work)));
}
