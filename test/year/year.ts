import { eq } from "drizzle-orm";
import { parseUsd } from "../../src/domain/money.ts";
import { findOrderOf } from "../../src/plans/billing/order-rows.ts";
import { findSubscription } from "../../src/plans/reads.ts";
import type { TempStorage } from "../accounts/temp-storage.ts";
import type { ScriptedStripe } from "../support/scripted-stripe.ts";
import { createDraw, drawInteger, type RandomSource } from "../support/seeded-random.ts";
import { AccountYear } from "./account-year.ts";
import { KIOSK_DAY_MAX } from "./acts.ts";
import { AutoReckoning } from "./auto-reckoning.ts";
import type { BilledReckoning } from "./billed-reckoning.ts";
import { checkBooks, checkPeriods, checkStatements } from "./checks.ts";
import type { Desk } from "./desk.ts";
import { makePrices } from "./plans.ts";
import { begin, endOld, playAccount, setTerms } from "./script.ts";
import type { Stage } from "./stage.ts";
import { StripeYear } from "./stripe-year.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A year with a leap day, from the 31st of a month on. */
export const YEAR_FROM_MS = Date.UTC(2027, 9, 31, 1, 30);

interface YearOptions {
  readonly seed: number;
  readonly accounts: number;
  readonly days: number;
  readonly stepHours: number;
  /** Days in which nothing runs, over the end of a month in the middle of the year. */
  readonly standstillDays: number;
  /** Days after the year, in which what is on its way arrives. */
  readonly finishDays: number;
  /** The part of the accounts that does something in a step. */
  readonly busy: number;
  /** Whether the ledger is audited at the end of each month, or only at that of the year. */
  readonly auditsMonths: boolean;
  /** Whether clocks stand still but for the script, so that each automatic payment can be foretold. */
  readonly isExact: boolean;
  /** Called with the month whose statements equal their reckoning. */
  readonly onMonth?: ((month: string) => void) | undefined;
}

interface YearParts {
  readonly storage: TempStorage;
  readonly stripe: ScriptedStripe;
  readonly desk: Desk;
  readonly options: YearOptions;
}

/** What a year came to. */
export interface YearReport {
  accounts: number;
  subscriptions: number;
  periods: number;
  /** Subscriptions that Stripe billed, and their paid invoices. */
  billed: number;
  invoices: number;
  lines: number;
  payments: number;
  statements: number;
}

/** Plays a year, and compares with its reckoning what each account has: each line at its time, and each month. */
export class Year {
  readonly #parts: YearParts;
  readonly #draw: RandomSource;
  readonly #accounts: AccountYear[] = [];
  readonly #stripe: StripeYear;
  readonly #kiosk = new Map<string, bigint>();
  readonly report: YearReport = {
    ...{
      accounts: 0,
      subscriptions: 0,
      periods: 0,
      billed: 0,
      invoices: 0,
      lines: 0,
      payments: 0,
      statements: 0,
    },
  };

  constructor(parts: YearParts) {
    this.#parts = parts;
    this.#draw = createDraw("year", parts.options.seed);
    this.#stripe = new StripeYear(parts.stripe, createDraw("stripe", parts.options.seed));
    makePrices(parts.stripe.books.billing);
    parts.storage.clock.nowMs = YEAR_FROM_MS;
  }

  async play(): Promise<YearReport> {
    const { storage, options } = this.#parts;
    const steps = Math.floor((options.days * 24) / options.stepHours);
    const standstillMs = YEAR_FROM_MS + Math.floor(options.days * 0.41) * DAY_MS;
    const resumedMs = standstillMs + options.standstillDays * DAY_MS;
    let month = monthOf(storage.now());
    for (let step = 0; step < steps; step += 1) {
      const jitterMs = Math.floor(this.#draw() * 0.9 * options.stepHours * HOUR_MS);
      const nowMs = YEAR_FROM_MS + step * options.stepHours * HOUR_MS + jitterMs;
      if (nowMs >= standstillMs && nowMs < resumedMs) continue;
      storage.clock.nowMs = Math.max(storage.now(), nowMs);
      const isAway = await this.#step(step);
      if (isAway || monthOf(storage.now()) === month) continue;
      await this.#check(options.auditsMonths);
      options.onMonth?.(month);
      month = monthOf(storage.now());
    }
    await this.#finish();
    return this.report;
  }

  /** Returns whether the ledger was away. */
  async #step(step: number): Promise<boolean> {
    const { desk, options } = this.#parts;
    const isAway = this.#trouble(step);
    this.#stripe.advance(this.#nowMs);
    await desk.run("sweep");
    for (const account of this.#accounts) account.sweep(this.#nowMs);
    await this.#pass();
    if (isAway) return true;
    await this.#join(step);
    await this.#deliver();
    if (this.#draw() < 0.6) await this.#reconcile();
    const busy = this.#accounts.filter(() => this.#draw() < options.busy);
    await this.#each(busy, (account) => playAccount(this.#stage(), account));
    await this.#each(this.#accounts, (account) => endOld(this.#stage(), account), true);
    await this.#visitKiosk();
    this.#finishPayments();
    await desk.run("payments");
    // A pass books what a death in the middle of a change has left.
    if (options.isExact) await this.#followAll();
    else await this.#pass();
    await this.#payAutomatically();
    for (const account of this.#accounts) {
      const [missing] = account.expected.keys();
      if (missing !== undefined) throw new Error(`${account.id} lacks ${missing}`);
    }
    return false;
  }

  /** The ledger is away for a day at times, or its answers are lost. */
  #trouble(step: number): boolean {
    const { desk, options } = this.#parts;
    if (!desk.trouble) return false;
    const day = Math.floor((step * options.stepHours) / 24) % 60;
    const kind = day === 30 ? "away" : day === 45 ? "lost" : "none";
    desk.trouble(kind);
    return kind !== "none";
  }

  /** Grants the periods that have begun. */
  async #pass(): Promise<void> {
    // What is due is decided before a desk of several gateways lets the clock go on.
    for (const account of this.#accounts) account.pass(this.#nowMs);
    await this.#parts.desk.run("plans");
    for (const account of this.#accounts) account.pass(this.#nowMs);
    await this.#followAll();
  }

  /** Half of the accounts join at the beginning, on a 31st; the others within half a year. */
  async #join(step: number): Promise<void> {
    const { storage, options, stripe, desk } = this.#parts;
    const part = Math.min(1, 0.5 + (step * options.stepHours) / 24 / options.days);
    const wanted = Math.ceil(options.accounts * part);
    const fresh: AccountYear[] = [];
    while (this.#accounts.length < wanted) {
      const { id } = await storage.newAccount(`account-${this.#accounts.length}`);
      const account = new AccountYear(id, createDraw("account", options.seed, this.#accounts.length));
      this.#accounts.push(account);
      fresh.push(account);
      if (account.draw() < 0.5) continue;
      account.auto = new AutoReckoning(stripe.books.addCard("ok"));
      await setTerms(desk, id, account.auto, account.draw);
      await saveCard(storage, id, account.auto);
    }
    await this.#each(fresh, (account) => begin(this.#stage(), account));
  }

  async #deliver(): Promise<void> {
    this.#stripe.decide(this.#nowMs);
    this.#stripe.raise(this.#nowMs);
    const arrived = await this.#stripe.arrive(this.#nowMs);
    const byAccount = Map.groupBy(arrived, ({ accountId }) => accountId);
    await Promise.all(
      [...byAccount.values()].map(async (deliveries) => {
        for (const { act, accountId, reads, reckon } of deliveries) {
          const billed = reads();
          await this.#parts.desk.act(act);
          const account = this.#accounts.find(({ id }) => id === accountId);
          if (billed && account) await this.#readBilled(account, billed);
          reckon();
        }
      }),
    );
    await this.#followAll();
  }

  /** What no event has told is read at Stripe: each subscription once a day, and once a day those that are new. */
  async #reconcile(): Promise<void> {
    await this.#parts.desk.run("billing");
    const isListed = this.#listedMs + DAY_MS <= this.#nowMs;
    if (isListed) this.#listedMs = this.#nowMs;
    for (const account of this.#accounts) {
      for (const billed of account.billed) {
        const isNew = billed.id === undefined && billed.there.ended_at === null;
        if (billed.isDue(this.#nowMs) || (isListed && isNew)) await this.#readBilled(account, billed);
      }
    }
    await this.#followAll();
  }
  #listedMs = 0;

  async #readBilled(account: AccountYear, billed: BilledReckoning): Promise<void> {
    const order = await findOrderOf(this.#parts.storage.database, billed.there.id);
    account.readBilled(billed, order?.subscriptionId ?? "", this.#nowMs);
  }

  /** One account pays at the kiosk, whose payments of a day have a maximum. */
  async #visitKiosk(): Promise<void> {
    const account = this.#accounts[drawInteger(this.#draw, 0, this.#accounts.length - 1)];
    if (!account || this.#draw() < 0.5) return;
    const amount = parseUsd("1") + BigInt(drawInteger(this.#draw, 0, 59_000_000_000 - 1));
    const id = `kiosk-${this.#nowMs}`;
    const day = new Date(this.#nowMs).toISOString().slice(0, 10);
    const total = (this.#kiosk.get(day) ?? 0n) + amount;
    const isTaken = total <= KIOSK_DAY_MAX;
    if (isTaken) this.#kiosk.set(day, total);
    if (isTaken) account.expect(`signed:kiosk:${id}`, { amount });
    const of = { accountId: account.id, amount, source: "purchase", expiresAtMs: undefined } as const;
    const answer = await this.#parts.desk.act({ kind: "pay_in", caller: "kiosk", id, ...of });
    if ("declined" in answer === isTaken)
      throw new Error(`${id} of ${amount} was ${isTaken ? "declined" : "taken"}`);
  }

  /** Banks answer some of the payments that they were processing. */
  #finishPayments(): void {
    for (const account of this.#accounts) {
      const { auto } = account;
      if (!auto?.open || this.#draw() < 0.7) continue;
      const intent = auto.open;
      const end = this.#draw() < 0.7 ? "succeeded" : "requires_payment_method";
      this.#parts.stripe.books.finish(intent, end);
      if (end === "succeeded") this.#expectPayment(account, intent.id, intent.amount);
      auto.settle();
    }
  }

  #expectPayment(account: AccountYear, intentId: string, cents: number): void {
    const credited = BigInt(cents) * 10_000_000n;
    account.expect(intentId, { amount: credited });
    this.#stripe.own(account, { intentId, topUpId: intentId, cents, credited });
  }

  async #payAutomatically(): Promise<void> {
    const { desk, stripe, options } = this.#parts;
    const known = stripe.books.intents.size;
    await desk.run("auto");
    const made = [...stripe.books.intents.values()].slice(known);
    const byCustomer = Map.groupBy(made, ({ customer }) => customer);
    for (const account of this.#accounts) {
      const { auto } = account;
      if (!auto) continue;
      const lines = await this.#linesOf(account);
      for (const intent of byCustomer.get(auto.customer) ?? []) {
        const mustPay = auto.wants(account.book.availableAt(this.#nowMs), this.#nowMs);
        if (options.isExact && !mustPay) throw new Error(`${account.id} paid ${intent.id} without need`);
        auto.pay(intent, this.#nowMs);
        if (intent.status !== "succeeded") continue;
        this.#expectPayment(account, intent.id, intent.amount);
        account.follow(lines, intent.id);
      }
      account.follow(lines);
      if (options.isExact && auto.wants(account.book.availableAt(this.#nowMs), this.#nowMs))
        throw new Error(`${account.id} lacks an automatic payment`);
    }
  }

  async #each(
    accounts: readonly AccountYear[],
    act: (account: AccountYear) => Promise<void>,
    isQuiet = false,
  ): Promise<void> {
    await Promise.all(
      accounts.map(async (account) => {
        const lines = account.book.lines.length;
        await act(account);
        if (!isQuiet || account.book.lines.length > lines) account.follow(await this.#linesOf(account));
      }),
    );
  }

  async #followAll(): Promise<void> {
    for (const account of this.#accounts) {
      if (!account.isAhead) continue;
      account.follow(await this.#linesOf(account));
    }
  }

  async #linesOf({ id, followedAtMs: fromMs }: AccountYear) {
    const { ledger } = this.#parts.storage;
    return (await ledger.transfers(id, { size: 1_000 }, { order: "oldest_first", fromMs })).items;
  }

  async #check(audits: boolean, months: readonly [from: number, to: number] = [1, 2]): Promise<void> {
    const { storage } = this.#parts;
    if (audits) await checkBooks(storage);
    this.report.statements += await checkStatements(storage, this.#accounts, months);
    await checkPeriods(storage, this.#accounts);
  }

  /** Everything that is on its way arrives. */
  async #finish(): Promise<void> {
    const { storage, desk, stripe, options } = this.#parts;
    desk.trouble?.("none");
    for (let day = 2; day <= options.finishDays; day += 2) {
      storage.clock.nowMs = YEAR_FROM_MS + (options.days + day) * DAY_MS;
      this.#stripe.advance(this.#nowMs);
      await desk.run("sweep");
      for (const account of this.#accounts) account.sweep(this.#nowMs);
      await this.#pass();
      await this.#deliver();
      await this.#reconcile();
      await this.#each(this.#accounts, (account) => endOld(this.#stage(), account), true);
      await this.#payAutomatically();
    }
    // All months that had lines since the last one that was compared.
    await this.#check(true, [0, 4]);
    const { report } = this;
    report.accounts = this.#accounts.length;
    report.payments = [...stripe.books.intents.values()].filter(
      ({ status }) => status === "succeeded",
    ).length;
    for (const { subscriptions, book, billed } of this.#accounts) {
      const missing = billed.flatMap((each) => each.missing);
      if (missing.length > 0) throw new Error(`No credit was granted for ${missing}`);
      report.billed += billed.length;
      report.invoices += billed.reduce((sum, { credits }) => sum + credits.length, 0);
      report.subscriptions += subscriptions.length;
      report.periods += subscriptions.reduce((sum, { reckoning }) => sum + reckoning.credits.length, 0);
      report.lines += book.lines.length;
    }
  }

  #stage(): Stage {
    const { desk, storage, stripe } = this.#parts;
    return {
      ...{ desk, stripe: this.#stripe, nowMs: this.#nowMs },
      versionOf: async (id) => (await findSubscription(storage.database, id))?.version ?? 0,
      readBilled: (account, billed) => this.#readBilled(account, billed),
      setBehaviour: (card, behaviour) => stripe.books.setBehaviour(card, behaviour),
    };
  }

  get #nowMs(): number {
    return this.#parts.storage.now();
  }
}

function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

/** As if the owner had saved the card on Stripe's page. */
async function saveCard(
  { database }: TempStorage,
  accountId: string,
  { customer, card }: AutoReckoning,
): Promise<void> {
  const { autoTopUps } = database.tables;
  const saved = { customerId: customer, paymentMethodId: card, card: "visa 4242" };
  await database.transact(
    async (tx) => void (await tx.update(autoTopUps).set(saved).where(eq(autoTopUps.accountId, accountId))),
  );
}
