/** Sets how long the connection of a request may be idle, by the phase of the request. */
export interface ConnectionIdle {
  /** 150 s: Bun does not count incoming bytes of a body as activity. */
  whileReceiving(request: Request): void;
  /** Unlimited: a model may take minutes. Upstream timeouts apply, and streams get keep-alives. */
  whileAnswering(request: Request): void;
  /** Three times the idle time: a slow client may still be reading the end of its response. */
  whileReading(request: Request): void;
  /** The idle time, as between requests; for responses sent before the body was read. */
  whileWaiting(request: Request): void;
}

/** Maximum that Bun accepts; 0 is unlimited. */
const SECONDS_MAX = 255;
/** Above the 120 s that a body may take: a slow body gets an error and not a closed connection. */
const RECEIVING_S = 150;
const READING_FACTOR = 3;

/** `setIdle` makes the server close the connection of a request after so many idle seconds. */
export function createConnectionIdle(
  setIdle: (request: Request, seconds: number) => void,
  idleS: number,
): ConnectionIdle {
  const readingS = Math.min(READING_FACTOR * idleS, SECONDS_MAX);
  return {
    whileReceiving: (request) => setIdle(request, RECEIVING_S),
    whileAnswering: (request) => setIdle(request, 0),
    whileReading: (request) => setIdle(request, readingS),
    whileWaiting: (request) => setIdle(request, idleS),
  };
}
