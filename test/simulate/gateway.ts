import { createParts, type GatewayParts } from "../../src/app/gateway-parts.ts";
import type { Config } from "../../src/config/config.ts";
import { connectDatabase, type Database } from "../../src/db/database.ts";
import { claimInstance } from "../../src/db/instance.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { startRollUps, startSweeper } from "../../src/ledger/background-jobs.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import type { OpenLogSync } from "../../src/ledger/sqlite/log-sync.ts";
import { createInlineReader, type WorkerReader } from "../../src/ledger/sqlite/reads.ts";
import { createMemoryLimiter } from "../../src/limiter/memory.ts";
import type { Log } from "../../src/telemetry/log.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import type { TokenCounter } from "../../src/tokens/count-tokens.ts";
import { closeConnections } from "./connections.ts";
import type { Faults } from "./faults.ts";
import { createLink } from "./link.ts";
import { createSimulatedDropper, startSimulatedRetention } from "./retention.ts";
import type { Machine } from "./scheduler.ts";
import { createSimulatedPost } from "./upstreams.ts";
import type { World } from "./world.ts";

/** A gateway as production composes it, with its own ledger over the shared database. */
export interface SimulatedGateway {
  readonly machine: Machine;
  readonly database: Database;
  readonly ledger: LocalLedger;
  readonly parts: GatewayParts;
  /** The gateway that later requests run in, under the latest configuration. */
  readonly gateway: Gateway;
  /** The latest configuration. */
  config(): Config;
  apply(config: Config): void;
  /** Stops as after SIGTERM at the drain limit. */
  stop(): Promise<void>;
  /** Ends at once, as after SIGKILL. What is on its disk stays. */
  die(): void;
}

/** Starts a gateway on the current machine. */
export async function startGateway(
  world: World,
  machine: Machine,
  faults: Faults,
): Promise<SimulatedGateway> {
  const { config } = world;
  const log = createSimulatedLog(world);
  const metrics = createMetrics({});
  const openLog = faults.openLog(createDisk(world));
  const database = await connectDatabase(config.database);
  if (database.dialect !== "sqlite") throw new Error("A simulation runs over SQLite");
  const { sqlite } = database;
  // A write beside the ledger waits 2 s of the machine for a lock, in which no simulated time passes.
  sqlite.client.run("PRAGMA busy_timeout = 0");
  const reader: WorkerReader = { run: createInlineReader(sqlite.client), close() {} };
  const local = createSqliteLedger({
    database: sqlite,
    openLog,
    reader,
    dropper: createSimulatedDropper(world),
    observer: metrics.ledger,
  });
  const instance = await claimInstance(database);
  const linked = faults.ledger(world.hasLink ? createLink(world, local) : local);
  const ledger = world.model.watchHeartbeats(linked, (holdId) => world.sawOutput(holdId));
  const close = async () => {
    await local.close();
    await database.close();
  };
  const stopServing = async () => undefined;
  const running = {
    database,
    ledger,
    local,
    instance,
    servedAt: undefined,
    exports: undefined,
    stopServing,
    close,
  };
  const limiter = faults.limiter(createMemoryLimiter({ metrics: metrics.limiter }));
  const runningLimiter = {
    limiter: world.model.admissions.watch(machine.name, limiter),
    close: async () => undefined,
  };
  const parts = createParts(config, {
    ledger: running,
    limiter: runningLimiter,
    metrics,
    traces: undefined,
    log,
    openLog,
    createPost: (upstream) => createSimulatedPost(world, upstream),
  });
  const onError = (fault: unknown) => world.scheduler.note(`a background job failed: ${String(fault)}`);
  const jobs = [startSweeper({ ledger: local, onError }), startRollUps({ ledger: local, onError })];
  const retention = startSimulatedRetention(world, local);
  const notices = world.notices?.start({ database, ledger, log }, metrics.upstream);
  let latest = config;
  let gateway: Gateway = { ...parts.gateway(), tokens: COUNTER };
  return {
    machine,
    database,
    ledger: local,
    parts,
    get gateway() {
      return gateway;
    },
    config: () => latest,
    apply(next) {
      latest = next;
      parts.apply(next);
      gateway = { ...parts.gateway(), tokens: COUNTER };
    },
    async stop() {
      parts.abortRequests();
      await world.untilIdle(machine);
      await parts.close();
      retention?.stop();
      await notices?.close();
      await Promise.all(jobs.map((job) => job.stop()));
      await close();
      machine.isAlive = false;
      closeConnections(machine);
    },
    die() {
      machine.isAlive = false;
      closeConnections(machine);
    },
  };
}

/** Counts a token for every four characters, instead of a worker. */
const COUNTER: TokenCounter = {
  hurry() {},
  close() {},
  async count({ input, output }) {
    return { inputTokens: Math.ceil(input.length / 4), outputTokens: Math.ceil(output.length / 4) };
  },
};

/** The lines of the log that tell what happened are a part of the trace. */
function createSimulatedLog({ scheduler }: World): Log {
  const write = (level: string) => (fields: object, event: string) => {
    const { request } = fields as { readonly request?: string };
    scheduler.note(`log ${level}: ${event}${request === undefined ? "" : ` ${request}`}`);
  };
  return { debug() {}, info: write("info"), warn: write("warn"), error: write("error") };
}

/** A disk whose syncs take simulated time. Commits of one sync share it, as in production. */
function createDisk(world: World): OpenLogSync {
  const { scheduler, luck } = world;
  const { draw } = scheduler;
  const syncMs = () => {
    if (luck.strikes("slow_sync")) return 100 + draw() * 1_900;
    if (luck.strikes("lost_answer")) return 3_000 + draw() * 3_000;
    return 0.1 + draw() * 4;
  };
  return (path) => {
    world.power.opened(path);
    let next: PromiseWithResolvers<void> | undefined;
    let isSyncing = false;
    let failure: Error | undefined;
    const begin = () => {
      const group = next;
      if (!group) return;
      next = undefined;
      isSyncing = true;
      const synced = world.power.syncing(path);
      scheduler.after(syncMs(), "synced", () => {
        isSyncing = false;
        if (luck.strikes("failed_sync")) failure ??= failDisk(world);
        if (failure) group.reject(failure);
        else {
          synced();
          group.resolve();
        }
        begin();
      });
    };
    return {
      sync() {
        if (failure) return Promise.reject(failure);
        next ??= Promise.withResolvers();
        const { promise } = next;
        if (!isSyncing) begin();
        return promise;
      },
      close() {},
    };
  };
}

/** A process whose sync has failed cannot settle any more: its operator restarts it. */
function failDisk(world: World): Error {
  const { scheduler } = world;
  const { current } = scheduler;
  scheduler.after(scheduler.draw() * 30_000, "an operator restarts", () => world.kill(current));
  return Object.assign(new Error("sync failed"), { code: "EIO" });
}
