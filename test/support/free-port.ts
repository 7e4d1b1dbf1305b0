/** Below the ephemeral ports of the system, also with the 10,000 that Redis adds for its cluster bus. */
const PORTS = { least: 12_000, count: 10_000 };

/** Ports of one worker of a run. The run has fewer than 16. */
const WORKER_PORTS = 625;
/** Workers of a run have ports of their own: one must not choose a port that another has chosen and not opened yet. */
const { BUN_TEST_WORKER_ID: worker } = process.env;
let last = worker
  ? (process.ppid * 7_919 + Number(worker) * WORKER_PORTS) % PORTS.count
  : Math.floor(Math.random() * PORTS.count);

/**
 * Returns a loopback port that nothing listens on. The system does not assign it by itself, so that a server
 * can restart on it. Each call returns another port.
 */
export function freePort(): number {
  for (let tries = 0; tries < PORTS.count; tries += 1) {
    last = (last + 1) % PORTS.count;
    if (isFreePort(PORTS.least + last)) return PORTS.least + last;
  }
  throw new Error(`Every port from ${PORTS.least} on is taken`);
}

/** Whether nothing listens on a loopback port. */
export function isFreePort(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
