/** CPU time of this process during synchronous work, in milliseconds. Other processes do not increase it. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const TRIES = 5;

/** Least CPU time of five runs of the work, in milliseconds. */
export function leastCpuMs(work: () => void): number {
  return Math.min(...Array.from({ length: TRIES }, () => cpuMs(work)));
}
