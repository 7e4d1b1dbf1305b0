import { connectRedis } from "../../../src/limiter/redis/connection.ts";
import { createRedisLimiter, type RedisLimiter } from "../../../src/limiter/redis/limiter.ts";
import type { RedisLocation } from "../../../src/limiter/redis/location.ts";

/** A limiter, and what it told of Redis. */
export interface WatchedLimiter extends RedisLimiter {
  /** What the log said, in send: "away" and "back". */
  readonly logged: readonly string[];
  /** What the metric was set to, in send. */
  readonly shared: readonly boolean[];
  /** Renews the leases at once. */
  renew(): void;
}

export interface WatchedLimiterOptions {
  readonly location: RedisLocation;
  readonly onFailure: "local" | "deny";
  readonly replicas?: number;
  /** Between two renewals of the leases; by default as the limiter wants it. */
  readonly renewEveryMs?: number;
  /** Called when Redis is back, and was told what it missed, before it has answered. */
  readonly onBack?: () => void;
}

/** Starts a limiter of this process. */
export async function startWatchedLimiter(options: WatchedLimiterOptions): Promise<WatchedLimiter> {
  const { location, onFailure, replicas = 1, renewEveryMs, onBack } = options;
  const logged: string[] = [];
  const shared: boolean[] = [];
  const repeated: (() => void)[] = [];
  const limiter = createRedisLimiter({
    connection: connectRedis(location),
    onFailure,
    replicas,
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
