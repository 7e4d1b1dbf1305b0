import type { Log } from "../../telemetry/log.ts";
import type { LimiterMetrics } from "../../telemetry/metrics.ts";
import type { AdmissionRequest } from "../limiter.ts";
import { createSteadyClock } from "../steady-clock.ts";
import type { RedisConnection } from "./connection.ts";
import type { CallerIds } from "./keys.ts";
import { createLeases } from "./leases.ts";
import type { OfflineAdmission } from "./offline-admissions.ts";
import { createShards, type Shard } from "./shards.ts";
import {
  createRedisStore,
  NO_CORRECTION,
  type RedisDecision,
  type RedisStore,
  type RedisStoreOptions,
  type Release,
} from "./store.ts";

export interface ResilientStoreOptions extends RedisStoreOptions {
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
interface LinkDecision extends RedisDecision {
  /** Whether Redis was lost since it was asked: others may have been let in without it meanwhile. */
  readonly hadOutage: boolean;
}

/**
 * Redis as it may be away: what it does not do within 200 ms is left undone, and what it must know all the
 * same it is told when it is back. Nothing here rejects but `ping`.
 */
export interface ResilientStore {
  /** The slot of a request that asks to be admitted. */
  newLease(): string;
  /** Holds the slot of a request that was admitted, whoever did that, until its end is told. */
  keepLease(lease: string, names: CallerIds): void;
  /** `undefined` when Redis does not decide. */
  admit(request: AdmissionRequest, lease: string): Promise<LinkDecision | undefined>;
  /** Resolves when Redis knows, or later will. */
  end(ending: Release): Promise<void>;
  /** Keeps for later that a request was admitted without Redis. */
  miss(request: AdmissionRequest): OfflineAdmission;
  /** `undefined` when Redis does not say. */
  usage(names: CallerIds): Promise<Pick<RedisDecision, "key" | "account"> | undefined>;
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
/** Rounds of telling what is missed, while more and more of it comes. */
const ROUNDS_MAX = 5;

export function createResilientStore(options: ResilientStoreOptions): ResilientStore {
  const { connection, now, every } = options;
  const store = createRedisStore(connection, options);
  const leases = createLeases(renew);
  const clock = createSteadyClock(() => Math.floor(now()));
  const { probe } = store;
  const shards = createShards({ ...options, clock, probe, reason: connection.fault, beforeBack, onBack });
  const shardOf = ({ accountId }: Pick<CallerIds, "accountId">) =>
    shards.of(connection.shardOf(accountId), accountId);
  connection.client.on("close", shards.probe);
  const stopRenewing = every(RENEW_EVERY_MS, () => {
    void leases.renew();
    shards.probe();
  });

  /** What a shard answers; `undefined` when it is away, or does not and is lost. */
  async function ask<Reply>(shard: Shard, question: () => Promise<Reply>): Promise<Reply | undefined> {
    if (shard.isDown) return undefined;
    const { outages } = shard;
    try {
      return await question();
    } catch (fault) {
      // What was asked before it was lost says nothing of how it is since it is back.
      if (shard.outages === outages) shard.lose(fault);
      return undefined;
    }
  }

  async function admit(request: AdmissionRequest, lease: string): Promise<LinkDecision | undefined> {
    const shard = shardOf(request);
    if (shard.isDown) return undefined;
    const { outages } = shard;
    const decision = await ask(shard, () => store.admit(request, lease));
    if (decision) return { ...decision, hadOutage: shard.outages !== outages };
    // It may have been admitted all the same.
    shard.owed.add(cancellationOf(request, lease));
    return undefined;
  }

  async function end(ending: Release): Promise<void> {
    const shard = shardOf(ending);
    const isKnown = leases.drop(ending.lease) || hasEffect(ending);
    const isFound = await ask(shard, () => store.settle(ending));
    if (isFound === undefined && isKnown) shard.owed.add(ending);
  }

  async function renew(names: CallerIds, lease: string): Promise<void> {
    const shard = shardOf(names);
    await ask(shard, () => store.renew(names, lease));
    if (leases.has(lease)) return;
    // Its end may have been told before that was done.
    const ending = { ...names, lease, ...NO_CORRECTION };
    const isFound = await ask(shard, () => store.settle(ending));
    if (isFound === undefined) shard.owed.add(ending);
  }

  /** Most of what it missed is told while it still counts as away, so that this stands in nobody's way. */
  async function beforeBack({ missed }: Shard): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX && missed.isMuch(); round += 1) await missed.tell(store.restore);
  }

  /** The rest of it leaves in this turn, before anything else that is asked from now on. */
  function onBack(shard: Shard): void {
    shard.missed.tell(store.restore).catch(shard.lose);
    void shard.owed.tell((ending) => ask(shard, () => store.settle(ending)));
    void leases.renew();
  }

  return {
    newLease: leases.next,
    keepLease: leases.add,
    admit,
    end,
    miss: (request) => shardOf(request).missed.note(request),
    usage: (names) => ask(shardOf(names), () => store.usage(names)),
    start: () => waitForStart(store, () => shardOf({ accountId: NOBODY })),
    ping: () => store.probe(NOBODY),
    close() {
      stopRenewing();
      shards.close();
      connection.close();
    },
  };
}

/** Whether Redis would learn more from it than that a lease ends, of which it has never heard unless it was renewed. */
function hasEffect({ second, requests, tokens }: Release): boolean {
  return second !== undefined || requests !== 0 || tokens !== 0;
}

function cancellationOf({ accountId, keyId, tokens }: AdmissionRequest, lease: string): Release {
  return { accountId, keyId, lease, second: undefined, requests: -1, tokens: -tokens };
}

/** Until Redis is there, or is lost because it is not there after a second. Who serves is known then. */
async function waitForStart(store: RedisStore, shard: () => Shard): Promise<void> {
  const deadline = performance.now() + START_MAX_MS;
  for (;;) {
    try {
      await store.probe(NOBODY);
      return void shard();
    } catch (fault) {
      if (performance.now() > deadline) return shard().lose(fault);
      await Bun.sleep(START_PAUSE_MS);
    }
  }
}
