import type { Database } from "../db/database.ts";
import { type GatewayRow, openGatewayRows } from "../db/gateways.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { LimiterMetrics } from "../telemetry/metrics.ts";
import { waitAtMost } from "../time.ts";

interface NeighboursOptions {
  readonly database: Database;
  /** Of this process, and new at each start. */
  readonly gatewayId: string;
  /** Whether this gateway counts limits in Redis, together with the others that do. */
  readonly hasRedis: boolean;
  readonly log: Pick<Log, "info" | "warn">;
  readonly metrics: Pick<LimiterMetrics, "peerGateways">;
  /** How often it makes itself known and looks for others; default 10 s. Gone is who missed three beats. */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 10_000;
const BEATS_UNTIL_GONE = 3;
/** A database that does not answer holds up the end for this long, twice at most. */
const PATIENCE_MS = 1_000;

/**
 * Watches for gateways on the same database that count limits apart from this one, whereby callers get a
 * multiple of them: says so when it begins and when it is over, and to the metrics always. A beat that fails is
 * left out; that several in a row do is said once. `close` takes this gateway off the list; it never rejects.
 */
export function watchNeighbours(options: NeighboursOptions): { close(): Promise<void> } {
  const { database, gatewayId: id, hasRedis, intervalMs = INTERVAL_MS } = options;
  const rows = openGatewayRows(database);
  const livingOf = createPulse(id);
  const report = createReport(options);
  const closing = new AbortController();

  const beat = async () => {
    try {
      const all = await rows.renew({ id, hasRedis }, BEATS_UNTIL_GONE * intervalMs);
      if (!closing.signal.aborted) report.counted(countsOf(livingOf(all)));
    } catch (fault) {
      if (!closing.signal.aborted) report.missed(fault);
    }
  };
  const running = beatUntil(closing.signal, beat, intervalMs);

  return {
    async close() {
      closing.abort();
      await waitAtMost(PATIENCE_MS, running);
      const removed = rows.remove(id).catch(() => undefined);
      await waitAtMost(PATIENCE_MS, removed);
      rows.close();
    },
  };
}

async function beatUntil(ended: AbortSignal, beat: () => Promise<void>, pauseMs: number): Promise<void> {
  while (!ended.aborted) {
    await beat();
    await pause(pauseMs, ended);
  }
}

/** Ends early when it is no longer wanted. */
function pause(ms: number, ended: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => {
    clearTimeout(timer);
    resolve();
  };
  if (ended.aborted) stop();
  ended.addEventListener("abort", stop, { once: true });
  return promise.finally(() => ended.removeEventListener("abort", stop));
}

/** Says what changes, and only then. */
function createReport({ log, metrics }: Pick<NeighboursOptions, "log" | "metrics">) {
  let isMultiplied = false;
  let missedInRow = 0;
  return {
    counted(count: number) {
      missedInRow = 0;
      metrics.peerGateways(count);
      if (count > 1 === isMultiplied) return;
      isMultiplied = count > 1;
      if (isMultiplied) log.warn({ gateways: count }, "gateways count limits apart: set REDIS_URL on each");
      else log.info({}, "limits are counted in one place again");
    },
    missed(fault: unknown) {
      missedInRow += 1;
      if (missedInRow === BEATS_UNTIL_GONE) log.warn(describeFault(fault), "cannot look for other gateways");
    },
  };
}

/**
 * Tells who is alive: this gateway, and others that have renewed their rows under our eyes. The row that a
 * killed process left, this gateway's predecessor mostly, is nobody.
 */
function createPulse(ownId: string): (rows: readonly GatewayRow[]) => readonly GatewayRow[] {
  let firstSeenAtMs = new Map<string, number>();
  return (rows) => {
    firstSeenAtMs = new Map(rows.map(({ id, seenAtMs }) => [id, firstSeenAtMs.get(id) ?? seenAtMs]));
    return rows.filter(({ id, seenAtMs }) => id === ownId || seenAtMs !== firstSeenAtMs.get(id));
  };
}

/** How many counts of each limit there are: one in Redis, and one in every gateway without. */
function countsOf(gateways: readonly GatewayRow[]): number {
  const alone = gateways.filter(({ hasRedis }) => !hasRedis).length;
  return alone + (alone < gateways.length ? 1 : 0);
}
