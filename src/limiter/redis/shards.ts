import { describeFault, type Log } from "../../telemetry/log.ts";
import type { LimiterMetrics } from "../../telemetry/metrics.ts";
import { createOfflineAdmissions, type OfflineAdmissions } from "./offline-admissions.ts";
import { RedisTimeoutError } from "./patience.ts";
import { createPendingReleases, type PendingReleases } from "./pending-releases.ts";

/** A part of Redis that fails and comes back as a whole: the one server, or one of a cluster. */
export interface Shard {
  readonly name: string;
  /** What it was not told of requests that were admitted without it. */
  readonly missed: OfflineAdmissions;
  /** What it was not told of requests that have ended. */
  readonly owed: PendingReleases;
  /** While it is, nobody waits for it. */
  readonly isDown: boolean;
  /** How often it was away. */
  readonly outages: number;
  /** Says that it did not do its work. From then on it is asked now and then whether it is back. */
  lose(fault: unknown): void;
}

export interface ShardsOptions {
  /** Resolves when the server of an account does its work. */
  readonly probe: (accountId: string) => Promise<void>;
  /** Called when it does its work again; it is away until that has resolved. */
  readonly beforeBack: (shard: Shard) => Promise<void>;
  /** Called the moment it is back, before anything else is asked of it. */
  readonly onBack: (shard: Shard) => void;
  readonly log: Pick<Log, "info" | "warn">;
  readonly metrics: Pick<LimiterMetrics, "shared">;
  /** Why there is no connection; `undefined` while there is one. */
  readonly reason: () => string | undefined;
  /** What the log says of requests while a shard is away. */
  readonly meanwhile: string;
  /** Milliseconds that only ever rise. */
  readonly clock: () => number;
}

export interface Shards {
  /** The shard of that name; `accountId` is of an account on it at this moment. */
  of(name: string, accountId: string): Shard;
  /** Loses each that is there and does not do its work, also when nobody wants anything of it. */
  probe(): void;
  close(): void;
}

/** Between two questions whether a shard is back; longer each time that it was back for a moment only. */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5_000;
const MOMENT_MS = 2_000;

export function createShards(options: ShardsOptions): Shards {
  const shards = new Map<string, KeptShard>();
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

interface KeptShard extends Shard {
  accountId: string;
  /** Never rejects. */
  probe(): Promise<void>;
  close(): void;
}

function createShard(name: string, options: ShardsOptions): KeptShard {
  const { log, metrics, clock } = options;
  let timer: Timer | undefined;
  let isDown = false;
  let isClosed = false;
  let isProbed = false;
  let outages = 0;
  let backAtMs = -MOMENT_MS;
  let pauseMs = PAUSE_MIN_MS;
  metrics.shared(name, true);

  function lose(fault: unknown): void {
    if (isDown || isClosed) return;
    isDown = true;
    outages += 1;
    pauseMs = clock() - backAtMs < MOMENT_MS ? Math.min(2 * pauseMs, PAUSE_MAX_MS) : PAUSE_MIN_MS;
    metrics.shared(name, false);
    const reason = options.reason() ?? reasonOf(fault);
    log.warn({ shard: name, reason, ...describeFault(fault) }, `Redis is away: ${options.meanwhile}`);
    probeLater();
  }
  function probeLater(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void probe(), pauseMs);
  }
  async function probe(): Promise<void> {
    if (isProbed || isClosed) return;
    isProbed = true;
    try {
      await options.probe(shard.accountId);
      if (isDown) await options.beforeBack(shard);
      if (isDown && !isClosed) comeBack();
    } catch (fault) {
      lose(fault);
    }
    isProbed = false;
    if (isDown && !isClosed) probeLater();
  }
  function comeBack(): void {
    isDown = false;
    backAtMs = clock();
    options.onBack(shard);
    metrics.shared(name, true);
    log.info({ shard: name }, "Redis is back: it counts the limits again");
  }

  const shard: KeptShard = {
    name,
    accountId: "",
    missed: createOfflineAdmissions(clock),
    owed: createPendingReleases(clock),
    get isDown() {
      return isDown;
    },
    get outages() {
      return outages;
    },
    lose,
    probe,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
  return shard;
}

/** Of a refusal only the word that it begins with, such as OOM: the rest may hold arguments. */
function reasonOf(fault: unknown): string | undefined {
  if (fault instanceof RedisTimeoutError) return fault.message;
  if (!(fault instanceof Error) || fault.name !== "ReplyError") return undefined;
  return /^[A-Z]+\b/.exec(fault.message)?.[0];
}
