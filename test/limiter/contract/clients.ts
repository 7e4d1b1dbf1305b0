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

/** Fields of a test request. Defaults: key `k1` of account `acme`, no tokens, the next replica. */
export interface Ask {
  readonly key?: string;
  readonly account?: string;
  readonly tokens?: number;
  readonly replica?: number;
  readonly keyLimits?: Limits;
  readonly accountLimits?: Limits;
}

/**
 * Opens a new limiter for each test and sends requests to its replicas in turn. After each test, settles all
 * running admissions and expects no key to have a running request.
 */
export function useLimiter(open: OpenLimiter) {
  let opened: LimiterHarness | undefined;
  let turn = 0;
  let names = "";
  const requested = new Map<string, AdmissionRequest>();
  const admissions: Admission[] = [];

  function harness(): LimiterHarness {
    if (!opened) throw new Error("the limiter is opened before each test, not earlier");
    return opened;
  }

  beforeEach(async () => {
    opened = await open();
    // Another test run may use the same server.
    names = crypto.randomUUID();
  });
  afterEach(async () => {
    const left = admissions.splice(0);
    const requests = [...requested.values()];
    requested.clear();
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

  /** Returns requests with these limits. */
  function caller(keyLimits: Limits, accountLimits: Limits = {}) {
    function requestOf({ key = "k1", account = "acme", tokens = 0, ...limits }: Ask = {}): AdmissionRequest {
      const request = {
        accountId: `${names}-${account}`,
        keyId: `${names}-${key}`,
        keyLimits: limits.keyLimits ?? keyLimits,
        accountLimits: limits.accountLimits ?? accountLimits,
        tokens,
      };
      requested.set(`${account} ${key}`, request);
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
      /** Expects the request to be admitted. */
      async pass(ask?: Ask): Promise<Admission> {
        const decision = await admit(ask);
        if (!decision.admitted) throw new Error(`declined by ${decision.bound}, ${decision.retryAfterS} s`);
        return decision;
      },
      /** Expects the request to be declined. */
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
