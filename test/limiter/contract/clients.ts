import { afterEach, beforeEach, expect } from "bun:test";
import type {
  Admission,
  AdmissionRequest,
  LimitDecline,
  Limiter,
  Limits,
  LimitUsage,
} from "../../../src/limiter/limiter.ts";
import type { LimiterHarness, OpenLimiter } from "./harness.ts";

/** What a test says of a request; the rest is key `k1` of account `acme`, no tokens, the replica whose turn it is. */
export interface Ask {
  readonly key?: string;
  readonly account?: string;
  readonly tokens?: number;
  readonly replica?: number;
  readonly keyLimits?: Limits;
  readonly accountLimits?: Limits;
}

/**
 * A new limiter for each test, and requests that go to its replicas in turn. After each test whatever was
 * admitted and not ended is settled, and no key may have a request running then.
 */
export function useLimiter(open: OpenLimiter) {
  let opened: LimiterHarness | undefined;
  let turn = 0;
  let names = "";
  const asked = new Map<string, AdmissionRequest>();
  const admissions: Admission[] = [];

  function harness(): LimiterHarness {
    if (!opened) throw new Error("the limiter is opened before each test, not earlier");
    return opened;
  }

  beforeEach(async () => {
    opened = await open();
    // Another run may use the same server, and knows our names.
    names = crypto.randomUUID();
  });
  afterEach(async () => {
    const left = admissions.splice(0);
    const requests = [...asked.values()];
    asked.clear();
    try {
      for (const admission of left) await admission.settle(0);
      for (const request of requests) expect((await replica().usage(request)).running).toBe(0);
    } finally {
      await opened?.close();
      opened = undefined;
    }
  });

  function replica(index?: number): Limiter {
    const { replicas } = harness();
    turn += 1;
    const chosen = replicas[(index ?? turn) % replicas.length];
    if (!chosen) throw new Error("there is no replica");
    return chosen;
  }

  /** Requests under these limits. */
  function caller(keyLimits: Limits, accountLimits: Limits = {}) {
    function requestOf({ key = "k1", account = "acme", tokens = 0, ...limits }: Ask = {}): AdmissionRequest {
      const request = {
        accountId: `${names}-${account}`,
        keyId: `${names}-${key}`,
        keyLimits: limits.keyLimits ?? keyLimits,
        accountLimits: limits.accountLimits ?? accountLimits,
        tokens,
      };
      asked.set(`${account} ${key}`, request);
      return request;
    }
    async function admit(ask?: Ask): Promise<Admission | LimitDecline> {
      const decision = await replica(ask?.replica).admit(requestOf(ask));
      if (decision.admitted) admissions.push(decision);
      return decision;
    }
    return {
      admit,
      usage: (ask?: Ask): Promise<LimitUsage> => replica(ask?.replica).usage(requestOf(ask)),
      /** A request that must be let in. */
      async pass(ask?: Ask): Promise<Admission> {
        const decision = await admit(ask);
        if (!decision.admitted) throw new Error(`refused by ${decision.bound}, ${decision.retryAfterS} s`);
        return decision;
      },
      /** A request that must be refused. */
      async fail(ask?: Ask): Promise<LimitDecline> {
        const decision = await admit(ask);
        if (decision.admitted) throw new Error("admitted");
        return decision;
      },
    };
  }

  return {
    caller,
    get replicas() {
      return harness().replicas;
    },
    nowMs: () => harness().nowMs(),
    advance: (ms: number) => harness().advance(ms),
    setClock: (ms: number) => harness().setClock(ms),
    kill: (index: number) => harness().kill(index),
  };
}

export type Clients = ReturnType<typeof useLimiter>;
