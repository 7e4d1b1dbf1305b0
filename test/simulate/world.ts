import { Database } from "bun:sqlite";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccount } from "../../src/accounts/accounts.ts";
import { issueKey, revokeKey } from "../../src/accounts/keys/keys.ts";
import type { Config } from "../../src/config/config.ts";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import type { WalletState } from "../../src/ledger/records.ts";
import { createInlineReader } from "../../src/ledger/sqlite/reads.ts";
import type { Limits } from "../../src/limiter/limiter.ts";
import { proveWallet } from "../../src/payments/proof.ts";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import type { Upstream } from "../../src/upstream/upstream.ts";
import { drawInteger, drawOne } from "../support/seeded-random.ts";
import { scriptedModel, scriptedRoute } from "../support/test-catalog.ts";
import { endingName, type SimulatedRequest, sendRequest } from "./clients.ts";
import { closeConnections, connectionsTo } from "./connections.ts";
import type { Faults } from "./faults.ts";
import { createConfig, type SimulatedGateway, startGateway } from "./gateway.ts";
import { Luck, type MisfortuneCounts } from "./misfortunes.ts";
import { CONTEXT_WINDOW, Model, Violation } from "./model.ts";
import type { PowerModel } from "./power.ts";
import type { Machine, Scheduler } from "./scheduler.ts";
import { createSimulatedUpstreams } from "./upstreams.ts";

/** A key, and what the model knows of it. */
export interface SimulatedKey {
  readonly id: string;
  readonly walletId: string;
  readonly secret: string;
  readonly limits: Limits;
  isRevoked: boolean;
}

export interface WorldOptions {
  readonly scheduler: Scheduler;
  readonly world: Machine;
  readonly counts: MisfortuneCounts;
  readonly power: PowerModel;
  readonly faults: Faults;
  /** Simulated days. Each has one busy time. */
  readonly days: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Longer than every limit of a request, the expiry of its hold and the replay of its settlement. */
const REST_MS = 5 * MINUTE_MS;

/** A simulated world: gateways on one database, their upstreams and clients, and what goes wrong. */
export class World {
  readonly scheduler: Scheduler;
  readonly luck: Luck;
  readonly model: Model;
  readonly power: PowerModel;
  readonly config: Config;
  readonly upstreamNames: readonly string[];
  /** Whether a network is between the gateways and their ledger. */
  readonly hasLink: boolean;
  /** The requests that are not checked yet, by their numbers. */
  readonly requests = new Map<number, SimulatedRequest>();
  /** Every request so far. */
  sent = 0;
  /** How many requests ended in each way. */
  readonly endings = new Map<string, number>();
  readonly #options: WorldOptions;
  readonly #machine: Machine;
  readonly #folder = mkdtempSync(
    join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tollgate-simulation-"),
  );
  readonly #gateways = new Map<string, SimulatedGateway | undefined>();
  readonly #keys: SimulatedKey[] = [];
  #watch: Database | undefined;
  #isFileLocked = false;

  constructor(options: WorldOptions) {
    const { scheduler, world, counts } = options;
    const { draw } = scheduler;
    this.#options = options;
    this.#machine = world;
    this.scheduler = scheduler;
    this.luck = new Luck(scheduler, counts);
    this.model = new Model(scheduler, counts);
    this.power = options.power;
    this.upstreamNames = ["north", "south", "west"].slice(0, drawInteger(draw, 1, 3));
    const routes = this.upstreamNames.map((name, place) =>
      scriptedRoute(name, "theirs", { priority: 1 + (place % 2) }),
    );
    const models = ["one", "two"].map((id) =>
      scriptedModel(id, "openai", { routes, contextWindow: CONTEXT_WINDOW }),
    );
    this.hasLink = draw() < 0.4;
    const accountLimits =
      draw() < 0.3
        ? { concurrentRequests: drawInteger(draw, 5, 50), tokensPerMinute: drawInteger(draw, 5_000, 90_000) }
        : {};
    const clientDisconnect = draw() < 0.3 ? "free" : "charge_input";
    this.config = createConfig(this.#folder, { models, accountLimits, clientDisconnect });
  }

  upstreams(): ReadonlyMap<string, Upstream> {
    return createSimulatedUpstreams(this);
  }

  nextNumber(): number {
    this.sent += 1;
    return this.sent;
  }

  /** Lives through the simulated days. Rejects with a {@link Violation}. */
  async live(): Promise<void> {
    const { draw } = this.scheduler;
    this.luck.isOn = false;
    const names = ["gateway-1", "gateway-2", "gateway-3"].slice(0, drawInteger(draw, 1, 3));
    for (const name of names) await this.#start(name);
    await this.#createKeys();
    for (let day = 0; day < this.#options.days; day += 1) {
      const beganAtMs = this.scheduler.monotonicMs;
      await this.#beBusy(drawInteger(draw, 1, 3) * MINUTE_MS);
      await this.#rest();
      if (day + 1 === this.#options.days) break;
      this.scheduler.suspend(24 * HOUR_MS - (this.scheduler.monotonicMs - beganAtMs));
      await this.scheduler.sleep(MINUTE_MS, "a day begins");
    }
    await this.#end();
  }

  /** Called after each step. Throws a {@link Violation}. */
  check(): void {
    if (this.#watch) this.model.checkWallets(this.#watch);
    this.model.throwViolation();
  }

  /** Kills a gateway, and starts it again later. */
  kill(machine: Machine): void {
    const gateway = this.#gateways.get(machine.name);
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
    this.#watch?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(name: string): Promise<void> {
    const machine: Machine = { name, isAlive: true };
    const start = () => startGateway(this, machine, this.#options.faults);
    this.#gateways.set(name, await this.#on(machine, `${name} starts`, start));
    this.#watch ??= openWatch(`${this.#folder}/tollgate.db`);
  }

  /**
   * Does work as an event of another machine, and goes on as one of the world. Rejects when the machine has died, or
   * not answered within 20 s.
   */
  async #on<Result>(machine: Machine, label: string, work: () => Promise<Result>): Promise<Result> {
    const { scheduler } = this;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const world = this.#machine;
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
  async #command<Result>(
    label: string,
    work: (gateway: SimulatedGateway) => Promise<Result>,
  ): Promise<Result> {
    for (;;) {
      const [gateway] = this.#alive();
      try {
        if (gateway) return await this.#on(gateway.machine, label, () => work(gateway));
      } catch {
        // Repeated below.
      }
      await this.scheduler.sleep(SECOND_MS, "an operator waits");
    }
  }

  #startLater(name: string): void {
    const { scheduler } = this;
    this.#gateways.set(name, undefined);
    const again = () => {
      this.#start(name).catch((fault) => {
        scheduler.note(`${name} cannot start: ${String(fault)}`);
        scheduler.after(SECOND_MS, `${name} starts again`, again, this.#machine);
      });
    };
    scheduler.after(scheduler.draw() * 20_000, `${name} starts again`, again, this.#machine);
  }

  #forget(machine: Machine): void {
    this.model.admissions.forget(machine.name);
    for (const request of this.requests.values()) {
      if (request.machine !== machine || request.isOver) continue;
      request.isOrphan = true;
      request.ending ??= "reset";
    }
  }

  #alive(): readonly SimulatedGateway[] {
    return [...this.#gateways.values()].filter((gateway) => gateway !== undefined);
  }

  #anyAlive(): SimulatedGateway {
    const [gateway] = this.#alive();
    if (!gateway) throw new Error("No gateway runs");
    return gateway;
  }

  async #createKeys(): Promise<void> {
    const { draw } = this.scheduler;
    for (let account = drawInteger(draw, 1, 3); account > 0; account -= 1) {
      const create = ({ database, ledger }: SimulatedGateway) =>
        createAccount({ database, ledger }, { name: `account ${account}` });
      const { id: walletId } = await this.#command("an operator creates an account", create);
      await this.#topUp(walletId, drawOne(draw, [2_000_000n, 1_000_000_000_000n, 1_000_000_000_000n]));
      for (let number = drawInteger(draw, 1, 4); number > 0; number -= 1) await this.#createKey(walletId);
    }
  }

  async #createKey(walletId: string): Promise<void> {
    const { draw } = this.scheduler;
    const limits: Limits = {
      ...(draw() < 0.3 && { requestsPerMinute: Math.ceil(2 ** (draw() * 9)) }),
      ...(draw() < 0.3 && { concurrentRequests: Math.ceil(2 ** (draw() * 6)) }),
      ...(draw() < 0.2 && { tokensPerMinute: drawInteger(draw, 200, 20_000) }),
    };
    const period = drawOne(draw, ["total", "day"] as const);
    const amount = BigInt(drawInteger(draw, 200_000, 9_000_000));
    const spendingLimit = draw() < 0.1 ? { amount, period, timeZone: "UTC" } : undefined;
    const name = `key ${this.#keys.length}`;
    const issue = ({ database, ledger }: SimulatedGateway) =>
      issueKey({ database, ledger }, { accountId: walletId, name, limits, spendingLimit });
    const issued = await this.#command("an operator creates a key", issue);
    const key = { id: issued.key.id, walletId, secret: issued.secret, limits, isRevoked: false };
    this.#keys.push(key);
  }

  async #topUp(walletId: string, amount: bigint): Promise<void> {
    const topUpId = `top-up ${this.scheduler.steps} ${this.scheduler.draw()}`;
    this.model.topUp(walletId, amount);
    await this.#command("an operator tops up", ({ ledger }) => ledger.topUp({ walletId, topUpId, amount }));
  }

  /** Clients send requests, at a rate that the seed chooses, and things go wrong. */
  async #beBusy(ms: number): Promise<void> {
    const { scheduler } = this;
    const { draw } = scheduler;
    const endsAtMs = scheduler.monotonicMs + ms;
    const gapMs = drawOne(draw, [40, 200, 1_000]);
    this.luck.isOn = true;
    let strikesAtMs = scheduler.monotonicMs;
    while (scheduler.monotonicMs < endsAtMs) {
      const alive = this.#alive();
      if (alive.length > 0) sendFrom(this, drawOne(draw, alive), this.#drawKey());
      for (; strikesAtMs < scheduler.monotonicMs; strikesAtMs += SECOND_MS) this.#strike();
      await scheduler.sleep(-Math.log(1 - draw()) * gapMs, "clients go on");
    }
    this.luck.isOn = false;
  }

  /** Mostly a key in force. */
  #drawKey(): SimulatedKey {
    const { draw } = this.scheduler;
    const inForce = this.#keys.filter(({ isRevoked }) => !isRevoked);
    return drawOne(draw, draw() < 0.95 ? inForce : this.#keys);
  }

  /** What may go wrong once a second. */
  #strike(): void {
    const { scheduler, luck } = this;
    const { draw } = scheduler;
    const alive = this.#alive();
    const victim = alive.length > 0 ? drawOne(draw, alive) : undefined;
    if (victim && luck.strikes("death_between_steps", 2)) this.kill(victim.machine);
    else if (victim && luck.strikes("drain", 2)) this.#drain(victim);
    else if (victim && luck.strikes("full_disk", 2)) this.#fillDisk(victim.machine, "/journal/");
    else if (victim && luck.strikes("full_database", 2)) this.#fillDisk(victim.machine, "/tollgate.db");
    if (luck.strikes("refund")) void this.#refund();
    if (alive.length > 0 && luck.strikes("power_loss")) this.#losePower();
    if (luck.strikes("locked_file", 2)) this.#lockFile(draw() * 6_000);
    if (luck.strikes("clock_forward")) this.#setClock(drawOne(draw, [2_000, 70_000, 3 * HOUR_MS]));
    if (luck.strikes("clock_back")) this.#setClock(-drawOne(draw, [2_000, 70_000, 3 * HOUR_MS]));
    if (draw() < 0.02) void this.#topUp(drawOne(draw, this.#keys).walletId, 500_000n);
    if (luck.strikes("key_revoked")) this.#revoke();
    if (luck.strikes("wallet_frozen")) void this.#freeze();
  }

  /** Every gateway ends at once, and the disk has what was synced. */
  #losePower(): void {
    if (this.#isFileLocked || this.#gateways.values().some((gateway) => !gateway)) return;
    const alive = this.#alive();
    for (const request of this.requests.values()) if (!request.isOver) request.isPowerLost = true;
    this.power.lose(this.#folder, () => {
      this.#watch?.close();
      this.#watch = undefined;
      for (const { machine } of alive) this.kill(machine);
    });
  }

  #setClock(byMs: number): void {
    this.scheduler.shiftMs += byMs;
    if (byMs > 0) this.model.clockSetAtMs = this.scheduler.monotonicMs;
  }

  #drain({ machine, stop }: SimulatedGateway): void {
    this.#gateways.set(machine.name, undefined);
    const stopped = this.#on(machine, `${machine.name} drains`, stop);
    const end = () => {
      this.model.admissions.forget(machine.name);
      this.#startLater(machine.name);
    };
    stopped.then(end, () => {
      machine.isAlive = false;
      closeConnections(machine);
      this.#forget(machine);
      end();
    });
  }

  /** The files of a machine whose path holds a text cannot grow. */
  #fillDisk(machine: Machine, part: string): void {
    const setMax = (pages: number) => {
      for (const client of connectionsTo(machine, part))
        client.query(`PRAGMA max_page_count = ${pages}`).get();
    };
    setMax(1);
    this.scheduler.after(
      this.scheduler.draw() * 20_000,
      "the disk has room again",
      () => setMax(1_000_000),
      machine,
    );
  }

  /** Another process has the write lock of the database. */
  #lockFile(ms: number): void {
    if (this.#isFileLocked) return;
    const client = new Database(`${this.#folder}/tollgate.db`);
    client.run("PRAGMA busy_timeout = 0");
    client.run("BEGIN IMMEDIATE");
    this.#isFileLocked = true;
    this.scheduler.after(ms, "the database is unlocked", () => {
      client.run("ROLLBACK");
      client.close();
      this.#isFileLocked = false;
    });
  }

  #revoke(): void {
    const left = this.#keys.filter(({ isRevoked }) => !isRevoked);
    if (left.length < 2) return;
    const key = drawOne(this.scheduler.draw, left);
    key.isRevoked = true;
    void this.#command("an operator revokes a key", ({ database }) => revokeKey({ database }, key.id));
  }

  /** Refunds a part of a receipt, once. */
  async #refund(): Promise<void> {
    const { draw } = this.scheduler;
    const [gateway] = this.#alive();
    const done = [...this.requests.values()].filter(({ ending }) => ending === "finished");
    if (!gateway || done.length === 0) return;
    const request = drawOne(draw, done);
    const { walletId } = request.key;
    const amount = BigInt(drawInteger(draw, 1, 3_000));
    const refund = { walletId, refundId: `refund ${request.number}`, holdId: request.id, amount };
    if (!this.model.refund(request, amount)) return;
    await this.#command("an operator refunds", ({ ledger }) => ledger.refund(refund));
  }

  async #freeze(): Promise<void> {
    const { walletId } = drawOne(this.scheduler.draw, this.#keys);
    const become = (state: WalletState) => (gateway: SimulatedGateway) =>
      gateway.ledger.setWalletState({ walletId, state });
    await this.#command("an operator freezes a wallet", become("frozen"));
    await this.scheduler.sleep(this.scheduler.draw() * 20_000, "a wallet has been frozen");
    await this.#command("an operator thaws a wallet", become("active"));
  }

  /** Waits until everything has come to rest, and checks what is left. */
  async #rest(): Promise<void> {
    const { scheduler, model } = this;
    await scheduler.sleep(REST_MS, "everything has come to rest");
    const { ledger } = this.#anyAlive();
    for (const request of this.requests.values()) {
      const name = endingName(request.ending);
      this.endings.set(name, (this.endings.get(name) ?? 0) + 1);
      model.checkRequest(request, await ledger.receipt(request.key.walletId, request.id));
    }
    this.requests.clear();
    await model.checkMoney(ledger);
    for (const { parts, machine, gateway } of this.#alive()) {
      for (const key of this.#keys) await model.checkSlots(machine.name, gateway.limiter, key);
      if (parts.outbox.pending() > 0) throw new Violation(`the outbox of ${machine.name} is not empty`);
    }
    const [found] = findOutboxes(this.#folder);
    if (found) throw new Violation(`an outbox keeps ${found.entries} entries`);
  }

  /** Checks the whole database, and every wallet's proof. */
  async #end(): Promise<void> {
    const { ledger } = this.#anyAlive();
    for (const walletId of this.model.toppedUp.keys()) {
      const { isProven } = await proveWallet(ledger, walletId);
      if (!isProven) throw new Violation(`wallet ${walletId} does not add up`);
    }
    if (!this.#watch) return;
    const reader = { run: createInlineReader(this.#watch), close() {} };
    const { findings } = await auditSqlite({ path: "" }, this.scheduler.wallMs(), { reader });
    const [first] = findings;
    if (first)
      throw new Violation(`the audit found: ${first.claim} ${first.walletId} ${first.subject ?? ""}`);
  }
}

/** Sends a request as an event of the gateway's machine. */
function sendFrom(world: World, gateway: SimulatedGateway, key: SimulatedKey): void {
  const send = () => sendRequest(world, gateway, key);
  world.scheduler.after(0, "a request arrives", send, gateway.machine);
}

function openWatch(path: string): Database {
  const client = new Database(path, { readonly: true, strict: true });
  client.query("PRAGMA busy_timeout = 0").get();
  return client;
}
