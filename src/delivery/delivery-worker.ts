import { platform, waitAtMost } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

/** A message of an outbox that is due. */
export interface DueItem {
  readonly id: string;
  /** Tries so far, those of killed processes included. */
  readonly attempts: number;
  /** Whose places a try takes: an account or an address. */
  readonly owner: string;
  /** Whether it may take the place that is kept free of others. */
  readonly isUrgent: boolean;
}

/** How a try ended. */
export type TryEnd =
  | { readonly kind: "delivered" }
  | { readonly kind: "failed" }
  /** Due again at a Unix time in milliseconds. */
  | { readonly kind: "again"; readonly atMs: number };

/** An outbox in the database, shared by all processes. */
export interface DeliveryQueue<Item extends DueItem> {
  /** The items that are due: urgent ones first, then one of each owner, longest due first. */
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
  /** Tries at a time. Default: 5. */
  readonly concurrentMax?: number | undefined;
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
/** Tries at a time of one owner. */
const OWNER_MAX = 2;
/** Items that one poll chooses from. */
const CHOICE = 200;
/** Owners that failed last, in memory. */
const FAILING_MAX = 10_000;
const CLOSE_MS = 2_000;
/** An item that is due later than this was written before a clock was set back. */
export const AHEAD_MS_MAX = 3_600_000;

/**
 * Delivers the items of an outbox: each in up to three tries, across restarts, by one process at a time. A
 * process that is killed between a delivery and its record repeats the delivery. An owner has two tries at a time.
 * Owners whose last try failed have half of the places together, so that silent receivers delay no other.
 */
export function startDeliveryWorker<Item extends DueItem>(options: DeliveryOptions<Item>) {
  const { queue, deliver, claimMs, noun, log, now = platform.now } = options;
  const backoffMs = options.backoffMs ?? BACKOFF_MS;
  const concurrentMax = options.concurrentMax ?? CONCURRENT_MAX;
  const places = createPlaces(concurrentMax);
  let polling: Promise<void> | undefined;
  let quietPolls = 0;
  let isAway = false;
  let isClosed = false;

  async function poll(): Promise<void> {
    try {
      const due = await queue.due(now(), CHOICE);
      for (const item of due) if (places.has(item)) start(item);
      quietPolls = due.length > 0 ? 0 : quietPolls + 1;
      isAway = false;
    } catch (fault) {
      if (!isAway) log.error(describeFault(fault), `${noun} outbox unavailable`);
      isAway = true;
    }
  }

  function start(item: Item): void {
    const run = attempt(item)
      .catch((fault) => log.error(describeFault(fault), `${noun} outbox unavailable`))
      .finally(() => places.leave(item));
    places.take(item, run);
  }

  async function attempt(item: Item): Promise<void> {
    if (item.attempts >= TRIES_MAX) return queue.end(item, { kind: "failed" });
    if (!(await queue.claim(item, now() + claimMs))) return;
    await queue.end(item, await tryOnce(item));
  }

  async function tryOnce(item: Item): Promise<TryEnd> {
    try {
      const isDelivered = await deliver(item);
      places.remember(item.owner, false);
      return { kind: isDelivered ? "delivered" : "failed" };
    } catch (fault) {
      places.remember(item.owner, true);
      const waitMs = backoffMs[item.attempts];
      log.warn({ id: item.id, try: item.attempts + 1, ...describeFault(fault) }, `${noun} not delivered`);
      return waitMs === undefined ? { kind: "failed" } : { kind: "again", atMs: now() + waitMs };
    }
  }

  let timer: Timer;
  function schedule(): void {
    const pollMs = options.pollMs ?? POLL_MS;
    timer = platform.setTimeout(tick, quietPolls < QUIET_POLLS ? pollMs : QUIET_FACTOR * pollMs);
    timer.unref();
  }
  async function tick(): Promise<void> {
    polling = places.areFree() ? poll() : undefined;
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
      platform.clearTimeout(timer);
      schedule();
    },
    /** Starts no more deliveries. Waits for running ones for at most 2 s. */
    async close(): Promise<void> {
      isClosed = true;
      platform.clearTimeout(timer);
      await polling;
      await waitAtMost(CLOSE_MS, Promise.all(places.running()));
    },
  };
}

/** The places of tries that run, and who may take one. */
function createPlaces(concurrentMax: number) {
  const running = new Map<string, { readonly owner: string; readonly run: Promise<void> }>();
  const failing = new Set<string>();
  const countWhere = (isCounted: (owner: string) => boolean) =>
    [...running.values()].filter(({ owner }) => isCounted(owner)).length;
  return {
    areFree: () => running.size < concurrentMax,
    has({ id, owner, isUrgent }: DueItem): boolean {
      if (running.has(id) || running.size >= concurrentMax) return false;
      if (isUrgent) return true;
      if (running.size >= concurrentMax - 1) return false;
      if (countWhere((each) => each === owner) >= OWNER_MAX) return false;
      return !failing.has(owner) || countWhere((each) => failing.has(each)) < concurrentMax / 2;
    },
    take({ id, owner }: DueItem, run: Promise<void>): void {
      running.set(id, { owner, run });
    },
    leave({ id }: DueItem): void {
      running.delete(id);
    },
    /** Remembers whether the last try of an owner failed. */
    remember(owner: string, isFailing: boolean): void {
      failing.delete(owner);
      if (!isFailing) return;
      const [oldest] = failing;
      if (failing.size >= FAILING_MAX && oldest !== undefined) failing.delete(oldest);
      failing.add(owner);
    },
    running: () => [...running.values()].map(({ run }) => run),
  };
}
