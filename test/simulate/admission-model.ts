import type {
  Admission,
  AdmissionRequest,
  LimitDecline,
  Limiter,
  Limits,
} from "../../src/limiter/limiter.ts";
import { AdmissionWindow } from "./admission-window.ts";
import type { SimulatedRequest } from "./clients.ts";
import type { Scheduler } from "./scheduler.ts";

const MINUTE_MS = 60_000;
/** A window forgets a second as a whole. */
const SLOT_MS = 1_000;

/** What one gateway admits for one key or account. */
class Counted {
  readonly minute = new AdmissionWindow(MINUTE_MS);
  /** All that a limiter may still count. */
  readonly longest = new AdmissionWindow(MINUTE_MS + SLOT_MS);
  running = 0;
}

/** Logs every admission, and knows from the log alone whether a limit was kept. */
export class AdmissionModel {
  readonly #scheduler: Scheduler;
  readonly #report: (claim: string) => void;
  readonly #counted = new Map<string, Counted>();
  /** Of each key, the admissions that count in their minute, since the last check. */
  readonly #settled = new Map<string, number>();

  /** `report` is called inside of the simulated program, which would catch an error. */
  constructor(scheduler: Scheduler, report: (claim: string) => void) {
    this.#scheduler = scheduler;
    this.#report = report;
  }

  /** Checks every admission of a limiter, which counts for one gateway. */
  watch(gateway: string, limiter: Limiter): Limiter {
    return {
      ...limiter,
      admit: async (request) => {
        const decision = await limiter.admit(request);
        if (decision.admitted) return this.#follow(gateway, request, decision);
        this.#requireReason(gateway, request, decision);
        return decision;
      },
    };
  }

  /** Forgets what a gateway counted that has ended. */
  forget(gateway: string): void {
    for (const name of this.#counted.keys()) if (name.startsWith(`${gateway} `)) this.#counted.delete(name);
  }

  /** Checks when nothing runs: what was admitted is cancelled when the wallet or a spending limit declines. */
  checkCancelled(requests: Iterable<SimulatedRequest>): void {
    const mayCount = new Map<string, number>();
    for (const { key, ending } of requests) {
      const isDeclined = typeof ending === "object" && /^(?:wallet|spending_limit)_/.test(ending.error);
      const { id } = key.parents.at(-1) ?? key;
      if (!isDeclined) mayCount.set(id, (mayCount.get(id) ?? 0) + 1);
    }
    for (const [keyId, count] of this.#settled)
      this.#require(count, mayCount.get(keyId) ?? 0, `key ${keyId}, settled requests`);
    this.#settled.clear();
  }

  #follow(gateway: string, request: AdmissionRequest, admission: Admission): Admission {
    const { keyId, accountId, keyLimits, accountLimits, tokens } = request;
    const slots = [
      this.#take(`${gateway} key ${keyId}`, keyLimits, tokens),
      this.#take(`${gateway} account ${accountId}`, accountLimits, tokens),
    ];
    let isOver = false;
    const end = (used: number | undefined) => {
      if (isOver) return false;
      isOver = true;
      for (const slot of slots) slot.end(used);
      return true;
    };
    return {
      ...admission,
      settle: (used) => {
        if (end(used)) this.#settled.set(keyId, (this.#settled.get(keyId) ?? 0) + 1);
        return admission.settle(used);
      },
      cancel: () => {
        end(undefined);
        return admission.cancel();
      },
      [Symbol.asyncDispose]: () => {
        end(0);
        return admission[Symbol.asyncDispose]();
      },
    };
  }

  /** A request may be declined only when it does not fit a limit. */
  #requireReason(gateway: string, request: AdmissionRequest, { bound }: LimitDecline): void {
    const { keyId, accountId, keyLimits, accountLimits, tokens } = request;
    const isFull = (name: string, limits: Limits) => {
      const { longest, running } = this.#countedOf(name);
      if (bound === "concurrency") return running + 1 > (limits.concurrentRequests ?? Infinity);
      const counted = longest.sum(Math.floor(this.#scheduler.monotonicMs));
      return (
        counted.requests + 1 > (limits.requestsPerMinute ?? Infinity) ||
        counted.tokens + tokens > (limits.tokensPerMinute ?? Infinity)
      );
    };
    if (isFull(`${gateway} key ${keyId}`, keyLimits)) return;
    if (isFull(`${gateway} account ${accountId}`, accountLimits)) return;
    this.#report(`${gateway} key ${keyId} was declined by ${bound}, and had room`);
  }

  #take(name: string, limits: Limits, tokens: number): { end(used: number | undefined): void } {
    const {
      requestsPerMinute = Infinity,
      tokensPerMinute = Infinity,
      concurrentRequests = Infinity,
    } = limits;
    const counted = this.#countedOf(name);
    const { minute, longest } = counted;
    const atMs = Math.floor(this.#scheduler.monotonicMs);
    const corrections = [minute.add(atMs, tokens), longest.add(atMs, tokens)];
    counted.running += 1;
    const sums = minute.sum(atMs);
    longest.sum(atMs);
    this.#require(sums.requests, requestsPerMinute, `${name}, requests of a minute`);
    this.#require(sums.tokens, tokensPerMinute, `${name}, tokens of a minute`);
    this.#require(counted.running, concurrentRequests, `${name}, requests at a time`);
    return {
      end(used) {
        counted.running -= 1;
        for (const correct of corrections) correct(used);
      },
    };
  }

  #countedOf(name: string): Counted {
    const counted = this.#counted.get(name) ?? new Counted();
    this.#counted.set(name, counted);
    return counted;
  }

  #require(counted: number, max: number, what: string): void {
    if (counted > max) this.#report(`${what}: ${counted} of ${max}`);
  }
}
