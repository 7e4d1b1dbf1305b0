import type { Ledger } from "../../src/ledger/ledger.ts";
import type { OpenLogSync } from "../../src/ledger/sqlite/log-sync.ts";
import type { Limiter } from "../../src/limiter/limiter.ts";
import type { ScriptClient } from "./redis/connection.ts";

/** Faults planted between the parts of a gateway, to test that the simulation finds them. */
export interface Faults {
  ledger(ledger: Ledger): Ledger;
  limiter(limiter: Limiter): Limiter;
  openLog(openLog: OpenLogSync): OpenLogSync;
  /** Where gateways count in one Redis. */
  redis(client: ScriptClient): ScriptClient;
}

export const NO_FAULTS: Faults = {
  ledger: (ledger) => ledger,
  limiter: (limiter) => limiter,
  openLog: (openLog) => openLog,
  redis: (client) => client,
};

/** Faults between a gateway and the Redis in which it counts. */
const REDIS_FAULTS: Readonly<Record<string, () => Faults>> = {
  lease_not_renewed: () =>
    onRedis((client) => ({
      callBuffer: (command, script, ...rest) =>
        client.callBuffer(command, script, ...rest.with(-1, withoutRenewals(String(rest.at(-1))))),
    })),
  offline_admissions_not_restored: () =>
    onRedis((client) => ({
      // Only a restoration has five keys.
      eval: async (script, ...rest) => (rest[0] === 5 ? [] : client.eval(script, ...rest)),
    })),
};

/** Every planted fault by its name. Some strike once in a number of calls. */
export const PLANTED: Readonly<Record<string, () => Faults>> = {
  settlement_sent_twice: () => {
    const strikes = everyNth(20);
    return onLedger((ledger) => ({
      async settle(request, options) {
        const settlement = await ledger.settle(request, options);
        const { walletId, holdId, amount, facts: outcome } = request;
        const facts = { surface: "chat", model: "one" };
        const again = { walletId, chargeId: `again ${holdId}`, keyId: "k", amount, facts, outcome };
        if (amount > 0n && strikes()) await ledger.charge(again);
        return settlement;
      },
    }));
  },
  log_not_synced: () => ({
    ...NO_FAULTS,
    openLog: () => () => ({ sync: async () => undefined, close() {} }),
  }),
  hold_not_extended: () => onLedger(() => ({ extend: async () => undefined })),
  settlement_of_nothing: () => {
    const strikes = everyNth(30);
    return onLedger((ledger) => ({
      settle: (request, options) => ledger.settle(strikes() ? { ...request, amount: 0n } : request, options),
    }));
  },
  hold_not_taken: () => {
    const strikes = everyNth(30);
    return onLedger((ledger) => ({
      async hold(request, options) {
        if (!strikes()) return ledger.hold(request, options);
        const balances = await ledger.balances(request.walletId);
        return { granted: request.amount, balances, replayed: false };
      },
    }));
  },
  attempts_not_recorded: () => {
    const strikes = everyNth(30);
    return onLedger((ledger) => ({
      release: ({ facts, ...request }, options) =>
        ledger.release({ ...request, facts: strikes() ? { ...facts, attempts: [] } : facts }, options),
    }));
  },
  slot_not_given_back: () => {
    const strikes = everyNth(25);
    return onLimiter((limiter) => ({
      async admit(request) {
        const decision = await limiter.admit(request);
        if (!decision.admitted || !strikes()) return decision;
        const keep = async () => undefined;
        return { ...decision, settle: keep, cancel: keep, [Symbol.asyncDispose]: keep };
      },
    }));
  },
  ...REDIS_FAULTS,
  window_above_limit: () =>
    onLimiter((limiter) => ({
      admit(request) {
        const { requestsPerMinute: max } = request.keyLimits;
        const requestsPerMinute = max === undefined ? undefined : max + 1;
        return limiter.admit({ ...request, keyLimits: { ...request.keyLimits, requestsPerMinute } });
      },
    })),
};

function everyNth(count: number): () => boolean {
  let calls = 0;
  return () => {
    calls += 1;
    return calls % count === 0;
  };
}

/** The third list of a batch are its settlements, the fourth its renewals. */
function withoutRenewals(batch: string): string {
  return JSON.stringify((JSON.parse(batch) as unknown[]).with(3, []));
}

function onRedis(replace: (client: ScriptClient) => Partial<ScriptClient>): Faults {
  const redis = (client: ScriptClient): ScriptClient => ({
    isCluster: client.isCluster,
    on: (event, listener) => client.on(event, listener),
    callBuffer: (...call) => client.callBuffer(...call),
    eval: (...call) => client.eval(...call),
    evalsha: (...call) => client.evalsha(...call),
    ...replace(client),
  });
  return { ...NO_FAULTS, redis };
}

function onLedger(replace: (ledger: Ledger) => Partial<Ledger>): Faults {
  return { ...NO_FAULTS, ledger: (ledger) => ({ ...ledger, ...replace(ledger) }) };
}

function onLimiter(replace: (limiter: Limiter) => Partial<Limiter>): Faults {
  return { ...NO_FAULTS, limiter: (limiter) => ({ ...limiter, ...replace(limiter) }) };
}
