// Three gateways on one PostgreSQL that are killed all the time. Each act is repeated until one of them has done it.
import { and, isNotNull, isNull, lte, sql } from "drizzle-orm";
import { findSubscription, listSubscriptions } from "../../src/plans/reads.ts";
import type { TempStorage } from "../accounts/temp-storage.ts";
import { drawInteger, drawOne, type RandomSource } from "../support/seeded-random.ts";
import type { Act, ActAnswer } from "./acts.ts";
import { type Declined, type Desk, type Job, readAuto } from "./desk.ts";
import type { GatewaySetup, Work } from "./gateway-child.ts";

const GATEWAYS = 3;
const LIFE_MS_MIN = 100;
/** Repetitions of one act: more are a fault of the program. */
const TRIES_MAX = 200;
const MINUTE_MS = 60_000;

type Answer = ActAnswer | Declined;

interface Child {
  readonly process: Bun.Subprocess;
  /** The work that it has not answered: `undefined` is a death. */
  readonly open: Map<number, (answer: Answer | { readonly fault: string } | undefined) => void>;
}

/** The deaths so far, and the acts that they cut off. */
export interface Deaths {
  kills: number;
  repeated: number;
}

/** The gateways of a year. */
export class Gateways implements Desk {
  readonly deaths: Deaths = { kills: 0, repeated: 0 };
  readonly #storage: TempStorage;
  readonly #setup: GatewaySetup;
  readonly #draw: RandomSource;
  readonly #living = new Set<Child>();
  /** Those that take work. */
  readonly #ready = new Set<Child>();
  readonly #waiting: (() => void)[] = [];
  #killsMax = 0;
  #lifeMsMax = 0;
  #isClosing = false;
  #serial = 0;

  constructor(storage: TempStorage, setup: GatewaySetup, draw: RandomSource) {
    this.#storage = storage;
    this.#setup = setup;
    this.#draw = draw;
    for (let count = 0; count < GATEWAYS; count += 1) this.#start();
  }

  /** Lets so many more of them die, each after at most so many milliseconds of the machine. */
  mayDie(deaths: number, lifeMsMax: number): void {
    this.#killsMax = this.deaths.kills + deaths;
    this.#lifeMsMax = lifeMsMax;
    for (const child of this.#ready) this.#killLater(child);
  }

  async act(act: Act): Promise<Answer> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const answer = await this.#send({ act });
      if (answer === undefined) this.deaths.repeated += 1;
      else if ("declined" in answer && tries > 0) return this.#afterDeath(act, answer);
      else if (!("fault" in answer)) return answer;
    }
    throw new Error(`${act.kind} is never done`);
  }

  async run(job: Job): Promise<void> {
    if (job === "auto") return this.#finishPayments();
    await this.#runAll(job);
    if (job === "plans") await this.#finishPlans();
    // A pass books what a death in the middle of a reading has left.
    if (job === "billing") await this.#runAll("plans");
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const living = [...this.#living];
    for (const { process } of living) process.kill("SIGKILL");
    await Promise.all(living.map(({ process }) => process.exited));
  }

  /** What an act that was cut off is declined for may be its own first effect. */
  async #afterDeath(act: Act, answer: Declined): Promise<Answer> {
    const { database } = this.#storage;
    const { declined } = answer;
    if (act.kind === "subscribe" && declined === "conflict") {
      const { accountId } = act;
      const { items } = await listSubscriptions(database, { accountId, isLive: true, size: 1 });
      const [live] = items;
      return live ? { id: live.id } : answer;
    }
    if (act.kind === "command" && declined === "conflict") {
      const subscription = await findSubscription(database, act.subscriptionId);
      return subscription?.version === act.version + 1 ? {} : answer;
    }
    if (act.kind === "command_billed" && declined === "conflict") {
      const subscription = await findSubscription(database, act.subscriptionId);
      if ((subscription?.version ?? 0) <= act.version) return answer;
      return this.act({ kind: "read_billed", stripeId: act.stripeId });
    }
    if (act.kind === "redeem" && declined === "unknown_item") return {};
    if (act.kind === "codes" && declined === "conflict") return this.act({ ...act, id: `${act.id}-again` });
    if (act.kind === "pay_in" && declined === "conflict") return this.act(act);
    return answer;
  }

  /** Every period that is due is granted before the clock goes on; only limits wait for the lease of a dead process. */
  async #finishPlans(): Promise<void> {
    const { database, clock } = this.#storage;
    const { subscriptions, planGrants } = database.tables;
    for (let round = 0; round < TRIES_MAX; round += 1) {
      const nowMs = this.#storage.now();
      const isDue = and(isNotNull(subscriptions.nextAtMs), lte(subscriptions.nextAtMs, nowMs));
      const due = await database.db.select({ id: subscriptions.id }).from(subscriptions).where(isDue);
      const isOpen = isNull(planGrants.bookedAtMs);
      const open = await database.db.select({ id: planGrants.id }).from(planGrants).where(isOpen);
      const isBehind = sql`applied_version < version`;
      const behind = await database.db.select({ id: subscriptions.id }).from(subscriptions).where(isBehind);
      if (due.length + open.length + behind.length === 0) return;
      if (due.length + open.length === 0) clock.nowMs = nowMs + MINUTE_MS;
      await this.#runAll("plans");
    }
    throw new Error("The plans are never done");
  }

  /** A payment that a dead process had claimed is asked for a minute later. A bank that is processing takes hours. */
  async #finishPayments(): Promise<void> {
    const { database, clock } = this.#storage;
    const { autoPayments } = database.tables;
    for (let before = await readAuto({ database }); ; ) {
      await this.#runAll("auto");
      await this.#send({ job: "payments" });
      const isOpen = and(isNull(autoPayments.failedAtMs), isNull(autoPayments.creditedAtMs));
      const open = await database.db.select({ atMs: autoPayments.nextAtMs }).from(autoPayments).where(isOpen);
      const soonMs = this.#storage.now() + 15 * MINUTE_MS;
      const waits = open.map(({ atMs }) => atMs ?? 0).filter((atMs) => atMs <= soonMs);
      if (waits.length > 0) clock.nowMs = Math.max(this.#storage.now(), ...waits);
      const after = await readAuto({ database });
      if (waits.length === 0 && after === before) return;
      before = after;
    }
  }

  /** Runs a job at all gateways at once, each until it has come to an end. */
  async #runAll(job: Job): Promise<void> {
    const runOnce = async () => {
      for (;;) {
        const answer = await this.#send({ job });
        if (answer && !("fault" in answer)) return;
      }
    };
    await Promise.all(Array.from({ length: GATEWAYS }, runOnce));
  }

  /** Gives a piece of work to a gateway. `undefined` when it died before its answer. */
  async #send(task: Work["task"]): Promise<Answer | { readonly fault: string } | undefined> {
    while (this.#ready.size === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const child = drawOne(this.#draw, [...this.#ready]);
    this.#serial += 1;
    const number = this.#serial;
    return new Promise((resolve) => {
      child.open.set(number, resolve);
      try {
        child.process.send({ number, task });
      } catch {
        // It has died just now.
        child.open.delete(number);
        resolve(undefined);
      }
    });
  }

  #start(): void {
    const open: Child["open"] = new Map();
    const process_ = Bun.spawn(
      [process.execPath, `${import.meta.dir}/gateway-child.ts`, JSON.stringify(this.#setup)],
      {
        serialization: "advanced",
        stdio: ["ignore", "ignore", "ignore"],
        ipc: ({ number, answer, fault }) => {
          if (number === 0) this.#live(child);
          open.get(number)?.(fault === undefined ? answer : { fault });
          open.delete(number);
        },
        onExit: () => this.#bury(child),
      },
    );
    const child: Child = { process: process_, open };
    this.#living.add(child);
  }

  #live(child: Child): void {
    this.#ready.add(child);
    for (const resume of this.#waiting.splice(0)) resume();
    this.#killLater(child);
  }

  #killLater(child: Child): void {
    const kill = () => {
      if (this.#isClosing || this.deaths.kills >= this.#killsMax || !this.#ready.has(child)) return;
      this.deaths.kills += 1;
      this.#ready.delete(child);
      child.process.kill("SIGKILL");
    };
    setTimeout(kill, drawInteger(this.#draw, LIFE_MS_MIN, this.#lifeMsMax));
  }

  #bury(child: Child): void {
    this.#living.delete(child);
    this.#ready.delete(child);
    for (const resolve of child.open.values()) resolve(undefined);
    child.open.clear();
    if (!this.#isClosing) this.#start();
  }
}
