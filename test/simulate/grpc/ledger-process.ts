import type { Metadata, MethodDefinition } from "@grpc/grpc-js";
import { connectDatabase } from "../../../src/db/database.ts";
import { startRollUps, startSweeper } from "../../../src/ledger/background-jobs.ts";
import type { LocalLedger } from "../../../src/ledger/engine/local.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";
import { createInlineReader } from "../../../src/ledger/sqlite/reads.ts";
import { createHandlers } from "../../../src/ledger-grpc/server/handlers.ts";
import { createMutationStreams } from "../../../src/ledger-grpc/server/stream.ts";
import { ledgerService, tolerant } from "../../../src/ledger-grpc/service.ts";
import { platform } from "../../../src/platform.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { openInlineScratch } from "../../ledger/inline-scratch.ts";
import { closeConnections } from "../connections.ts";
import { withLateSweeps } from "../credits/operators.ts";
import { openWatchedStore } from "../credits/watched-store.ts";
import { createDisk } from "../disk.ts";
import type { Faults } from "../faults.ts";
import { createSimulatedDropper, startSimulatedRetention } from "../retention.ts";
import type { Machine } from "../scheduler.ts";
import type { World } from "../world.ts";
import type { CallStatus, GrpcConnection } from "./connection.ts";
import { type ClientEnd, ServerStream } from "./server-stream.ts";

interface UnaryRequest {
  readonly bytes: Buffer;
  readonly metadata: Metadata;
  /** The time until the deadline of its client. */
  readonly leftMs: number;
  answer(failed: CallStatus | undefined, reply: Buffer | undefined): void;
}

/** A handler of a call, as grpc-js calls it. */
type UnaryHandler = (call: object, answer: (failed: CallStatus | null, response?: unknown) => void) => void;

type Methods = Readonly<Record<string, MethodDefinition<unknown, unknown>>>;

// Safe because each method of the service has these functions.
const METHODS = new Map(
  Object.entries(tolerant(ledgerService) as unknown as Methods).map(([name, method]) => [
    method.path,
    { name, method },
  ]),
);

/** A ledger of its own process, which all gateways of a world call over gRPC. It may die and start again alone. */
export class LedgerProcess {
  /** `undefined` while it does not run. */
  machine: Machine | undefined;
  local: LocalLedger | undefined;
  readonly connections = new Set<GrpcConnection>();
  readonly #world: World;
  readonly #faults: Faults;
  #handlers: Readonly<Record<string, UnaryHandler>> = {};
  #streams: ReturnType<typeof createMutationStreams> | undefined;
  #stop: (() => Promise<void>) | undefined;

  constructor(world: World, faults: Faults) {
    this.#world = world;
    this.#faults = faults;
  }

  async start(): Promise<void> {
    const machine: Machine = { name: "ledger", isAlive: true };
    try {
      await this.#world.on(machine, "the ledger starts", () => this.#open(machine));
      this.machine = machine;
    } catch (fault) {
      machine.isAlive = false;
      closeConnections(machine);
      throw fault;
    }
  }

  /** Ends at once, and starts again later. */
  die(): void {
    const { machine } = this;
    if (!machine) return;
    this.#world.scheduler.note("the ledger dies");
    machine.isAlive = false;
    closeConnections(machine);
    this.#leave();
  }

  /** Stops as an operator does, and starts again later. */
  drain(): void {
    const { machine } = this;
    const stop = this.#stop;
    if (!machine || !stop) return;
    const end = () => {
      machine.isAlive = false;
      closeConnections(machine);
      if (this.machine === machine) this.#leave();
    };
    this.#world.on(machine, "the ledger drains", stop).then(end, end);
  }

  /** Opens the server's end of a stream. It begins when its first bytes arrive. */
  openStream(path: string, client: ClientEnd): ServerStream {
    return new ServerStream(methodOf(path).method, client, (stream) =>
      this.#streams?.handle(stream.asCall()),
    );
  }

  /** Answers a unary call. */
  call(path: string, { bytes, metadata, leftMs, answer }: UnaryRequest): void {
    const { name, method } = methodOf(path);
    const deadline = platform.now() + leftMs;
    const request = method.requestDeserialize(bytes);
    const call = { request, metadata, getPath: () => path, getDeadline: () => deadline };
    this.#handlers[name]?.(call, (failed, response) => {
      if (failed) answer(failed, undefined);
      else answer(undefined, method.responseSerialize(response));
    });
  }

  async #open(machine: Machine): Promise<void> {
    const world = this.#world;
    const database = await connectDatabase(world.config.database);
    if (database.dialect !== "sqlite") throw new Error("A simulation runs over SQLite");
    const { sqlite } = database;
    sqlite.client.run("PRAGMA busy_timeout = 0");
    const openLog = this.#faults.openLog(createDisk(world));
    const reader = { run: createInlineReader(sqlite.client), close() {} };
    const observer = createMetrics({}).ledger;
    const ledger = createSqliteLedger({
      database: sqlite,
      openLog,
      reader,
      openScratch: () => openInlineScratch(sqlite.path),
      dropper: createSimulatedDropper(world),
      observer,
      openStore: (parts) => openWatchedStore(world.credits, parts),
    });
    const onError = (fault: unknown) => world.scheduler.note(`a background job failed: ${String(fault)}`);
    const jobs = [
      startSweeper({ ledger: withLateSweeps(world, ledger), onError }),
      startRollUps({ ledger, onError }),
    ];
    const retention = startSimulatedRetention(world, ledger);
    const exports = await world.exports?.start(machine);
    const target = { ledger, onFault: onError };
    const streams = createMutationStreams(target);
    this.local = ledger;
    this.#streams = streams;
    // Safe because a handler reads only what `call` gives it.
    this.#handlers = createHandlers(target, streams) as unknown as Readonly<Record<string, UnaryHandler>>;
    this.#stop = async () => {
      streams.drain();
      await world.scheduler.sleep(1_000, "calls end");
      this.#leave();
      retention?.stop();
      await exports?.close();
      await Promise.all(jobs.map((job) => job.stop()));
      await ledger.close();
      await database.close();
      machine.isAlive = false;
    };
  }

  /** Is gone for its clients, and starts again later. */
  #leave(): void {
    const { scheduler, model, machine: world } = this.#world;
    this.machine = undefined;
    this.#stop = undefined;
    for (const connection of [...this.connections]) connection.break();
    const awayMs = scheduler.draw() * (scheduler.draw() < 0.2 ? 100_000 : 8_000);
    model.troubles.onAway(awayMs);
    const again = () => {
      this.start().catch((fault) => {
        scheduler.note(`the ledger cannot start: ${String(fault)}`);
        scheduler.after(1_000, "the ledger starts again", again, world);
      });
    };
    scheduler.after(awayMs, "the ledger starts again", again, world);
  }
}

function methodOf(path: string) {
  const found = METHODS.get(path);
  if (!found) throw new Error(`The ledger has no call ${path}`);
  return found;
}
