const TRIES = 5;

/** What some work took at its fastest, in ms: what others on the machine were given meanwhile is not in it. */
export function leastMs(work: () => void): number {
  const each = Array.from({ length: TRIES }, () => {
    const startedMs = performance.now();
    work();
    return performance.now() - startedMs;
  });
  return Math.min(...each);
}
