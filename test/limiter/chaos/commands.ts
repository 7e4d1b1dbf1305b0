import type { Limits, LimitUsage } from "../../../src/limiter/limiter.ts";
import type { RedisLocation } from "../../../src/limiter/redis/location.ts";

/** What a process of callers is made with. */
export interface CallerSettings {
  readonly location: RedisLocation;
  readonly onFailure: "local" | "deny";
  readonly replicas: number;
  /** Between two renewals of the leases; by default as the limiter wants it. */
  readonly renewEveryMs?: number;
}

/** What its callers do, each again and again: ask, hold for a while what they were given, pause. */
export interface Load {
  readonly accountId: string;
  readonly keyId: string;
  readonly limits: Limits;
  readonly callers: number;
  /** Means; each time it is between half and one and a half of it. */
  readonly holdMs: number;
  readonly pauseMs: number;
  /** Where each admission is written at once, one line when it comes and one when it ends. */
  readonly path: string;
}

export type Command =
  | { readonly begin: Load }
  | { readonly usage: Pick<Load, "accountId" | "keyId"> }
  /** No more is asked; the report comes when all has ended. */
  | { readonly end: true };

export type Answer =
  | { readonly ready: true }
  | { readonly tally: Tally }
  | { readonly usage: LimitUsage | undefined }
  | { readonly report: Report };

/** So far, a few times a second. */
export interface Tally {
  readonly admitted: number;
  /** Of the last that Redis decided, and of the last that it did not; by `Date.now()`, 0 for none. */
  readonly sharedAtMs: number;
  readonly unsharedAtMs: number;
}

export interface Report {
  readonly refused: Readonly<Record<"rate" | "concurrency" | "unavailable", number>>;
  /** Of an answer, and of an end, without what this process itself was held up for. */
  readonly slowestMs: number;
  readonly slowestEndMs: number;
  /** What the metric went to, by shard, which is there at first; and what the log said of it. */
  readonly shared: Readonly<Record<string, readonly boolean[]>>;
  readonly logged: readonly string[];
}

/** A line of the file. Times are by `Date.now()`: one clock for all processes of a machine, and for its Redis. */
export type Line =
  | { readonly id: number; readonly by: "redis" | "memory"; readonly askedMs: number; readonly atMs: number }
  | { readonly id: number; readonly endedMs: number };
