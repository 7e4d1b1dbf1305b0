import { describeFault, type Log } from "../../telemetry/log.ts";
import type { LimiterMetrics } from "../../telemetry/metrics.ts";
import { createOutage, type Outage } from "./outage.ts";

/** A part of Redis that fails and comes back as a whole: the one server, or one of a cluster. */
export interface Shard {
  readonly name: string;
  /** What it missed while it was away, or misses now. */
  readonly outage: Outage;
  /** While it is, nobody waits for it. */
  readonly isAway: boolean;
  /** How often it was lost so far. */
  readonly losses: number;
  /** Says that it did not do its work. From then on it is asked now and then whether it is back. */
  lose(fault: unknown): void;
}

export interface ShardsOptions {
  /** Resolves when the server of an account does its work. */
  readonly probe: (accountId: string) => Promise<void>;
  /** Called the moment it is back, before anything else is asked of it. */
  readonly onBack: (shard: Shard) => void;
  readonly log: Pick<Log, "info" | "warn">;
  readonly metrics: Pick<LimiterMetrics, "shared">;
  /** Why there is no connection; `undefined` while there is one. */
  readonly reason: () => string | undefined;
  /** What the log says requests are while a shard is away. */
  readonly meanwhile: string;
  /** Milliseconds that only ever rise. */
  readonly clock: () => number;
}

export interface Shards {
  /** The shard of that name; `accountId` is of an account on it. */
  of(name: string, accountId: string): Shard;
  /** Loses each that is there and does not do its work, also when nobody wants anything of it. */
  probeAll(): Promise<void>;
  close(): void;
}

/** Between two questions whether a shard is back. */
const PROBE_EVERY_MS = 100;

export function createShards(options: ShardsOptions): Shards {
  const shards = new Map<string, KeptShard>();
  return {
    of(name, accountId) {
      let shard = shards.get(name);
      if (!shard) {
        shard = createShard(name, accountId, options);
        shards.set(name, shard);
      }
      return shard;
    },
    async probeAll() {
      const there = [...shards.values()].filter(({ isAway }) => !isAway);
      await Promise.all(there.map((shard) => shard.probe()));
    },
    close() {
      for (const shard of shards.values()) shard.close();
    },
  };
}

interface KeptShard extends Shard {
  /** Never rejects. */
  probe(): Promise<void>;
  close(): void;
}

function createShard(name: string, accountId: string, options: ShardsOptions): KeptShard {
  const { log, metrics, meanwhile, reason } = options;
  let timer: Timer | undefined;
  let isAway = false;
  let losses = 0;
  let isClosed = false;
  metrics.shared(name, true);

  function lose(fault: unknown): void {
    if (isAway || isClosed) return;
    isAway = true;
    losses += 1;
    metrics.shared(name, false);
    log.warn({ shard: name, reason: reason(), ...describeFault(fault) }, `Redis is away: ${meanwhile}`);
    probeLater();
  }
  function probeLater(): void {
    timer = setTimeout(() => void probe(), PROBE_EVERY_MS);
  }
  async function probe(): Promise<void> {
    try {
      await options.probe(accountId);
      if (isAway && !isClosed) comeBack();
    } catch (fault) {
      if (isClosed) return;
      if (isAway) probeLater();
      else lose(fault);
    }
  }
  function comeBack(): void {
    isAway = false;
    options.onBack(shard);
    metrics.shared(name, true);
    log.info({ shard: name }, "Redis is back: it counts the limits again");
  }

  const shard: KeptShard = {
    name,
    outage: createOutage(options.clock),
    get isAway() {
      return isAway;
    },
    get losses() {
      return losses;
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
