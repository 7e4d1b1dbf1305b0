import type { Link, LinkEvents } from "./link.ts";
import { LedgerLinkError } from "./link-error.ts";

/** Keeps one link up, as far as the server allows. */
export interface Connection {
  /** The link that is up. */
  readonly link: Link | undefined;
  /** Set while the ledger counts as away: what is asked now is refused at once, with this as cause. */
  readonly awayBecause: LedgerLinkError | undefined;
  /** Resolves with a link that is up. Rejects with {@link LedgerLinkError} while the ledger is away. */
  whenUp(): Promise<Link>;
  close(): void;
}

export interface ConnectionEvents {
  onUp(): void;
  onAnswer: LinkEvents["onAnswer"];
  /** The link is gone; what it has not answered is not known. */
  onLost(error: LedgerLinkError): void;
  /** The ledger has been gone for longer than is waited for, or will not have us. */
  onAway(error: LedgerLinkError): void;
}

export interface ConnectionOptions {
  /** How long one try to connect may take. */
  readonly connectMaxMs: number;
  /** How long the ledger may be gone before it counts as away. */
  readonly outageMaxMs: number;
}

const PAUSE_MIN_MS = 25;
/** Short while somebody may be waiting, so that a server that comes back in time is found in time. */
const PAUSE_MAX_MS = 200;
const PAUSE_AWAY_MS = 1_000;

/**
 * Connects at once, and again whenever the link is lost: soon at first, once a second when the ledger counts
 * as away. A server that will not have us is away.
 */
export function createConnection(
  openLink: (events: LinkEvents) => Link,
  events: ConnectionEvents,
  { connectMaxMs, outageMaxMs }: ConnectionOptions,
): Connection {
  let opened: Link | undefined;
  let upSinceMs: number | undefined;
  let awayBecause: LedgerLinkError | undefined;
  let lastError = new LedgerLinkError("silent");
  let pauseMs = PAUSE_MIN_MS;
  let isClosed = false;
  let up = promiseOfLink();
  const timers: { connect?: Timer; outage?: Timer; pause?: Timer } = {};

  const open = () => {
    const link = openLink({ onUp: () => goUp(link), onAnswer: events.onAnswer, onEnd: lose });
    opened = link;
    timers.connect = setTimeout(() => link.drop(new LedgerLinkError("silent")), connectMaxMs);
  };
  const goUp = (link: Link) => {
    clearTimeout(timers.connect);
    clearTimeout(timers.outage);
    upSinceMs = performance.now();
    awayBecause = undefined;
    up.resolve(link);
    events.onUp();
  };
  const lose = (error: LedgerLinkError) => {
    clearTimeout(timers.connect);
    const wasUpMs = upSinceMs === undefined ? undefined : performance.now() - upSinceMs;
    opened = undefined;
    upSinceMs = undefined;
    lastError = error;
    if (awayBecause) awayBecause = error;
    if (wasUpMs !== undefined) {
      up = promiseOfLink();
      waitForLink();
    }
    events.onLost(error);
    if (isHopeless(error, wasUpMs !== undefined)) goAway();
    reopen(wasUpMs);
  };
  const reopen = (wasUpMs: number | undefined) => {
    if (isClosed) return;
    // A message that was not readable is no sign of a server in trouble.
    const isWell = wasUpMs !== undefined && (wasUpMs > PAUSE_AWAY_MS || lastError.code === "rejected");
    pauseMs = isWell ? PAUSE_MIN_MS : Math.min(pauseMs * 2, awayBecause ? PAUSE_AWAY_MS : PAUSE_MAX_MS);
    // Jitter: clients that lost one server together would come back together.
    timers.pause = setTimeout(open, pauseMs * (0.5 + Math.random()));
  };
  const waitForLink = () => {
    if (!isClosed) timers.outage = setTimeout(goAway, outageMaxMs);
  };
  const goAway = () => {
    clearTimeout(timers.outage);
    awayBecause = lastError;
    up.reject(lastError);
    up = promiseOfLink();
    events.onAway(lastError);
  };

  waitForLink();
  open();
  return {
    get link() {
      return upSinceMs === undefined ? undefined : opened;
    },
    get awayBecause() {
      return awayBecause;
    },
    whenUp: () => (awayBecause ? Promise.reject(awayBecause) : up.promise),
    close() {
      isClosed = true;
      for (const timer of Object.values(timers)) clearTimeout(timer);
      opened?.drop(new LedgerLinkError("lost"));
      up.reject(new LedgerLinkError("lost"));
    },
  };
}

/** A server that would not even read the first, empty message is none of ours. */
function isHopeless({ code }: LedgerLinkError, wasUp: boolean): boolean {
  return code === "denied" || code === "unsupported" || (code === "rejected" && !wasUp);
}

function promiseOfLink() {
  const link = Promise.withResolvers<Link>();
  // Nobody may be waiting when it is rejected.
  link.promise.catch(() => undefined);
  return link;
}
