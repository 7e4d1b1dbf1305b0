import { platform } from "../../platform.ts";
import { describeFault, type Log } from "../../telemetry/log.ts";
import type { LimiterMetrics } from "../../telemetry/metrics.ts";
import { createPendingReleases, type PendingReleases } from "./leases.ts";
import { createOfflineAdmissions, type OfflineAdmissions } from "./offline-admissions.ts";
import { RedisTimeoutError } from "./scripts.ts";

/** A part of Redis that fails and recovers as a whole: the single server, or one server of a cluster. */
export interface Shard {
  readonly name: string;
  readonly offlineAdmissions: OfflineAdmissions;
  readonly pendingReleases: PendingReleases;
  /** A shard that is down is only probed. */
  readonly isDown: boolean;
  /** Outages so far. */
  readonly outages: number;
  /** Reports a failure. The shard is down and probed until a probe succeeds. */
  markDown(fault: unknown): void;
}

export interface ShardsOptions {
  /** Resolves when the server of an account works. */
  readonly probe: (accountId: string) => Promise<void>;
  /** Called after a successful probe. The shard stays down until the promise resolves. */
  readonly beforeUp: (shard: Shard) => Promise<void>;
  /** Called synchronously when the shard is up, before any other request to it. */
  readonly onUp: (shard: Shard) => void;
  readonly log: Pick<Log, "info" | "warn">;
  readonly metrics: Pick<LimiterMetrics, "shared">;
  /** Why the connection is down; `undefined` while it is up. */
  readonly reason: () => string | undefined;
  /** Describes, for the log, how requests are handled while a shard is down. */
  readonly meanwhile: string;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}

export interface Shards {
  /** Returns the shard of that name. `accountId` is an account that it keeps at this moment. */
  of(name: string, accountId: string): Shard;
  /** Probes each shard that is up, and marks it down when the probe fails. */
  probe(): void;
  close(): void;
}

/** Backoff of probes. It grows each time the shard was up for less than `STABLE_MS`. */
const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 5_000;
const STABLE_MS = 2_000;

export function createShards(options: ShardsOptions): Shards {
  const shards = new Map<string, ProbedShard>();
  return {
    of(name, accountId) {
      let shard = shards.get(name);
      if (!shard) {
        shard = createShard(name, options);
        shards.set(name, shard);
      }
      shard.accountId = accountId;
      return shard;
    },
    probe() {
      for (const shard of shards.values()) if (!shard.isDown) void shard.probe();
    },
    close() {
      for (const shard of shards.values()) shard.close();
    },
  };
}

interface ProbedShard extends Shard {
  accountId: string;
  /** Never rejects. */
  probe(): Promise<void>;
  close(): void;
}

function createShard(name: string, options: ShardsOptions): ProbedShard {
  const { log, metrics, clock } = options;
  let timer: Timer | undefined;
  let isDown = false;
  let isClosed = false;
  let isProbed = false;
  let outages = 0;
  let upAtMs = -STABLE_MS;
  let backoffMs = BACKOFF_MIN_MS;
  metrics.shared(name, true);

  function markDown(fault: unknown): void {
    if (isDown || isClosed) return;
    isDown = true;
    outages += 1;
    backoffMs = clock() - upAtMs < STABLE_MS ? Math.min(2 * backoffMs, BACKOFF_MAX_MS) : BACKOFF_MIN_MS;
    metrics.shared(name, false);
    const reason = options.reason() ?? reasonOf(fault);
    log.warn({ shard: name, reason, ...describeFault(fault) }, `Redis is away: ${options.meanwhile}`);
    probeLater();
  }
  function probeLater(): void {
    platform.clearTimeout(timer);
    timer = platform.setTimeout(() => void probe(), backoffMs);
  }
  async function probe(): Promise<void> {
    if (isProbed || isClosed) return;
    isProbed = true;
    try {
      await options.probe(shard.accountId);
      if (isDown) await options.beforeUp(shard);
      if (isDown && !isClosed) markUp();
    } catch (fault) {
      markDown(fault);
    }
    isProbed = false;
    if (isDown && !isClosed) probeLater();
  }
  function markUp(): void {
    isDown = false;
    upAtMs = clock();
    options.onUp(shard);
    metrics.shared(name, true);
    log.info({ shard: name }, "Redis is back: it counts the limits again");
  }

  const shard: ProbedShard = {
    name,
    accountId: "",
    offlineAdmissions: createOfflineAdmissions(clock),
    pendingReleases: createPendingReleases(clock),
    get isDown() {
      return isDown;
    },
    get outages() {
      return outages;
    },
    markDown,
    probe,
    close() {
      isClosed = true;
      platform.clearTimeout(timer);
    },
  };
  return shard;
}

/** Returns only the first word of a Redis error, such as OOM: the rest may contain command arguments. */
function reasonOf(fault: unknown): string | undefined {
  if (fault instanceof RedisTimeoutError) return fault.message;
  if (!(fault instanceof Error) || fault.name !== "ReplyError") return undefined;
  return /^[A-Z]+\b/.exec(fault.message)?.[0];
}
