import { platform } from "../../platform.ts";
import { NO_CORRECTION, type Release } from "./batch.ts";
import { type CallerIds, chunked } from "./scripts.ts";

/**
 * Leases of this process's running requests. A lease is one concurrency slot in Redis for 30 s after each
 * renewal.
 */
export interface Leases {
  /** Returns the id of a new lease. No other process ever uses it. */
  next(): string;
  /** Renews the lease from now on. */
  add(lease: string, ids: CallerIds): void;
  /** Stops renewing the lease. Returns whether it was ever renewed. */
  drop(lease: string): boolean;
  has(lease: string): boolean;
  /** Renews all leases. Never rejects. */
  renew(): Promise<void>;
}

interface RunningLease {
  readonly ids: CallerIds;
  isRenewed: boolean;
}

/** Redis stores the process id with every lease, so it is short. */
const PROCESS_ID_BYTES = 12;

/** `renewOne` must not reject. */
export function createLeases(renewOne: (ids: CallerIds, lease: string) => Promise<void>): Leases {
  const running = new Map<string, RunningLease>();
  const processId = platform.randomBytes(PROCESS_ID_BYTES).toString("base64url");
  let count = 0;

  async function renewRunning([lease, state]: readonly [string, RunningLease]): Promise<void> {
    if (!running.has(lease)) return;
    state.isRenewed = true;
    await renewOne(state.ids, lease);
  }

  return {
    next() {
      count += 1;
      return `${processId}:${count.toString(36)}`;
    },
    add: (lease, ids) => void running.set(lease, { ids, isRenewed: false }),
    drop(lease) {
      const isRenewed = running.get(lease)?.isRenewed ?? false;
      running.delete(lease);
      return isRenewed;
    },
    has: (lease) => running.has(lease),
    renew: () => chunked([...running], renewRunning),
  };
}

/** Releases that a shard has not confirmed. */
export interface PendingReleases {
  add(release: Release): void;
  /** Sends all pending releases. The next call sends an unconfirmed release again. Never rejects. */
  send(settle: Settle): Promise<void>;
}

/** Resolves with whether Redis still had the lease; `undefined` when Redis did not answer. */
type Settle = (release: Release) => Promise<boolean | undefined>;

interface PendingRelease {
  release: Release;
  readonly addedAtMs: number;
  isSent: boolean;
}

/** Lifetime of a lease without renewal: Redis has dropped the lease of an older release by itself. */
const KEEP_MS = 30_000;
/** Time for a server to execute commands that it received on connections lost since. */
const STRAGGLERS_MS = 1_000;
/** Expired entries are removed once per this many additions. */
const ADDED_PER_SWEEP = 1_000;

export function createPendingReleases(clock: () => number): PendingReleases {
  const entries = new Map<string, PendingRelease>();
  let added = 0;

  function removeExpired(): void {
    const nowMs = clock();
    for (const [lease, { addedAtMs }] of entries) if (nowMs - addedAtMs >= KEEP_MS) entries.delete(lease);
  }

  async function sendOne(settle: Settle, [lease, entry]: readonly [string, PendingRelease]): Promise<void> {
    const isFound = await settle(entry.release);
    if (isFound === undefined) return;
    if (entry.isSent) entries.delete(lease);
    entry.isSent = true;
    if (isFound) entry.release = { ...entry.release, ...NO_CORRECTION };
  }

  async function sendAll(settle: Settle): Promise<void> {
    removeExpired();
    await chunked([...entries], (entry) => sendOne(settle, entry));
  }

  return {
    add(release) {
      added += 1;
      if (added % ADDED_PER_SWEEP === 0) removeExpired();
      if (!entries.has(release.lease)) {
        entries.set(release.lease, { release, addedAtMs: clock(), isSent: false });
      }
    },
    async send(settle) {
      await sendAll(settle);
      // A second time: a command from a lost connection may be executed after those from a new one.
      platform.setTimeout(() => void sendAll(settle), STRAGGLERS_MS).unref();
    },
  };
}
