import { GatewayError } from "../errors.ts";

/** Whose body is read, and how many bodies may be on their way at once for that key and that account. */
export interface BodySender {
  readonly keyId: string;
  readonly keyBodiesMax: number;
  readonly accountId: string;
  readonly accountBodiesMax: number;
}

/** The request bodies that are being received, over all connections of this process. */
export interface IncomingBodies {
  /**
   * Starts to read a body and waits for it. Throws `too_concurrent` or `shutting_down` before it starts. Rejects
   * with `body_too_slow` after 120 s and with `shutting_down` when the gateway waits no longer, and then calls `cut`.
   */
  receive<Body>(sender: BodySender, start: () => Promise<Body>, cut?: () => void): Promise<Body>;
  /** Refuses bodies that are still on their way after so long, and from then on every body that is not there yet. */
  close(graceMs: number): void;
}

interface Incoming {
  readonly startedAtMs: number;
  /** Ends the wait with an error. */
  fail(cause: "body_too_slow" | "shutting_down"): void;
}

/** A body that trickles in is cut after this long in all. */
const BODY_MS_MAX = 120_000;

export function createIncomingBodies(msMax = BODY_MS_MAX): IncomingBodies {
  const incoming = new Set<Incoming>();
  const ofKeys = createCounts();
  const ofAccounts = createCounts();
  let timer: Timer | undefined;
  let isClosed = false;

  function failLate(): void {
    timer = undefined;
    // In the order in which they began: the first that is in time ends the search.
    for (const body of incoming) {
      const leftMs = body.startedAtMs + msMax - performance.now();
      if (leftMs > 0) {
        watch(leftMs);
        return;
      }
      body.fail("body_too_slow");
    }
  }
  /** One timer for all bodies: most are there long before it ends, so that one for each would be set in vain. */
  function watch(ms: number): void {
    if (timer) return;
    timer = setTimeout(failLate, Math.ceil(ms));
    timer.unref();
  }
  function failAll(): void {
    isClosed = true;
    for (const body of incoming) body.fail("shutting_down");
  }

  function follow<Body>(
    { keyId, accountId }: BodySender,
    arriving: Promise<Body>,
    cut: () => void,
  ): Promise<Body> {
    const { promise, resolve, reject } = Promise.withResolvers<Body>();
    const end = () => {
      if (!incoming.delete(body)) return;
      ofKeys.remove(keyId);
      ofAccounts.remove(accountId);
    };
    const body: Incoming = {
      startedAtMs: performance.now(),
      fail(cause) {
        end();
        reject(new GatewayError(cause));
        cut();
      },
    };
    incoming.add(body);
    ofKeys.add(keyId);
    ofAccounts.add(accountId);
    watch(msMax);
    arriving.then(
      (bytes) => {
        end();
        resolve(bytes);
      },
      (fault) => {
        end();
        reject(fault);
      },
    );
    return promise;
  }

  return {
    receive(sender, start, cut = () => undefined) {
      if (isClosed) throw new GatewayError("shutting_down");
      const isKeyFull = ofKeys.of(sender.keyId) >= sender.keyBodiesMax;
      if (isKeyFull || ofAccounts.of(sender.accountId) >= sender.accountBodiesMax) {
        throw new GatewayError("too_concurrent", { retryAfterS: 1 });
      }
      const arriving = start();
      // What came with the headers has kept nobody waiting, however many such requests came together.
      if (Bun.peek.status(arriving) !== "pending") return arriving;
      return follow(sender, arriving, cut);
    },
    close: (graceMs) => void setTimeout(failAll, graceMs).unref(),
  };
}

function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (id: string) => counts.get(id) ?? 0,
    add: (id: string) => void counts.set(id, (counts.get(id) ?? 0) + 1),
    remove(id: string) {
      const left = (counts.get(id) ?? 0) - 1;
      if (left > 0) counts.set(id, left);
      else counts.delete(id);
    },
  };
}
