import type { Limits, LimitUsage } from "../../../src/limiter/limiter.ts";
import type { RedisLocation } from "../../../src/limiter/redis/location.ts";

/** Settings of a process of callers. */
export interface CallerSettings {
  readonly location: RedisLocation;
  readonly onFailure: "local" | "deny";
  readonly replicas: number;
  /** Interval of lease renewals; default: the limiter's own. */
  readonly renewEveryMs?: number;
}

/** A load: each caller repeatedly requests an admission, holds it for a while and pauses. */
export interface Load {
  readonly accountId: string;
  readonly keyId: string;
  readonly limits: Limits;
  readonly callers: number;
  /** Mean times; each single time is between 50 % and 150 % of the mean. */
  readonly holdMs: number;
  readonly pauseMs: number;
  /** File to which each admission is written at once: one line at its start and one at its end. */
  readonly path: string;
}

export type Command =
  | { readonly begin: Load }
  | { readonly usage: Pick<Load, "accountId" | "keyId"> }
  /** Stops new requests. The report follows when all admissions have ended. */
  | { readonly end: true };

export type Answer =
  | { readonly ready: true }
  | { readonly tally: Tally }
  | { readonly usage: LimitUsage | undefined }
  | { readonly report: Report };

/** Progress, sent several times a second. */
export interface Tally {
  readonly admitted: number;
  /** Times of the latest decisions with and without Redis, by `Date.now()`; 0 for none. */
  readonly sharedAtMs: number;
  readonly unsharedAtMs: number;
}

export interface Report {
  readonly declined: Readonly<Record<"rate" | "concurrency" | "unavailable", number>>;
  /** Longest times of an admission and of an end, without stalls of this process. */
  readonly slowestMs: number;
  readonly slowestEndMs: number;
  /** Changes of the metric by shard, and log lines about Redis. */
  readonly shared: Readonly<Record<string, readonly boolean[]>>;
  readonly logged: readonly string[];
}

/** A line of the file. Times are by `Date.now()`, the clock of all processes on the machine and of Redis. */
export type Line =
  | {
      readonly id: number;
      readonly by: "redis" | "memory";
      readonly requestedMs: number;
      readonly atMs: number;
    }
  | { readonly id: number; readonly endedMs: number };
