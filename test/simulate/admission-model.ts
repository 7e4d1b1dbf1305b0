import type { Admission, AdmissionRequest, Limiter, Limits } from "../../src/limiter/limiter.ts";
import type { Scheduler } from "./scheduler.ts";

const MINUTE_MS = 60_000;

/** One admission of a key or an account. */
interface Admitted {
  readonly atMs: number;
  tokens: number;
}

/** What one gateway admits for one key or account. */
interface Counted {
  admitted: Admitted[];
  running: number;
}

/** Logs every admission, and knows from the log alone whether a limit was kept. */
export class AdmissionModel {
  readonly #scheduler: Scheduler;
  readonly #report: (claim: string) => void;
  readonly #counted = new Map<string, Counted>();

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
        return decision.admitted ? this.#follow(gateway, request, decision) : decision;
      },
    };
  }

  /** Forgets what a gateway counted that has ended. */
  forget(gateway: string): void {
    for (const name of this.#counted.keys()) if (name.startsWith(`${gateway} `)) this.#counted.delete(name);
  }

  #follow(gateway: string, request: AdmissionRequest, admission: Admission): Admission {
    const { keyId, accountId, keyLimits, accountLimits, tokens } = request;
    const slots = [
      this.#take(`${gateway} key ${keyId}`, keyLimits, tokens),
      this.#take(`${gateway} account ${accountId}`, accountLimits, tokens),
    ];
    const end = (used: number | undefined) => {
      for (const slot of slots) slot.end(used);
    };
    return {
      ...admission,
      settle: (used) => {
        end(used);
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

  #take(name: string, limits: Limits, tokens: number): { end(used: number | undefined): void } {
    const {
      requestsPerMinute = Infinity,
      tokensPerMinute = Infinity,
      concurrentRequests = Infinity,
    } = limits;
    const counted = this.#counted.get(name) ?? { admitted: [], running: 0 };
    this.#counted.set(name, counted);
    const atMs = Math.floor(this.#scheduler.monotonicMs);
    const taken: Admitted = { atMs, tokens };
    counted.admitted = [...counted.admitted.filter((each) => each.atMs > atMs - MINUTE_MS), taken];
    counted.running += 1;
    const { admitted, running } = counted;
    const allTokens = admitted.reduce((sum, each) => sum + each.tokens, 0);
    this.#require(admitted.length, requestsPerMinute, `${name}, requests of a minute`);
    this.#require(allTokens, tokensPerMinute, `${name}, tokens of a minute`);
    this.#require(running, concurrentRequests, `${name}, requests at a time`);
    let isOver = false;
    return {
      end(used) {
        if (isOver) return;
        isOver = true;
        counted.running -= 1;
        // A cancelled request does not count in the minute.
        if (used === undefined) counted.admitted = counted.admitted.filter((each) => each !== taken);
        else taken.tokens = used;
      },
    };
  }

  #require(counted: number, max: number, what: string): void {
    if (counted > max) this.#report(`${what}: ${counted} of ${max}`);
  }
}
