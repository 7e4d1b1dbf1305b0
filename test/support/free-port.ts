/** Below those that the system hands out by itself, also with the 10,000 that a Redis adds for its bus. */
const PORTS = { least: 12_000, count: 10_000 };

let last = Math.floor(Math.random() * PORTS.count);

/**
 * A port of the loopback that nobody listens on at the moment. Nobody is given it by chance before it is
 * used, or while its server is away; it is another one at each call.
 */
export function freePort(): number {
  for (let tries = 0; tries < PORTS.count; tries += 1) {
    last = (last + 1) % PORTS.count;
    if (isFreePort(PORTS.least + last)) return PORTS.least + last;
  }
  throw new Error(`Every port from ${PORTS.least} on is taken`);
}

/** Whether nobody listens on a port of the loopback. */
export function isFreePort(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
