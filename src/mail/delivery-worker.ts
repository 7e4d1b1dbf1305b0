import { describeFault, type Log } from "../telemetry/log.ts";
import { waitAtMost } from "../time.ts";

/** A message of an outbox that is due. */
export interface DueItem {
  readonly id: string;
  /** Tries so far, those of killed processes included. */
  readonly attempts: number;
}

/** How a try ended. */
export type TryEnd =
  | { readonly kind: "delivered" }
  | { readonly kind: "failed" }
  /** Due again at a Unix time in milliseconds. */
  | { readonly kind: "again"; readonly atMs: number };

/** An outbox in the database, shared by all processes. */
export interface DeliveryQueue<Item extends DueItem> {
  /** The items that are due, longest due first. */
  due(nowMs: number, countMax: number): Promise<readonly Item[]>;
  /** Counts a try, and hides the item until `untilMs`. Resolves with `false` when another process was faster. */
  claim(item: Item, untilMs: number): Promise<boolean>;
  end(item: Item, end: TryEnd): Promise<void>;
}

export interface DeliveryOptions<Item extends DueItem> {
  readonly queue: DeliveryQueue<Item>;
  /** Delivers a claimed item. Rejects when it may be tried again; resolves with `false` when it may not. */
  deliver(item: Item): Promise<boolean>;
  /** How long a try may take, the work around it included: after that a killed process is replaced. */
  readonly claimMs: number;
  /** Waits before the second and the third try, in milliseconds. */
  readonly backoffMs?: readonly [number, number] | undefined;
  readonly pollMs?: number | undefined;
  /** For the log: "mail". */
  readonly noun: string;
  readonly log: Log;
  readonly now?: (() => number) | undefined;
}

const TRIES_MAX = 3;
const BACKOFF_MS = [30_000, 300_000] as const;
const POLL_MS = 1_000;
/** After so many polls that found nothing, one is made in five times the pause: an idle process rests. */
const QUIET_POLLS = 10;
const QUIET_FACTOR = 5;
const CONCURRENT_MAX = 5;
const CLOSE_MS = 2_000;
/** An item that is due later than this was written before a clock was set back. */
export const AHEAD_MS_MAX = 3_600_000;

/**
 * Delivers the items of an outbox: each in up to three tries, across restarts, by one process at a time. A
 * process that is killed between a delivery and its record repeats the delivery.
 */
export function startDeliveryWorker<Item extends DueItem>(options: DeliveryOptions<Item>) {
  const { queue, deliver, claimMs, noun, log, now = Date.now } = options;
  const backoffMs = options.backoffMs ?? BACKOFF_MS;
  const inFlight = new Set<Promise<void>>();
  let polling: Promise<void> | undefined;
  let quietPolls = 0;
  let isAway = false;
  let isClosed = false;

  async function poll(): Promise<void> {
    try {
      const due = await queue.due(now(), CONCURRENT_MAX - inFlight.size);
      for (const item of due) start(item);
      quietPolls = due.length > 0 ? 0 : quietPolls + 1;
      isAway = false;
    } catch (fault) {
      if (!isAway) log.error(describeFault(fault), `${noun} outbox unavailable`);
      isAway = true;
    }
  }

  function start(item: Item): void {
    const run = attempt(item).catch((fault) => log.error(describeFault(fault), `${noun} outbox unavailable`));
    inFlight.add(run);
    void run.then(() => inFlight.delete(run));
  }

  async function attempt(item: Item): Promise<void> {
    if (item.attempts >= TRIES_MAX) return queue.end(item, { kind: "failed" });
    if (!(await queue.claim(item, now() + claimMs))) return;
    await queue.end(item, await tryOnce(item));
  }

  async function tryOnce(item: Item): Promise<TryEnd> {
    try {
      return { kind: (await deliver(item)) ? "delivered" : "failed" };
    } catch (fault) {
      const waitMs = backoffMs[item.attempts];
      log.warn({ id: item.id, try: item.attempts + 1, ...describeFault(fault) }, `${noun} not delivered`);
      return waitMs === undefined ? { kind: "failed" } : { kind: "again", atMs: now() + waitMs };
    }
  }

  let timer: Timer;
  function schedule(): void {
    const pollMs = options.pollMs ?? POLL_MS;
    timer = setTimeout(tick, quietPolls < QUIET_POLLS ? pollMs : QUIET_FACTOR * pollMs);
    timer.unref();
  }
  async function tick(): Promise<void> {
    polling = inFlight.size < CONCURRENT_MAX ? poll() : undefined;
    await polling;
    polling = undefined;
    if (!isClosed) schedule();
  }

  schedule();
  return {
    /** Looks for items within a second, and for ten seconds: this process has ordered one. */
    wake(): void {
      quietPolls = 0;
      if (isClosed || polling !== undefined) return;
      clearTimeout(timer);
      schedule();
    },
    /** Starts no more deliveries. Waits for running ones for at most 2 s. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await polling;
      await waitAtMost(CLOSE_MS, Promise.all(inFlight));
    },
  };
}
