import type { AdmissionRequest, Limits, WindowSnapshot } from "../limiter.ts";
import { type CallerIds, type CallerWindows, leasesOf } from "./scripts.ts";

/** The window of a key or an account, when Redis decided. Its limits are the caller's. */
export type RedisSnapshot = Omit<WindowSnapshot, "limits">;

/** Decision of Redis about a request. */
export interface RedisDecision {
  readonly outcome: "admitted" | "rate" | "concurrency";
  /** Longest wait of the exceeded per-minute limits; 0 when none is exceeded. */
  readonly waitMs: number;
  /** Second of the admission, the key for later corrections. */
  readonly second: number;
  readonly key: RedisSnapshot;
  readonly account: RedisSnapshot;
}

/** Release of an admission's lease, with the correction of its counts. */
export interface Release extends CallerIds {
  readonly lease: string;
  /** Second of the admission; `undefined` when Redis never reported one. */
  readonly second: number | undefined;
  /** Differences to add to the admission's counts. */
  readonly requests: number;
  readonly tokens: number;
}

/** Fields of a release that only frees the slot. */
export const NO_CORRECTION = { second: undefined, requests: 0, tokens: 0 };

/** An unlimited quantity. JSON has no infinity, and no sum of counts reaches this. */
const UNLIMITED = 1e300;
const OUTCOMES = ["admitted", "rate", "concurrency"] as const;
const SNAPSHOT_LENGTH = 4;
const DECISION_LENGTH = 3 + 2 * SNAPSHOT_LENGTH;

/**
 * Requests that one call of `batch.lua` executes: settlements first, then renewals and admissions. Its header
 * and the files of the three document the values. Each method returns the promise of the request's result.
 */
export class Batch {
  /** Window and leases of each caller of the batch. */
  readonly keys: string[] = [];
  /** Requests added so far. */
  size = 0;
  readonly #positions = new Map<string, number>();
  readonly #settlements: (string | number | false)[] = [];
  readonly #renewals: (string | number)[] = [];
  readonly #admissions: (string | number)[] = [];
  readonly #settled: PromiseWithResolvers<boolean>[] = [];
  readonly #renewed: PromiseWithResolvers<void>[] = [];
  readonly #decided: PromiseWithResolvers<RedisDecision>[] = [];

  /** Resolves with whether the admission's lease still existed. */
  settle({ key, account }: CallerWindows, release: Omit<Release, keyof CallerIds>): Promise<boolean> {
    const { lease, second = false, requests, tokens } = release;
    this.#settlements.push(lease, this.#positionOf(key), this.#positionOf(account), second, requests, tokens);
    return this.#add(this.#settled);
  }

  renew({ key, account }: CallerWindows, lease: string): Promise<void> {
    this.#renewals.push(lease, this.#positionOf(key), this.#positionOf(account));
    return this.#add(this.#renewed);
  }

  admit(
    { key, account }: CallerWindows,
    { keyLimits, accountLimits, tokens }: Omit<AdmissionRequest, keyof CallerIds>,
    lease: string,
  ): Promise<RedisDecision> {
    this.#admissions.push(lease, this.#positionOf(key), this.#positionOf(account), tokens);
    pushLimits(this.#admissions, keyLimits);
    pushLimits(this.#admissions, accountLimits);
    return this.#add(this.#decided);
  }

  /** Encodes the argument of `batch.lua`. */
  encode(): string {
    return JSON.stringify([this.#settlements, this.#renewals, this.#admissions]);
  }

  /** Resolves every request by its part of the reply. Throws TypeError when the reply is malformed. */
  resolve(reply: readonly number[]): void {
    checkReply(reply, this.#settled.length + this.#decided.length * DECISION_LENGTH);
    let at = 0;
    for (const { resolve } of this.#settled) resolve(reply[at++] === 1);
    for (const { resolve } of this.#renewed) resolve();
    for (const { resolve } of this.#decided) {
      resolve(decodeDecision(reply, at));
      at += DECISION_LENGTH;
    }
  }

  reject(fault: unknown): void {
    for (const { reject } of [...this.#settled, ...this.#renewed, ...this.#decided]) reject(fault);
  }

  #add<Result>(waiting: PromiseWithResolvers<Result>[]): Promise<Result> {
    const added = Promise.withResolvers<Result>();
    waiting.push(added);
    this.size += 1;
    return added.promise;
  }

  /** Returns the position of a caller's window in `keys`, counted from 1. Adds a new caller. */
  #positionOf(window: string): number {
    let position = this.#positions.get(window);
    if (position === undefined) {
      position = this.keys.push(window, leasesOf(window)) - 1;
      this.#positions.set(window, position);
    }
    return position;
  }
}

function pushLimits(values: (string | number)[], limits: Limits): void {
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
  values.push(requestsPerMinute ?? UNLIMITED, tokensPerMinute ?? UNLIMITED, concurrentRequests ?? UNLIMITED);
}

/** Throws TypeError: a malformed reply must not admit a request. */
function checkReply(reply: readonly number[], length: number): void {
  if (!Array.isArray(reply) || reply.length !== length || !reply.every(Number.isInteger)) {
    throw new TypeError("Redis returned a malformed script reply");
  }
}

function decodeDecision(reply: readonly number[], at: number): RedisDecision {
  return {
    outcome: OUTCOMES[reply[at] ?? -1] ?? "rate",
    waitMs: reply[at + 1] ?? 0,
    second: reply[at + 2] ?? 0,
    key: decodeSnapshot(reply, at + 3),
    account: decodeSnapshot(reply, at + 3 + SNAPSHOT_LENGTH),
  };
}

/** Decodes the numbers written by `append_snapshot` of `caller.lua`. */
export function decodeSnapshot(reply: readonly number[], at: number): RedisSnapshot {
  return {
    requests: reply[at] ?? 0,
    tokens: reply[at + 1] ?? 0,
    requestsResetMs: reply[at + 2] ?? 0,
    tokensResetMs: reply[at + 3] ?? 0,
  };
}
