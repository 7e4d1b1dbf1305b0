import { createRedisLimiter, type RedisLimiter } from "../../../src/limiter/redis/limiter.ts";
import type { RedisLocation } from "../../../src/limiter/redis/location.ts";
import { connectRedis } from "../../../src/limiter/redis/server.ts";
import { until } from "../../support/until.ts";
import { makePatient } from "../redis-client.ts";

/** A limiter with its log lines and metrics about Redis. */
export interface WatchedLimiter extends RedisLimiter {
  /** Log lines in order, shortened to "away" and "back". */
  readonly logged: readonly string[];
  /** Values of the metric, in order. */
  readonly shared: readonly boolean[];
  /** Renews the leases at once. */
  renew(): void;
}

export interface WatchedLimiterOptions {
  readonly location: RedisLocation;
  readonly onFailure: "local" | "deny";
  readonly replicas?: number;
  /** Waits for a busy Redis, and has no outages. */
  readonly isPatient?: boolean;
  /** Interval of lease renewals; default: the limiter's own. */
  readonly renewEveryMs?: number;
  /** Called when Redis is back, after offline admissions were sent and before they were answered. */
  readonly onBack?: () => void;
}

/** Starts a limiter of this process. */
export async function startWatchedLimiter(options: WatchedLimiterOptions): Promise<WatchedLimiter> {
  const { location, onFailure, replicas = 1, isPatient = false, renewEveryMs, onBack } = options;
  const connection = connectRedis(location);
  if (isPatient) makePatient(connection);
  await until(() => connection.client.status === "ready");
  const logged: string[] = [];
  const shared: boolean[] = [];
  const repeated: (() => void)[] = [];
  const limiter = createRedisLimiter({
    connection,
    timeoutMs: isPatient ? 60_000 : undefined,
    onFailure,
    replicas: () => replicas,
    log: {
      info() {
        logged.push("back");
        onBack?.();
      },
      warn: () => void logged.push("away"),
    },
    metrics: { shared: (_, isShared) => void shared.push(isShared), decided: () => undefined },
    every(ms, task) {
      repeated.push(task);
      const timer = setInterval(task, renewEveryMs ?? ms);
      return () => clearInterval(timer);
    },
  });
  await limiter.start();
  return { ...limiter, logged, shared, renew: () => repeated.forEach((task) => void task()) };
}
