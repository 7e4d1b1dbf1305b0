/** Bun keeps at most 64 idle connections of a kind; with a few to spare for those that end just now. */
const CALLS_PER_LANE = 56;
/** Bun's own default, in seconds. */
const SESSION_TIMEOUT_S = 300;

/** Connections of one kind: what was used by calls that are over is used again by those that come. */
interface Lane {
  readonly session: Bun.FetchSession;
  calls: number;
}

/** Where the calls of one upstream go. */
export interface ConnectionPools {
  /** A session for one call, until that has ended. */
  take(ended: Promise<void>): Bun.FetchSession;
}

/**
 * Keeps a TLS connection for every call that runs at a time, which Bun by itself does not: of 200 answers that
 * end together it closes 136 connections, and the next 200 calls make as many handshakes. It keeps idle
 * connections apart by their TLS settings, so each 56 calls get settings of their own. They differ in how long
 * a server would remember a session, which means nothing to a client. `nextNumber` never gives one twice.
 */
export function createConnectionPools(nextNumber: () => number): ConnectionPools {
  const lanes: Lane[] = [];

  function open(): Lane {
    // Bun's types leave it out.
    const tls: object = { sessionTimeout: SESSION_TIMEOUT_S + nextNumber() };
    const lane = { session: new Bun.FetchSession({ tls }), calls: 0 };
    lanes.push(lane);
    return lane;
  }

  return {
    take(ended) {
      const lane = lanes.find(({ calls }) => calls < CALLS_PER_LANE) ?? open();
      lane.calls += 1;
      void ended.then(() => {
        lane.calls -= 1;
      });
      return lane.session;
    },
  };
}
