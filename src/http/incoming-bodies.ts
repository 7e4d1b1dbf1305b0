import { GatewayError } from "../errors.ts";

/** The key and account of a body, with their maximum numbers of bodies in transit. */
export interface BodySender {
  readonly keyId: string;
  readonly keyBodiesMax: number;
  readonly accountId: string;
  readonly accountBodiesMax: number;
}

/** The request bodies in transit, over all connections of this process. */
export interface IncomingBodies {
  /** Bounds the announced bytes of bodies that are received in one piece. 32 MiB, 8 MiB of one account. */
  readonly budget: BodyBudget;
  /**
   * Starts to read a body and waits for it. Throws `too_concurrent` or `shutting_down` before it starts.
   * Calls `cut` and rejects with `body_too_slow` after 120 s, or with `shutting_down` after {@link close}.
   */
  receive<Body>(sender: BodySender, start: () => Promise<Body>, cut?: () => void): Promise<Body>;
  /** After `graceMs`, fails bodies that are still in transit, and all that come later. */
  close(graceMs: number): void;
}

interface Incoming {
  readonly startedAtMs: number;
  /** Rejects the wait. */
  fail(cause: "body_too_slow" | "shutting_down"): void;
}

/** Maximum duration of a body in transit. */
const BODY_MS_MAX = 120_000;
const ANNOUNCED_BYTES_MAX = 32 * 1024 * 1024;

export function createIncomingBodies(msMax = BODY_MS_MAX): IncomingBodies {
  const incoming = new Set<Incoming>();
  const keyCounts = createCounts();
  const accountCounts = createCounts();
  let timer: Timer | undefined;
  let isClosed = false;

  function failSlow(): void {
    timer = undefined;
    // Ordered by start: the first that is in time ends the search.
    for (const body of incoming) {
      const leftMs = body.startedAtMs + msMax - performance.now();
      if (leftMs > 0) {
        startTimer(leftMs);
        return;
      }
      body.fail("body_too_slow");
    }
  }
  /** One timer serves all bodies, as most arrive long before it fires. */
  function startTimer(ms: number): void {
    if (timer) return;
    timer = setTimeout(failSlow, Math.ceil(ms));
    timer.unref();
  }
  function failAll(): void {
    isClosed = true;
    for (const body of incoming) body.fail("shutting_down");
  }

  function track<Body>(
    { keyId, accountId }: BodySender,
    arriving: Promise<Body>,
    cut: () => void,
  ): Promise<Body> {
    const { promise, resolve, reject } = Promise.withResolvers<Body>();
    const end = () => {
      if (!incoming.delete(body)) return;
      keyCounts.remove(keyId);
      accountCounts.remove(accountId);
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
    keyCounts.add(keyId);
    accountCounts.add(accountId);
    startTimer(msMax);
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
    budget: createBodyBudget({ bytesMax: ANNOUNCED_BYTES_MAX, accountBytesMax: ANNOUNCED_BYTES_MAX / 4 }),
    receive(sender, start, cut = () => undefined) {
      if (isClosed) throw new GatewayError("shutting_down");
      const isKeyFull = keyCounts.of(sender.keyId) >= sender.keyBodiesMax;
      if (isKeyFull || accountCounts.of(sender.accountId) >= sender.accountBodiesMax) {
        throw new GatewayError("too_concurrent", { retryAfterS: 1 });
      }
      const arriving = start();
      // A body that arrived with its headers was never in transit, so that it is not counted.
      if (Bun.peek.status(arriving) !== "pending") return arriving;
      return track(sender, arriving, cut);
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

/** Maximum size of one request body: 30 MiB. */
export const BODY_BYTES_MAX = 30 * 1024 * 1024;

/** Bounds the bytes of request bodies in memory, for this process and for each account. */
export interface BodyBudget {
  /**
   * Reserves bytes for an account. Throws `too_many_body_bytes` and reserves nothing when a bound is
   * exceeded.
   */
  take(accountId: string, bytes: number): void;
  /** Returns whether the bytes were reserved. */
  tryTake(accountId: string, bytes: number): boolean;
  give(accountId: string, bytes: number): void;
}

interface BodyBudgetOptions {
  readonly bytesMax: number;
  /** Default: a quarter of `bytesMax`, and at least {@link BODY_BYTES_MAX}. */
  readonly accountBytesMax?: number | undefined;
}

export function createBodyBudget({
  bytesMax,
  accountBytesMax = Math.max(bytesMax / 4, BODY_BYTES_MAX),
}: BodyBudgetOptions): BodyBudget {
  const takenByAccount = new Map<string, number>();
  let taken = 0;
  function tryTake(accountId: string, bytes: number): boolean {
    const accountBytes = (takenByAccount.get(accountId) ?? 0) + bytes;
    if (accountBytes > accountBytesMax || taken + bytes > bytesMax) return false;
    takenByAccount.set(accountId, accountBytes);
    taken += bytes;
    return true;
  }
  return {
    tryTake,
    take(accountId, bytes) {
      if (!tryTake(accountId, bytes)) throw new GatewayError("too_many_body_bytes", { retryAfterS: 1 });
    },
    give(accountId, bytes) {
      taken -= bytes;
      const left = (takenByAccount.get(accountId) ?? 0) - bytes;
      if (left > 0) takenByAccount.set(accountId, left);
      else takenByAccount.delete(accountId);
    },
  };
}
