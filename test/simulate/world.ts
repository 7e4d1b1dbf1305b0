import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SpendingLimit } from "../../src/accounts/spending-limits.ts";
import type { Config } from "../../src/config/config.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import type { SimulatedRequest } from "./clients.ts";
import { closeConnections } from "./connections.ts";
import { CreditReckoning } from "./credits/reckoning.ts";
import { SimulatedExports } from "./exports.ts";
import type { Faults } from "./faults.ts";
import { type SimulatedGateway, startGateway } from "./gateway.ts";
import { LedgerProcess } from "./grpc/ledger-process.ts";
import type { KeyHistory } from "./key-model.ts";
import { type Kinds, Luck, type MisfortuneCounts } from "./misfortunes.ts";
import { Model, Violation } from "./model.ts";
import type { Nights } from "./nights.ts";
import { SimulatedNotices } from "./notices.ts";
import { drawPlans, type SimulatedPlans } from "./plans/plans.ts";
import type { PowerModel } from "./power.ts";
import type { SimulatedOwner } from "./project-operators.ts";
import type { RealRedis } from "./redis/real-redis.ts";
import { SimulatedRedis } from "./redis/server.ts";
import { drawConfig } from "./reloads.ts";
import { RetentionModel } from "./retention.ts";
import type { Machine, Scheduler } from "./scheduler.ts";
import { WalletWatch } from "./wallet-watch.ts";

/** A key, and what the model knows of it. */
export interface SimulatedKey {
  readonly id: string;
  readonly walletId: string;
  /** Every secret that it had, the latest one last. */
  readonly secrets: string[];
  readonly history: KeyHistory;
  /** What its operator was told last. */
  spendingLimit: SpendingLimit | undefined;
  /** Whether it has had its limit from the start, so that every hold counts against it. */
  isLimitKept: boolean;
  readonly makesChildren: boolean;
  /** The keys above it, the nearest first. */
  readonly parents: readonly SimulatedKey[];
  /** The project and the member that its holds count for, each as kind and id. */
  readonly scopes: readonly string[];
}

/** The most of a world. What its seed draws is cut to them, which makes failed runs smaller. */
export interface Bounds {
  readonly gateways?: number | undefined;
  readonly upstreams?: number | undefined;
  readonly keys?: number | undefined;
  /** Busy times end when so many requests were sent. */
  readonly requests?: number | undefined;
  /** Whether the limiter is in Redis. Default: in one world of five. */
  readonly hasRedis?: boolean | undefined;
}

export interface WorldOptions {
  readonly seed: number;
  readonly scheduler: Scheduler;
  readonly world: Machine;
  readonly counts: MisfortuneCounts;
  readonly power: PowerModel;
  readonly faults: Faults;
  readonly nights: Nights;
  /** The bytes of an empty database. */
  readonly database: Buffer;
  readonly kinds: Kinds;
  readonly bounds: Bounds;
  /** Runs the scripts of the limiter of every world; `undefined` for keys in memory in some of the worlds. */
  readonly realRedis: RealRedis | undefined;
}

const SECOND_MS = 1_000;

/** A simulated world: gateways on one database, their upstreams and clients, and what goes wrong. */
export class World {
  readonly scheduler: Scheduler;
  readonly luck: Luck;
  readonly model: Model;
  readonly power: PowerModel;
  readonly retention: RetentionModel;
  /** Watched thresholds; `undefined` in a world without any. */
  readonly notices: SimulatedNotices | undefined;
  /** `undefined` in a world without any. */
  readonly exports: SimulatedExports | undefined;
  /** Subscriptions to plans; `undefined` in a world without any. */
  readonly plans: SimulatedPlans | undefined;
  /** What the credits of all wallets must come to. */
  readonly credits: CreditReckoning;
  /** Whether operators grant credits with ends, and take money off. */
  readonly hasCredits: boolean;
  /** The configuration file as it is now. */
  config: Config;
  readonly bounds: Bounds;
  readonly nights: Nights;
  /** The process with the ledger of all gateways; `undefined` where each has its own, over one database. */
  readonly ledger: LedgerProcess | undefined;
  /** The Redis in which all gateways count; `undefined` where each counts for itself. */
  readonly redis: SimulatedRedis | undefined;
  /** The requests that are not checked yet, by their numbers. */
  readonly requests = new Map<number, SimulatedRequest>();
  /** Every request so far. */
  sent = 0;
  /** How many requests ended in each way. */
  readonly endings = new Map<string, number>();
  readonly #options: WorldOptions;
  /** The machine of everything that is no gateway. */
  readonly machine: Machine;
  readonly folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tollgate-simulation-"));
  /** By name; `undefined` for one that does not run. */
  readonly gateways = new Map<string, SimulatedGateway | undefined>();
  readonly keys: SimulatedKey[] = [];
  /** Projects and members of each account, by its wallet. */
  readonly owners = new Map<string, SimulatedOwner | undefined>();
  /** Reads the database from outside. */
  watch: WalletWatch | undefined;
  isFileLocked = false;

  constructor(options: WorldOptions) {
    const { scheduler, world, counts, kinds, bounds } = options;
    const { draw } = scheduler;
    this.#options = options;
    writeFileSync(join(this.folder, "tollgate.db"), options.database);
    this.machine = world;
    this.scheduler = scheduler;
    this.bounds = bounds;
    this.luck = new Luck(scheduler, counts, kinds);
    this.model = new Model(scheduler, counts);
    this.power = options.power;
    this.retention = new RetentionModel(this);
    this.notices = draw() < 0.35 ? new SimulatedNotices(this) : undefined;
    this.nights = options.nights;
    this.ledger = draw() < 0.4 ? new LedgerProcess(this, options.faults) : undefined;
    const { realRedis } = options;
    const isDrawn = draw() < 0.2 || realRedis !== undefined;
    this.redis = (bounds.hasRedis ?? isDrawn) ? new SimulatedRedis(this, realRedis) : undefined;
    this.exports = draw() < 0.33 ? new SimulatedExports(this) : undefined;
    this.credits = new CreditReckoning((claim) => this.model.report(claim));
    this.hasCredits = draw() < 0.5;
    this.plans = drawPlans(this, options.seed);
    this.config = drawConfig(this.folder, draw, bounds.upstreams);
  }

  nextNumber(): number {
    this.sent += 1;
    return this.sent;
  }

  /** Whether the client of a request was sent a part of its answer. */
  sawOutput(id: string): boolean {
    return this.requests.values().some((request) => request.id === id && request.sawOutput);
  }

  /** Adds money to a wallet, whatever happens to gateways meanwhile. */
  async topUp(walletId: string, amount: bigint): Promise<void> {
    const topUpId = `top-up ${this.scheduler.steps} ${this.scheduler.draw()}`;
    this.model.topUp(walletId, amount);
    await this.command("an operator tops up", ({ ledger }) => ledger.topUp({ walletId, topUpId, amount }));
  }

  /**
   * Resolves after simulated time, as an event of the world. What waits for the answer of a gateway goes on as an event
   * of that gateway, and would end with it.
   */
  sleep(ms: number, label: string): Promise<void> {
    return this.scheduler.sleep(ms, label, this.machine);
  }

  /** Called after each step. Throws a {@link Violation}. */
  check(): void {
    if (this.watch?.check()) this.notices?.model.look(this.watch.client);
    this.model.throwViolation();
  }

  /** Checks that Redis keeps nothing when nothing runs. Its keys expire later after its clock was set back. */
  checkRedis(): void {
    const { redis, luck } = this;
    const [left] = luck.counts.clock_back > 0 ? [] : (redis?.left() ?? []);
    if (left !== undefined) throw new Violation(`Redis keeps ${left}`);
  }

  /** Kills a gateway, and starts it again later. */
  kill(machine: Machine): void {
    if (machine === this.ledger?.machine) this.ledger.die();
    const gateway = this.gateways.get(machine.name);
    if (gateway?.machine !== machine || !machine.isAlive) return;
    this.scheduler.note(`${machine.name} dies`);
    gateway.die();
    this.#forget(machine);
    this.#startLater(machine.name);
  }

  /** Resolves when no request runs on a machine. */
  async untilIdle(machine: Machine): Promise<void> {
    const runs = () =>
      this.requests.values().some((request) => request.machine === machine && !request.isOver);
    while (runs()) await this.scheduler.sleep(50, "drains");
  }

  /** Removes the files. */
  remove(): void {
    this.watch?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Starts a gateway. Rejects when it cannot. */
  async start(name: string): Promise<void> {
    const machine: Machine = { name, isAlive: true };
    const start = () => startGateway(this, machine, this.#options.faults);
    this.gateways.set(name, await this.on(machine, `${name} starts`, start));
    this.watch ??= new WalletWatch(`${this.folder}/tollgate.db`, this.model.costsAbove, this.credits);
  }

  /**
   * Does work as an event of another machine, and goes on as one of the world. Rejects when the machine has died, or
   * not answered within 20 s.
   */
  async on<Result>(machine: Machine, label: string, work: () => Promise<Result>): Promise<Result> {
    const { scheduler } = this;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const world = this.machine;
    const late = scheduler.after(
      20 * SECOND_MS,
      "an operator gives up",
      () => reject(new Error("late")),
      world,
    );
    const answer = (how: () => void) => {
      late();
      scheduler.after(0, "an operator has an answer", how, world);
    };
    const begin = () => {
      work().then(
        (result) => answer(() => resolve(result)),
        (fault: unknown) => answer(() => reject(fault)),
      );
    };
    scheduler.after(0, label, begin, machine);
    return promise;
  }

  /** An operator's command, repeated at any gateway until it is done. Must be idempotent. */
  async command<Result>(
    label: string,
    work: (gateway: SimulatedGateway) => Promise<Result>,
  ): Promise<Result> {
    for (;;) {
      const [gateway] = this.alive();
      try {
        if (gateway) return await this.on(gateway.machine, label, () => work(gateway));
      } catch {
        // Repeated below.
      }
      await this.sleep(SECOND_MS, "an operator waits");
    }
  }

  /** Stops a gateway as an operator does, and starts it again later. */
  drain({ machine, stop }: SimulatedGateway): void {
    this.gateways.set(machine.name, undefined);
    const stopped = this.on(machine, `${machine.name} drains`, stop);
    const end = () => {
      this.model.forget(machine.name);
      this.#startLater(machine.name);
    };
    stopped.then(end, () => {
      machine.isAlive = false;
      closeConnections(machine);
      this.#forget(machine);
      end();
    });
  }

  #startLater(name: string): void {
    const { scheduler } = this;
    this.gateways.set(name, undefined);
    const again = () => {
      this.start(name).catch((fault) => {
        scheduler.note(`${name} cannot start: ${String(fault)}`);
        scheduler.after(SECOND_MS, `${name} starts again`, again, this.machine);
      });
    };
    scheduler.after(scheduler.draw() * 20_000, `${name} starts again`, again, this.machine);
  }

  #forget(machine: Machine): void {
    this.model.forget(machine.name);
    for (const request of this.requests.values()) {
      if (request.machine !== machine || request.isOver) continue;
      request.isOrphan = true;
      request.ending ??= "reset";
    }
  }

  /** The ledger, without a network. */
  books(): LocalLedger {
    const ledger = this.ledger?.local ?? this.anyAlive().local;
    if (!ledger) throw new Error("No ledger runs");
    return ledger;
  }

  /** The gateways that run. */
  alive(): readonly SimulatedGateway[] {
    return [...this.gateways.values()].filter((gateway) => gateway !== undefined);
  }

  /** Throws when no gateway runs. */
  anyAlive(): SimulatedGateway {
    const [gateway] = this.alive();
    if (!gateway) throw new Error("No gateway runs");
    return gateway;
  }
}
