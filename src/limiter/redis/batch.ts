import type { AdmissionRequest, Limits, WindowSnapshot } from "../limiter.ts";
import { type CallerIds, leasesOf, windowsOf } from "./scripts.ts";

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
const LIMITS_LENGTH = 6;

/** An account of a batch: the position of its window in `keys`, and the numbers of its callers by key id. */
interface BatchAccount {
  readonly at: number;
  readonly callers: Map<string, number>;
}

/**
 * Requests that one call of `batch.lua` executes: settlements first, then renewals and admissions. Its header
 * and the files of the three document the values. Each method returns the promise of the request's result.
 */
export class Batch {
  /** Window and leases of each key and each account of the batch. */
  readonly keys: string[] = [];
  /** Requests added so far. */
  size = 0;
  readonly #windowsOf: typeof windowsOf;
  readonly #accounts = new Map<string, BatchAccount>();
  readonly #callers: number[] = [];
  readonly #limits: number[] = [];
  readonly #settlements: (string | number | false)[] = [];
  readonly #renewals: (string | number)[] = [];
  readonly #admissions: (string | number)[] = [];
  readonly #settled: PromiseWithResolvers<boolean>[] = [];
  readonly #renewed: PromiseWithResolvers<void>[] = [];
  readonly #decided: PromiseWithResolvers<RedisDecision>[] = [];

  /** The default windows are those of the limits; a probe has others. */
  constructor(ownWindowsOf = windowsOf) {
    this.#windowsOf = ownWindowsOf;
  }

  /** Resolves with whether the admission's lease still existed. */
  settle(release: Release): Promise<boolean> {
    const { lease, second = false, requests, tokens } = release;
    this.#settlements.push(lease, this.#callerOf(release), second, requests, tokens);
    return this.#add(this.#settled);
  }

  renew(ids: CallerIds, lease: string): Promise<void> {
    this.#renewals.push(lease, this.#callerOf(ids));
    return this.#add(this.#renewed);
  }

  admit(request: AdmissionRequest, lease: string): Promise<RedisDecision> {
    this.#admissions.push(lease, this.#callerOf(request), request.tokens, this.#limitsOf(request));
    return this.#add(this.#decided);
  }

  /** Encodes the argument of `batch.lua`. */
  encode(): string {
    return JSON.stringify([this.#callers, this.#limits, this.#settlements, this.#renewals, this.#admissions]);
  }

  /** Resolves every request by its part of the reply. Throws TypeError when the reply is malformed. */
  resolve(bytes: Buffer): void {
    const reply = decodeReply(bytes, this.#settled.length + this.#decided.length * DECISION_LENGTH);
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

  /** Returns the position of a caller in `#callers`, counted from 1. Adds a new caller. */
  #callerOf({ accountId, keyId }: CallerIds): number {
    let account = this.#accounts.get(accountId);
    let caller = account?.callers.get(keyId);
    if (caller !== undefined) return caller;
    const windows = this.#windowsOf({ accountId, keyId });
    if (!account) {
      account = { at: this.#addWindow(windows.account), callers: new Map() };
      this.#accounts.set(accountId, account);
    }
    caller = this.#callers.push(this.#addWindow(windows.key), account.at) - 1;
    account.callers.set(keyId, caller);
    return caller;
  }

  /** Returns the position of a new window in `keys`, counted from 1. */
  #addWindow(window: string): number {
    return this.keys.push(window, leasesOf(window)) - 1;
  }

  /** Returns the position of a request's limits in `#limits`, counted from 1. Most requests share theirs. */
  #limitsOf({ keyLimits, accountLimits }: AdmissionRequest): number {
    const limits = [...numbersOf(keyLimits), ...numbersOf(accountLimits)];
    const last = this.#limits.length - LIMITS_LENGTH;
    if (last >= 0 && limits.every((limit, at) => limit === this.#limits[last + at])) return last + 1;
    return this.#limits.push(...limits) - LIMITS_LENGTH + 1;
  }
}

function numbersOf({ requestsPerMinute, tokensPerMinute, concurrentRequests }: Limits): readonly number[] {
  return [requestsPerMinute ?? UNLIMITED, tokensPerMinute ?? UNLIMITED, concurrentRequests ?? UNLIMITED];
}

/** Throws TypeError: a malformed reply must not admit a request. */
function decodeReply(bytes: Buffer, length: number): Float64Array {
  if (Buffer.isBuffer(bytes) && bytes.length === length * Float64Array.BYTES_PER_ELEMENT) {
    const { buffer, byteOffset } = bytes;
    const reply = new Float64Array(buffer.slice(byteOffset, byteOffset + bytes.length));
    if (reply.every(Number.isInteger)) return reply;
  }
  throw new TypeError("Redis returned a malformed script reply");
}

function decodeDecision(reply: Float64Array, at: number): RedisDecision {
  return {
    outcome: OUTCOMES[reply[at] ?? -1] ?? "rate",
    waitMs: reply[at + 1] ?? 0,
    second: reply[at + 2] ?? 0,
    key: decodeSnapshot(reply, at + 3),
    account: decodeSnapshot(reply, at + 3 + SNAPSHOT_LENGTH),
  };
}

/** Decodes the numbers of `snapshot` of `caller.lua`. */
export function decodeSnapshot(reply: ArrayLike<number>, at: number): RedisSnapshot {
  return {
    requests: reply[at] ?? 0,
    tokens: reply[at + 1] ?? 0,
    requestsResetMs: reply[at + 2] ?? 0,
    tokensResetMs: reply[at + 3] ?? 0,
  };
}
