import type { Log } from "../../telemetry/log.ts";
import type { LimiterMetrics } from "../../telemetry/metrics.ts";
import type { AdmissionRequest } from "../limiter.ts";
import { createSteadyClock } from "../steady-clock.ts";
import type { RedisConnection } from "./connection.ts";
import type { CallerNames } from "./keys.ts";
import { createLeases } from "./leases.ts";
import type { MissedAdmission } from "./outage.ts";
import { createShards, type Shard } from "./shards.ts";
import {
  createRedisStore,
  type Ending,
  type RedisDecision,
  type RedisStore,
  type RedisStoreOptions,
} from "./store.ts";

export interface RedisLinkOptions extends RedisStoreOptions {
  readonly connection: RedisConnection;
  readonly log: Pick<Log, "info" | "warn">;
  readonly metrics: Pick<LimiterMetrics, "shared">;
  /** What the log says of requests while Redis is away. */
  readonly meanwhile: string;
  /** Milliseconds of a clock that cannot be set. */
  readonly now: () => number;
  /** Runs a task again and again until what it returns is called. */
  readonly every: (ms: number, task: () => void) => () => void;
}

/** What Redis decided, in time. */
export interface LinkDecision extends RedisDecision {
  /** Whether Redis was lost since it was asked: others may have been let in without it meanwhile. */
  readonly isOvertaken: boolean;
}

/**
 * Redis as it may be away: what it does not do within 200 ms is left undone, and what it must know all the
 * same it is told when it is back. Nothing here rejects but `ping`.
 */
export interface RedisLink {
  /** The slot of a request that asks to be admitted. */
  newLease(): string;
  /** Holds the slot of a request that was admitted, whoever did that, until its end is told. */
  keepLease(lease: string, names: CallerNames): void;
  /** `undefined` when Redis does not decide. */
  admit(request: AdmissionRequest, lease: string): Promise<LinkDecision | undefined>;
  /** Resolves when Redis knows, or later will. */
  end(ending: Ending): Promise<void>;
  /** Keeps for later that a request was admitted without Redis. */
  miss(request: AdmissionRequest): MissedAdmission;
  /** `undefined` when Redis does not say. */
  usage(names: CallerNames): Promise<Pick<RedisDecision, "key" | "account"> | undefined>;
  /** Waits a second at most for Redis to be there. */
  start(): Promise<void>;
  /** Rejects when Redis is not there. */
  ping(): Promise<void>;
  close(): void;
}

/** A third of a lease: two renewals may be lost. */
const RENEW_EVERY_MS = 10_000;
const START_MAX_MS = 1_000;
const START_PAUSE_MS = 10;
/** Whose server is asked when it is about no account. */
const NOBODY = "nobody";

export function createRedisLink(options: RedisLinkOptions): RedisLink {
  const { connection, now, every } = options;
  const store = createRedisStore(connection, options);
  const leases = createLeases((names, lease) => void asked(names, store.renew(names, lease)));
  const clock = createSteadyClock(() => Math.floor(now()));
  const shards = createShards({ ...options, clock, probe: store.probe, reason: connection.fault, onBack });
  const shardOf = ({ accountId }: Pick<CallerNames, "accountId">) =>
    shards.of(connection.shardOf(accountId), accountId);
  const stopRenewing = every(RENEW_EVERY_MS, () => {
    leases.renew((names) => !shardOf(names).isAway);
    void shards.probeAll();
  });

  /** What Redis answers; `undefined` when it does not, and is lost. */
  async function asked<Reply>(names: CallerNames, reply: Promise<Reply>): Promise<Reply | undefined> {
    try {
      return await reply;
    } catch (fault) {
      shardOf(names).lose(fault);
      return undefined;
    }
  }

  async function admit(request: AdmissionRequest, lease: string): Promise<LinkDecision | undefined> {
    const { isAway, losses } = shardOf(request);
    if (isAway) return undefined;
    const decision = await asked(request, store.admit(request, lease));
    if (decision) return { ...decision, isOvertaken: shardOf(request).losses !== losses };
    // It may have been admitted all the same.
    shardOf(request).outage.owe(undoing(request, lease));
    return undefined;
  }

  async function end(ending: Ending): Promise<void> {
    leases.drop(ending.lease);
    const isTold = !shardOf(ending).isAway && (await asked(ending, store.settle(ending))) !== undefined;
    if (!isTold && isNews(ending)) shardOf(ending).outage.owe(ending);
  }

  /** All of it leaves in one turn, before anything else that Redis is asked from now on. */
  function onBack(shard: Shard): void {
    shard.outage.restore({
      restore: (names, missed) => asked(names, store.restore(names, missed)),
      settle: (ending) => void end(ending),
    });
    leases.renew((names) => shardOf(names) === shard);
  }

  return {
    newLease: leases.next,
    keepLease: leases.add,
    admit,
    end,
    miss: (request) => shardOf(request).outage.note(request),
    usage: async (names) => (shardOf(names).isAway ? undefined : asked(names, store.usage(names))),
    async start() {
      const fault = await firstFault(store);
      if (fault !== undefined) shards.of(connection.shardOf(NOBODY), NOBODY).lose(fault);
    },
    ping: () => store.probe(NOBODY),
    close() {
      stopRenewing();
      shards.close();
      connection.close();
    },
  };
}

/** Whether Redis would learn more from it than that a lease ends, of which it may never have heard. */
function isNews({ second, requests, tokens }: Ending): boolean {
  return second !== undefined || requests !== 0 || tokens !== 0;
}

function undoing({ accountId, keyId, tokens }: AdmissionRequest, lease: string): Ending {
  return { accountId, keyId, lease, second: undefined, requests: -1, tokens: -tokens };
}

/** Why Redis is not there after a second; `undefined` as soon as it is. */
async function firstFault(store: RedisStore): Promise<unknown> {
  const deadline = performance.now() + START_MAX_MS;
  for (;;) {
    try {
      await store.probe(NOBODY);
      return undefined;
    } catch (fault) {
      if (performance.now() > deadline) return fault;
      await Bun.sleep(START_PAUSE_MS);
    }
  }
}
