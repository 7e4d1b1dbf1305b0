import { createParts, type GatewayParts } from "../../src/app/gateway-parts.ts";
import type { RunningLimiter } from "../../src/app/start-limiter.ts";
import type { Config } from "../../src/config/config.ts";
import { connectDatabase, type Database } from "../../src/db/database.ts";
import { claimInstance } from "../../src/db/instance.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { startRollUps, startSweeper } from "../../src/ledger/background-jobs.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { createInlineReader, type WorkerReader } from "../../src/ledger/sqlite/reads.ts";
import { connectLedger } from "../../src/ledger-grpc/client/client.ts";
import type { Limiter } from "../../src/limiter/limiter.ts";
import { createMemoryLimiter } from "../../src/limiter/memory.ts";
import type { Log } from "../../src/telemetry/log.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import type { TokenCounter } from "../../src/tokens/count-tokens.ts";
import { openInlineScratch } from "../ledger/inline-scratch.ts";
import { closeConnections } from "./connections.ts";
import { withLateSweeps } from "./credits/operators.ts";
import { openWatchedStore } from "./credits/watched-store.ts";
import { createDisk } from "./disk.ts";
import type { Faults } from "./faults.ts";
import { createSimulatedTransport } from "./grpc/transport.ts";
import { startSharedLimiter } from "./redis/limiter.ts";
import { createSimulatedDropper, startSimulatedRetention } from "./retention.ts";
import type { Machine } from "./scheduler.ts";
import { createSimulatedPost } from "./upstreams.ts";
import type { World } from "./world.ts";

/** A gateway as production composes it, with its own ledger over the shared database. */
export interface SimulatedGateway {
  readonly machine: Machine;
  readonly database: Database;
  /** Its own, or the connection to that of all gateways. */
  readonly ledger: Ledger;
  readonly local: LocalLedger | undefined;
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
  const local = world.ledger
    ? undefined
    : createSqliteLedger({
        database: sqlite,
        openLog,
        reader,
        openScratch: () => openInlineScratch(sqlite.path),
        dropper: createSimulatedDropper(world),
        observer: metrics.ledger,
        openStore: (parts) => openWatchedStore(world.credits, parts),
      });
  const books = local ?? connectTo(world, machine);
  const instance = await claimInstance(database);
  const ledger = world.model.watchHeartbeats(faults.ledger(books), (holdId) => world.sawOutput(holdId));
  const close = async () => {
    await books.close();
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
  const runningLimiter = world.redis
    ? await startSharedLimiter(world, world.redis, { machine, parts: { database, log, metrics, faults } })
    : startOwnLimiter(world, machine, faults.limiter(createMemoryLimiter({ metrics: metrics.limiter })));
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
  const jobs = local
    ? [
        startSweeper({ ledger: withLateSweeps(world, local), onError }),
        startRollUps({ ledger: local, onError }),
      ]
    : [];
  const retention = local && startSimulatedRetention(world, local);
  const exports = local && (await world.exports?.start(machine));
  const notices = world.notices?.start({ database, ledger, log }, metrics.upstream);
  const plans = world.plans?.start({ database, ledger, log });
  let latest = config;
  let gateway: Gateway = { ...parts.gateway(), tokens: COUNTER };
  return {
    machine,
    database,
    ledger: books,
    local,
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
      await exports?.close();
      await notices?.close();
      await plans?.close();
      await runningLimiter.close();
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

/** Connects to the ledger of all gateways, as a gateway with `LEDGER_URL` does. */
function connectTo(world: World, machine: Machine): Ledger {
  if (!world.ledger) throw new Error("The world has no ledger of its own process");
  const openTransport = createSimulatedTransport(world, machine, world.ledger);
  return connectLedger({ address: "ledger:50051", tokens: () => ["token"], openTransport });
}

/** A limiter that counts for one gateway. */
function startOwnLimiter({ model }: World, { name }: Machine, limiter: Limiter): RunningLimiter {
  return { limiter: model.admissions.watch(name, limiter), close: async () => undefined };
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
