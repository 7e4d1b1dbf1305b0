import {
  type Admission,
  type AdmissionRequest,
  type LimitDecline,
  type Limiter,
  type Limits,
  SHARED_LIMITER_TIMEOUT_MS,
} from "../../../src/limiter/limiter.ts";
import type { Scheduler } from "../scheduler.ts";
import {
  countShare,
  countWindow,
  type Entry,
  type FollowedGateway,
  isLeased,
  type Moment,
  mayBeLeased,
  mayCount,
} from "./admission-entries.ts";

const MINUTE_MS = 60_000;
/** A gateway without Redis for less than this has lost no lease: it renewed each within the 11 s before. */
const SHORT_OUTAGE_MS = 15_000;
/** The limiter has this long for an answer, and a little for the turns of the event loop. */
const ANSWER_MAX_MS = SHARED_LIMITER_TIMEOUT_MS + 50;
/** After a clock was set back, a limiter may be too strict for this long. */
const SET_BACK_OVER_MS = 70_000;
/** No entry matters for longer, unless its request runs. */
const KEPT_MS = 120_000;

/** A key or an account of a request. */
interface Side {
  readonly name: string;
  readonly limits: Limits;
}

/**
 * Knows from the log of all gateways' admissions whether one Redis kept the limits: exactly while it works, and as far
 * as docs/replicas.md says while it is away. A decision was made between its question and its answer.
 */
export class SharedAdmissionModel {
  readonly #scheduler: Scheduler;
  readonly #report: (claim: string) => void;
  readonly #gateways = new Set<FollowedGateway>();
  readonly #entries = new Map<string, Entry[]>();
  /** How far the clock of Redis was set forward, which counts as elapsed time. */
  #forwardMs = 0;
  #setBackAtMs = Number.NEGATIVE_INFINITY;
  #setForwardAtMs = Number.NEGATIVE_INFINITY;
  /** When Redis last lost leases. */
  #leasesLostAtMs = Number.NEGATIVE_INFINITY;

  /** `report` is called inside of the simulated program, which would catch an error. */
  constructor(scheduler: Scheduler, report: (claim: string) => void) {
    this.#scheduler = scheduler;
    this.#report = report;
  }

  /** Follows a gateway, whose limiter has the returned metrics. `replicas` is the number of gateways that it knows. */
  follow(name: string, replicas: () => number) {
    const gateway: FollowedGateway = {
      name,
      replicas,
      isAlive: true,
      isShared: false,
      changedAtMs: this.#scheduler.monotonicMs,
      longOutageEndedAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#gateways.add(gateway);
    /** Who made each decision that its caller has not seen yet, in order. */
    const decided: string[] = [];
    return {
      metrics: {
        shared: (_shard: string, isShared: boolean) => this.#share(gateway, isShared),
        decided: (by: string) => void decided.push(by),
      },
      watch: (limiter: Limiter): Limiter => ({
        ...limiter,
        admit: (request) =>
          this.#admit(
            gateway,
            request,
            () => limiter.admit(request),
            () => decided.shift(),
          ),
      }),
    };
  }

  /** A gateway has ended: what it ran has ended with it. */
  forget(name: string): void {
    const ended = [...this.#gateways].filter((gateway) => gateway.name === name);
    for (const gateway of ended) {
      gateway.isAlive = false;
      this.#gateways.delete(gateway);
    }
    for (const entry of this.#all()) if (ended.includes(entry.gateway)) entry.endedAtMs ??= this.#now();
  }

  /** Redis has lost what it executed since a time. */
  onLoss(sinceMs: number): void {
    const { monotonicMs } = this.#scheduler;
    this.#leasesLostAtMs = monotonicMs;
    for (const entry of this.#all()) {
      if (entry.by !== "redis" || entry.answeredAtMs - this.#forwardMs >= Math.floor(sinceMs))
        entry.isLost = true;
    }
  }

  /** The clock of Redis was set. */
  onClockSet(byMs: number): void {
    const { monotonicMs } = this.#scheduler;
    if (byMs < 0) this.#setBackAtMs = monotonicMs;
    else {
      this.#forwardMs += byMs;
      this.#setForwardAtMs = monotonicMs;
      this.#leasesLostAtMs = monotonicMs;
      for (const entry of this.#all())
        if (entry.by !== "redis" && !entry.isRestored) entry.setForwardMs += byMs;
    }
  }

  /** Time as Redis counts it. */
  #now(): number {
    return Math.floor(this.#scheduler.monotonicMs) + this.#forwardMs;
  }

  *#all(): Generator<Entry> {
    for (const entries of this.#entries.values()) yield* entries;
  }

  #share(gateway: FollowedGateway, isShared: boolean): void {
    if (isShared === gateway.isShared) return;
    const { monotonicMs } = this.#scheduler;
    if (isShared && monotonicMs - gateway.changedAtMs >= SHORT_OUTAGE_MS) {
      gateway.longOutageEndedAtMs = this.#now();
    }
    gateway.isShared = isShared;
    gateway.changedAtMs = monotonicMs;
  }

  async #admit(
    gateway: FollowedGateway,
    { keyId, accountId, keyLimits, accountLimits, tokens }: AdmissionRequest,
    ask: () => ReturnType<Limiter["admit"]>,
    decidedBy: () => string | undefined,
  ): Promise<Admission | LimitDecline> {
    const sides = [
      { name: `key ${keyId}`, limits: keyLimits },
      { name: `account ${accountId}`, limits: accountLimits },
    ];
    const beganAtMs = this.#scheduler.monotonicMs;
    const entries = sides.map(({ name }) => this.#enter(name, gateway, tokens));
    let decision: Admission | LimitDecline | undefined;
    try {
      decision = await ask();
      return decision.admitted ? this.#follow(gateway, entries, decision) : decision;
    } finally {
      this.#requireInTime(`${gateway.name}: an admission`, beganAtMs);
      const by = decidedBy();
      for (const [place, side] of sides.entries()) {
        const entry = entries[place];
        if (entry) this.#answer(entry, side, { by, isAdmitted: decision?.admitted === true, tokens });
      }
      if (by === "redis" && decision?.admitted === false) this.#checkDecline(sides, entries, decision);
    }
  }

  #enter(name: string, gateway: FollowedGateway, tokens: number): Entry {
    const now = this.#now();
    const entry: Entry = {
      gateway,
      askedAtMs: now,
      askedMs: this.#scheduler.monotonicMs,
      answeredAtMs: Number.POSITIVE_INFINITY,
      by: undefined,
      least: tokens,
      most: tokens,
      state: "in doubt",
      isLost: false,
      isRestored: false,
      endedAtMs: undefined,
      setForwardMs: 0,
    };
    const isNeeded = ({ endedAtMs, answeredAtMs, setForwardMs }: Entry) =>
      !(endedAtMs !== undefined && Math.max(endedAtMs, answeredAtMs) + setForwardMs < now - KEPT_MS);
    this.#entries.set(name, [...(this.#entries.get(name) ?? []).filter(isNeeded), entry]);
    return entry;
  }

  #answer(
    entry: Entry,
    { name, limits }: Side,
    { by, isAdmitted, tokens }: { by: string | undefined; isAdmitted: boolean; tokens: number },
  ): void {
    entry.answeredAtMs = this.#now();
    entry.by = by;
    if (!isAdmitted) {
      entry.endedAtMs = this.#now();
      if (by === "redis") entry.state = "declined";
      return;
    }
    entry.state = "admitted";
    if (by === "redis") this.#checkShared(entry, { name, limits });
    else this.#checkAlone(entry, { name, limits }, tokens);
  }

  /** Redis admits no more than a limit, of what it has to know. */
  #checkShared(entry: Entry, { name, limits }: Side): void {
    const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
    const moment = this.#moment(entry);
    const entries = this.#entries.get(name) ?? [];
    const { requests, tokens } = countWindow(entries, moment);
    this.#require(requests, requestsPerMinute, `${name}, requests of a minute`);
    this.#require(tokens, tokensPerMinute, `${name}, tokens of a minute`);
    const running = entries.filter((each) => isLeased(each, moment)).length;
    this.#require(running, concurrentRequests, `${name}, requests at a time`);
  }

  /** A gateway without Redis admits its share, of what it admitted itself. */
  #checkAlone({ gateway }: Entry, { name, limits }: Side, asked: number): void {
    const { requestsPerMinute: requestsMax, tokensPerMinute: tokensMax, concurrentRequests: slots } = limits;
    const own = (this.#entries.get(name) ?? []).filter((each) => each.gateway === gateway);
    const { requests, tokens, running } = countShare(own, this.#now() - MINUTE_MS);
    const shareOf = (limit: number) => Math.ceil(limit / gateway.replicas());
    const about = `${gateway.name}, its share of ${name}`;
    this.#require(requests, requestsMax && shareOf(requestsMax), `${about}, requests of a minute`);
    const tokensShare = tokensMax && Math.max(shareOf(tokensMax), Math.min(tokensMax, asked));
    this.#require(tokens, tokensShare, `${about}, tokens of a minute`);
    this.#require(running, slots && shareOf(slots), `${about}, requests at a time`);
  }

  /** Redis declines nothing for which there must be room. */
  #checkDecline(sides: readonly Side[], asked: readonly Entry[], { bound }: LimitDecline): void {
    const { monotonicMs } = this.#scheduler;
    if (monotonicMs - this.#setBackAtMs < SET_BACK_OVER_MS) return;
    const isFull = sides.some(({ name, limits }, place) => {
      const entry = asked[place];
      if (!entry) return false;
      const others = (this.#entries.get(name) ?? []).filter(
        (each) => each !== entry && each.state !== "declined",
      );
      const {
        requestsPerMinute = Infinity,
        tokensPerMinute = Infinity,
        concurrentRequests = Infinity,
      } = limits;
      if (bound === "concurrency") return mayBeLeased(others, entry.askedAtMs) >= concurrentRequests;
      const { requests, tokens } = mayCount(others, entry.askedAtMs);
      return requests + 1 > requestsPerMinute || tokens + entry.most > tokensPerMinute;
    });
    if (!isFull)
      this.#report(`${sides.map(({ name }) => name).join(" and ")}: declined by ${bound} with room left`);
  }

  /** Follows an admission to its end. */
  #follow(gateway: FollowedGateway, entries: readonly Entry[], admission: Admission): Admission {
    const end = async (used: number | undefined, how: () => PromiseLike<void>) => {
      for (const entry of entries) this.#end(entry, used);
      const beganAtMs = this.#scheduler.monotonicMs;
      await how();
      this.#requireInTime(`${gateway.name}: the end of an admission`, beganAtMs);
    };
    return {
      ...admission,
      admitted: true,
      state: admission.state,
      settle: (used) => end(used, () => admission.settle(used)),
      cancel: () => end(undefined, () => admission.cancel()),
      [Symbol.asyncDispose]: () => end(0, () => admission[Symbol.asyncDispose]()),
    };
  }

  #end(entry: Entry, used: number | undefined): void {
    if (entry.endedAtMs !== undefined) return;
    entry.endedAtMs = this.#now();
    if (used === undefined) entry.state = "cancelled";
    entry.least = Math.min(entry.least, used ?? 0);
    entry.most = Math.max(entry.most, used ?? 0);
  }

  #moment({ askedMs, answeredAtMs }: Entry): Moment {
    const { monotonicMs: ms } = this.#scheduler;
    const [leasesLostMs, setForwardMs] = [this.#leasesLostAtMs, this.#setForwardAtMs];
    return { ms, askedMs, nowMs: answeredAtMs, leasesLostMs, setForwardMs };
  }

  #requireInTime(what: string, beganAtMs: number): void {
    const ms = this.#scheduler.monotonicMs - beganAtMs;
    if (ms > ANSWER_MAX_MS) this.#report(`${what} took ${Math.round(ms)} ms`);
  }

  #require(counted: number, max: number | undefined, what: string): void {
    if (max !== undefined && counted > max) this.#report(`${what}: ${counted} of ${max}`);
  }
}
