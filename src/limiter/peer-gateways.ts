import type { Database } from "../db/database.ts";
import { type GatewayRow, openGatewayRows } from "../db/gateways.ts";
import { platform, waitAtMost } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { LimiterMetrics } from "../telemetry/metrics.ts";

interface PeerGatewaysOptions {
  readonly database: Database;
  /** Id of this process, new at each start. */
  readonly gatewayId: string;
  /** Whether this gateway counts limits in Redis, together with its peers that do. */
  readonly hasRedis: boolean;
  readonly log: Pick<Log, "info" | "warn">;
  readonly metrics: Pick<LimiterMetrics, "peerGateways">;
  /** Interval of heartbeats; default 10 s. */
  readonly intervalMs?: number;
  /** Time without a heartbeat after which a gateway is gone; default three intervals. */
  readonly goneMs?: number;
}

const INTERVAL_MS = 10_000;
const BEATS_UNTIL_GONE = 3;
/** Longest wait of `close` for each of its two database steps. */
const CLOSE_STEP_MAX_MS = 1_000;

interface PeerGateways {
  /**
   * Returns how many gateways, this one included, count limits in Redis. A gateway that was killed is one of them
   * for three intervals. While the database is away, it is the number found last.
   */
  onRedis(): number;
  close(): Promise<void>;
}

/**
 * Finds gateways on the same database that count limits separately: callers then get a multiple of each
 * limit. The metric always shows the number of separate counts. The log has a line when this number exceeds
 * one, and a line when it returns to one. A failed heartbeat is skipped; three failures in a row are logged
 * once. `close` removes this gateway's row and never rejects.
 */
export function watchPeerGateways(options: PeerGatewaysOptions): PeerGateways {
  const { database, gatewayId: id, hasRedis, intervalMs = INTERVAL_MS } = options;
  const { goneMs = BEATS_UNTIL_GONE * intervalMs } = options;
  const rows = openGatewayRows(database);
  const livingOf = createLivenessFilter(id);
  const report = createReport(options);
  const closing = new AbortController();
  let onRedis = 1;

  const beat = async () => {
    try {
      const all = await rows.renew({ id, hasRedis }, goneMs);
      onRedis = Math.max(1, all.filter((row) => row.hasRedis).length);
      if (!closing.signal.aborted) report.counted(separateCountsOf(livingOf(all)));
    } catch (fault) {
      if (!closing.signal.aborted) report.failed(fault);
    }
  };
  const running = beatUntil(closing.signal, beat, intervalMs);

  return {
    onRedis: () => onRedis,
    async close() {
      closing.abort();
      await waitAtMost(CLOSE_STEP_MAX_MS, running);
      const removed = rows.remove(id).catch(() => undefined);
      await waitAtMost(CLOSE_STEP_MAX_MS, removed);
      rows.close();
    },
  };
}

async function beatUntil(ended: AbortSignal, beat: () => Promise<void>, intervalMs: number): Promise<void> {
  while (!ended.aborted) {
    await beat();
    await sleepUntil(ended, intervalMs);
  }
}

/** Resolves after `ms`, or as soon as the signal aborts. */
function sleepUntil(ended: AbortSignal, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = platform.setTimeout(resolve, ms);
  const stop = () => {
    platform.clearTimeout(timer);
    resolve();
  };
  if (ended.aborted) stop();
  ended.addEventListener("abort", stop, { once: true });
  return promise.finally(() => ended.removeEventListener("abort", stop));
}

/** Sets the metric at each heartbeat, and logs changes only. */
function createReport({ log, metrics }: Pick<PeerGatewaysOptions, "log" | "metrics">) {
  let isMultiplied = false;
  let failedInRow = 0;
  return {
    counted(count: number) {
      failedInRow = 0;
      metrics.peerGateways(count);
      if (count > 1 === isMultiplied) return;
      isMultiplied = count > 1;
      if (isMultiplied)
        log.warn({ gateways: count }, "gateways count limits separately: set REDIS_URL on each");
      else log.info({}, "limits are counted in one place again");
    },
    failed(fault: unknown) {
      failedInRow += 1;
      if (failedInRow === BEATS_UNTIL_GONE) log.warn(describeFault(fault), "peer gateway lookup failed");
    },
  };
}

/**
 * Returns a filter for living gateways: this one, and every other whose row was renewed between two calls.
 * The row of a killed process, usually this gateway's predecessor, is never renewed.
 */
function createLivenessFilter(ownId: string): (rows: readonly GatewayRow[]) => readonly GatewayRow[] {
  let firstSeenAtMs = new Map<string, number>();
  return (rows) => {
    firstSeenAtMs = new Map(rows.map(({ id, seenAtMs }) => [id, firstSeenAtMs.get(id) ?? seenAtMs]));
    return rows.filter(({ id, seenAtMs }) => id === ownId || seenAtMs !== firstSeenAtMs.get(id));
  };
}

/**
 * Returns the number of separate counts of each limit: one in Redis, and one in every gateway without Redis.
 */
function separateCountsOf(gateways: readonly GatewayRow[]): number {
  const alone = gateways.filter(({ hasRedis }) => !hasRedis).length;
  return alone + (alone < gateways.length ? 1 : 0);
}
