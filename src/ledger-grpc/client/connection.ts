import { platform } from "../../platform.ts";
import type { Link, LinkEvents } from "./link.ts";
import { LedgerLinkError } from "./link-error.ts";

/** Keeps one link to the ledger open, and replaces it when it is lost. */
export interface Connection {
  /** The open link; `undefined` while the client is disconnected. */
  readonly link: Link | undefined;
  /** Set while the ledger counts as away: calls are then rejected at once, with this as cause. */
  readonly awayBecause: LedgerLinkError | undefined;
  /** Resolves with an open link. Rejects with {@link LedgerLinkError} while the ledger is away. */
  whenUp(): Promise<Link>;
  close(): void;
}

export interface ConnectionEvents {
  onUp(): void;
  onAnswer: LinkEvents["onAnswer"];
  /** The link is lost. The results of its unanswered mutations are unknown. */
  onLost(error: LedgerLinkError): void;
  /** The ledger now counts as away: gone for `outageMaxMs`, or it rejects this client. */
  onAway(error: LedgerLinkError): void;
}

export interface ConnectionOptions {
  /** How long one connection attempt may take. */
  readonly connectMaxMs: number;
  /** How long the ledger may be unreachable before it counts as away. */
  readonly outageMaxMs: number;
}

const PAUSE_MIN_MS = 25;
/** The longest pause before the ledger counts as away: short, because calls may still be waiting. */
const PAUSE_MAX_MS = 200;
const PAUSE_AWAY_MS = 1_000;

/**
 * Connects at once, and reconnects whenever the link is lost. The pauses are short at first, and about one
 * second while the ledger counts as away. A server that rejects this client counts as away at once.
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
    timers.connect = platform.setTimeout(() => link.drop(new LedgerLinkError("silent")), connectMaxMs);
  };
  const goUp = (link: Link) => {
    platform.clearTimeout(timers.connect);
    platform.clearTimeout(timers.outage);
    upSinceMs = platform.monotonicMs();
    awayBecause = undefined;
    up.resolve(link);
    events.onUp();
  };
  const lose = (error: LedgerLinkError) => {
    platform.clearTimeout(timers.connect);
    const wasUpMs = upSinceMs === undefined ? undefined : platform.monotonicMs() - upSinceMs;
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
    // A message that the server could not decode does not mean that the server is in trouble.
    const isHealthy = wasUpMs !== undefined && (wasUpMs > PAUSE_AWAY_MS || lastError.code === "rejected");
    pauseMs = isHealthy ? PAUSE_MIN_MS : Math.min(pauseMs * 2, awayBecause ? PAUSE_AWAY_MS : PAUSE_MAX_MS);
    // Jitter: clients that lost one server together would otherwise reconnect together.
    timers.pause = platform.setTimeout(open, pauseMs * (0.5 + platform.random()));
  };
  const waitForLink = () => {
    if (!isClosed) timers.outage = platform.setTimeout(goAway, outageMaxMs);
  };
  const goAway = () => {
    platform.clearTimeout(timers.outage);
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
      for (const timer of Object.values(timers)) platform.clearTimeout(timer);
      opened?.drop(new LedgerLinkError("lost"));
      up.reject(new LedgerLinkError("lost"));
    },
  };
}

/**
 * Whether reconnecting will not help: a server that cannot decode the empty first message speaks another
 * protocol.
 */
function isHopeless({ code }: LedgerLinkError, wasUp: boolean): boolean {
  return code === "denied" || code === "unsupported" || (code === "rejected" && !wasUp);
}

function promiseOfLink() {
  const link = Promise.withResolvers<Link>();
  // Without a waiting call a rejection would be unhandled.
  link.promise.catch(() => undefined);
  return link;
}
