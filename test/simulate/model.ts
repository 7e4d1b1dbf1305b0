import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Receipt } from "../../src/ledger/records.ts";
import type { Limiter } from "../../src/limiter/limiter.ts";
import { AdmissionModel } from "./admission-model.ts";
import type { SimulatedRequest } from "./clients.ts";
import { CostsAbove } from "./costs-above.ts";
import type { CreditReckoning } from "./credits/reckoning.ts";
import { KeyModel } from "./key-model.ts";
import { LedgerTroubles } from "./ledger-troubles.ts";
import type { MisfortuneCounts } from "./misfortunes.ts";
import { costOfReport, dearestOf } from "./prices.ts";
import { SharedAdmissionModel } from "./redis/shared-admission-model.ts";
import type { Scheduler } from "./scheduler.ts";
import { checkSettings, checkTerms } from "./settings-rules.ts";
import type { SimulatedKey } from "./world.ts";

/** The simulated program did what the model does not allow. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/**
 * What must be true, written apart from the program and smaller than it: what each request may have cost, and the
 * bounds of wallets and limits at every moment.
 */
export class Model {
  readonly toppedUp = new Map<string, bigint>();
  /** When the wall clock was last set forward, on the clock that cannot be set. */
  clockSetAtMs = Number.NEGATIVE_INFINITY;
  /** Found inside of the simulated program, which would catch it. */
  #violation: Violation | undefined;
  /** Of each wallet, what the receipts that were checked have cost. */
  readonly #spent = new Map<string, bigint>();
  readonly admissions: AdmissionModel;
  readonly keys: KeyModel;
  readonly troubles: LedgerTroubles;
  readonly costsAbove = new CostsAbove();
  /** Of gateways that count in one Redis. */
  readonly shared: SharedAdmissionModel;
  readonly #refunded = new Set<string>();
  /** Holds whose heartbeats have reported a cost. */
  readonly #costly = new Set<string>();

  constructor(scheduler: Scheduler, counts: MisfortuneCounts) {
    this.troubles = new LedgerTroubles(scheduler, counts);
    const report = (claim: string) => this.report(claim);
    this.admissions = new AdmissionModel(scheduler, report);
    this.shared = new SharedAdmissionModel(scheduler, report);
    this.keys = new KeyModel(scheduler, report);
  }

  /** A gateway has ended, and what ran in it. */
  forget(gateway: string): void {
    this.admissions.forget(gateway);
    this.shared.forget(gateway);
  }

  /** Takes what was found inside of the simulated program, which would catch an error. */
  report(claim: string): void {
    this.#violation ??= new Violation(claim);
  }

  topUp(walletId: string, amount: bigint): void {
    this.toppedUp.set(walletId, (this.toppedUp.get(walletId) ?? 0n) + amount);
  }

  /** Returns whether a refund is the first one of its request. Must be booked then. */
  refund({ id, key }: SimulatedRequest, amount: bigint): boolean {
    if (this.#refunded.has(id)) return false;
    this.#refunded.add(id);
    this.topUp(key.walletId, amount);
    return true;
  }

  /** Notes the heartbeats that the ledger has taken after an answer began. */
  watchHeartbeats(ledger: Ledger, sawOutput: (holdId: string) => boolean): Ledger {
    const extend: Ledger["extend"] = async (request) => {
      const isCostly = sawOutput(request.holdId);
      await ledger.extend(request);
      if (isCostly) this.#costly.add(request.holdId);
    };
    return { ...ledger, extend };
  }

  /** Checks one request that must be over: its receipt against what its client and its upstreams saw. */
  checkRequest(request: SimulatedRequest, receipt: Receipt | undefined): void {
    const about = (text: string) => `request ${request.number}: ${text}`;
    const { ending, asked, isOrphan, key } = request;
    require(ending !== undefined, about("its client waits for ever"));
    require(isOrphan || request.isOver, about("its story has no end"));
    require(!request.isInternal || this.troubles.isAny(), about(
      "it ended with an internal error for no reason",
    ));
    const requireIt = (isTrue: boolean, text: string) => require(isTrue, about(text));
    checkSettings(request, requireIt);
    if (!receipt) {
      require(request.isPowerLost || asked.length === 0, about(
        "an upstream was asked, and there is no receipt",
      ));
      require(ending !== "finished", about("it was answered, and there is no receipt"));
      return;
    }
    const { state, captured, granted } = receipt;
    this.#spent.set(key.walletId, (this.#spent.get(key.walletId) ?? 0n) + captured);
    require(state !== "held", about("its hold is open"));
    const isLiedTo = asked.some(({ plan }) => plan.trouble === "upstream_lies");
    const costMax = isLiedTo ? dearestOf(request) : granted;
    require(captured >= 0n && captured <= costMax, about(`${captured} of ${granted} were charged`));
    if (asked.length === 0)
      require(captured === 0n, about(`${captured} were charged, and no upstream was asked`));
    if (ending === "finished") requireFinished(request, receipt, about);
    const isBegun = request.sawOutput && !isOrphan && !request.isInternal && state !== "expired";
    requireIt(!isBegun || captured > 0n, "its client saw output, and nothing was charged");
    const isCostly = state === "expired" && this.#costly.has(request.id);
    requireIt(!isCostly || captured > 0n, "it expired after heartbeats with a cost, and nothing was charged");
    // After an internal error the ledger may still be charged: by an expiry, or by what it had committed.
    if (typeof ending === "object" && ending.error !== "internal" && !isOrphan) {
      require(ending.isCharged === captured > 0n, about(`${ending.error} was charged ${captured}`));
    }
    if (isOrphan) return;
    requireOutcome(request, receipt, about);
    if (state !== "expired") {
      requireAttempts(request, receipt, about);
      checkTerms(request, receipt, requireIt);
    }
    // Neither the ledger nor the outbox took what an internal error left over.
    const isSettled = !request.isInternal;
    const isInTime =
      request.startedAtMs > this.clockSetAtMs &&
      request.machine.isAlive &&
      isSettled &&
      !this.troubles.mayLoseHeartbeats(request) &&
      !this.troubles.mayHoldUnknown(request);
    if (isInTime) require(state !== "expired" && !receipt.late, about("its hold expired while it ran"));
  }

  /** Checks the money of each wallet when nothing runs. */
  async checkMoney(ledger: LocalLedger, credits: CreditReckoning): Promise<void> {
    for (const [walletId, toppedUp] of this.toppedUp) {
      const { posted, held } = await ledger.balances(walletId);
      const spent = this.#spent.get(walletId) ?? 0n;
      require(held === 0n, `wallet ${walletId} holds ${held} when nothing runs`);
      const expired = credits.expired(walletId);
      require(posted ===
        toppedUp - spent - expired, `wallet ${walletId} has ${posted}, of ${toppedUp} less ${spent}`);
      const { rows } = await ledger.usage({ walletId, groupBy: [] });
      const used = rows[0]?.captured ?? 0n;
      require(used === spent, `the usage of wallet ${walletId} is ${used}, and its receipts were ${spent}`);
    }
  }

  /** Checks that a gateway keeps no slot of a key when nothing runs. */
  async checkSlots(gateway: string, limiter: Limiter, key: SimulatedKey): Promise<void> {
    const { running, accountRunning } = await readSlots(limiter, key);
    require(running === 0 && accountRunning === 0, `${gateway} keeps a slot of key ${key.id}`);
  }

  /** Throws what was found inside of the simulated program. */
  throwViolation(): void {
    if (this.#violation) throw this.#violation;
  }
}

/** Asks a limiter how many requests of a key and of its account run. */
export function readSlots(limiter: Limiter, { id, walletId, history }: SimulatedKey) {
  const keyLimits = history.latest.limits;
  return limiter.usage({ accountId: walletId, keyId: id, keyLimits, accountLimits: {} });
}

/** An answer that its client saw the end of is charged as its upstream reported it. */
function requireFinished(
  request: SimulatedRequest,
  { state, captured, late, outcome }: Receipt,
  about: (text: string) => string,
): void {
  const { asked } = request;
  const last = asked.at(-1);
  const cost = last && costOfReport(request, last);
  require(asked.length > 0, about("it was answered, and no upstream was asked"));
  require(state === "settled", about(`it was answered, and its hold is ${state}`));
  require(outcome?.source !== "none", about(
    "it was answered, and its receipt says that nothing was charged",
  ));
  if (cost === undefined) require(captured > 0n, about(`nothing was charged after ${last?.plan.trouble}`));
  // An expiry may have captured more before, by its heartbeat's estimate.
  else
    require(captured === cost || (late && captured > cost), about(`${captured} were charged, not ${cost}`));
}

/** The receipt says what the client was told. An expiry, and what follows it, knows no outcome. */
function requireOutcome(
  { ending }: SimulatedRequest,
  { state, outcome }: Receipt,
  about: (text: string) => string,
): void {
  if (state === "expired" || ending === undefined || ending === "reset" || ending === "left") return;
  if (typeof ending === "object" && ending.error === "internal") return;
  const told = ending === "finished" ? "ok" : ending.code;
  require(outcome?.outcome === told, about(
    `its client was told ${told}, and its receipt has ${outcome?.outcome}`,
  ));
}

/** Each upstream that was handed the body is on the receipt, in the order of the calls. */
function requireAttempts(
  { asked }: SimulatedRequest,
  { outcome }: Receipt,
  about: (text: string) => string,
): void {
  const tried = (outcome?.attempts ?? []).map(({ upstream, key = "sole" }) => `${upstream}-${key}`);
  let place = 0;
  for (const { upstream, secret } of asked) {
    const found = tried.indexOf(secret, place);
    require(found >= 0, about(`${upstream} was asked, and its receipt names ${tried.join(", ") || "none"}`));
    place = found + 1;
  }
}

function require(isTrue: boolean, claim: string): asserts isTrue {
  if (!isTrue) throw new Violation(claim);
}
