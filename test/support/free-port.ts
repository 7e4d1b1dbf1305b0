/** Below the ephemeral ports of the system, also with the 10,000 that Redis adds for its cluster bus. */
const PORTS = { least: 12_000, count: 10_000 };

/** A reserved port is taken at this address, which no server uses, and so much above. */
const RESERVATION = { hostname: "127.77.77.77", above: 10_000 };

let last = Math.floor(Math.random() * PORTS.count);
const reservations: { unref(): void }[] = [];

/**
 * Returns a loopback port that nothing listens on. The system does not assign it by itself, so that a server
 * can restart on it. Each call returns another port, in all test processes that run.
 */
export function freePort(): number {
  for (let tries = 0; tries < PORTS.count; tries += 1) {
    last = (last + 1) % PORTS.count;
    const port = PORTS.least + last;
    if (isFreePort(port) && reserve(port)) return port;
  }
  throw new Error(`Every port from ${PORTS.least} on is taken`);
}

/** Whether nothing listens on a loopback port. */
export function isFreePort(port: number): boolean {
  try {
    listen("127.0.0.1", port).stop(true);
    return true;
  } catch {
    return false;
  }
}

/** Reserves a port until this process ends. Returns whether no other test process has reserved it. */
function reserve(port: number): boolean {
  try {
    const listener = listen(RESERVATION.hostname, port + RESERVATION.above);
    listener.unref();
    reservations.push(listener);
    return true;
  } catch (error) {
    // Some systems have one loopback address, and no reservations.
    return !(error instanceof Error && "code" in error && error.code === "EADDRINUSE");
  }
}

function listen(hostname: string, port: number) {
  return Bun.listen({ hostname, port, socket: { data() {} } });
}
