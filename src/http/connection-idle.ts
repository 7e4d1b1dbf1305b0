/** For how long the connection of a request may be silent at the stage that the request is in. */
export interface ConnectionIdle {
  /** A large body may take longer than {@link whileWaiting} allows: Bun does not count incoming bytes as a sign of life. */
  whileReceiving(request: Request): void;
  /** A model may think for minutes: the timeouts of its upstream end that, and silences of streams are filled. */
  whileAnswering(request: Request): void;
  /** A slow client may still be reading the end of its answer. */
  whileReading(request: Request): void;
  /** As every connection, between requests and after a refusal. */
  whileWaiting(request: Request): void;
}

/** The most that Bun takes; 0 is no limit. */
const SECONDS_MAX = 255;
/** Above the total limit of a body, so that a body that trickles in is refused and not cut. */
const RECEIVING_S = 150;
const READING_FACTOR = 3;

/** `close` makes the server close a request's connection after so many silent seconds. */
export function createConnectionIdle(
  close: (request: Request, seconds: number) => void,
  idleS: number,
): ConnectionIdle {
  const readingS = Math.min(READING_FACTOR * idleS, SECONDS_MAX);
  return {
    whileReceiving: (request) => close(request, RECEIVING_S),
    whileAnswering: (request) => close(request, 0),
    whileReading: (request) => close(request, readingS),
    whileWaiting: (request) => close(request, idleS),
  };
}
