import type { Database } from "../db/database.ts";
import { printTime } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { monthOf } from "../domain/month.ts";
import {
  type AutoPayment,
  type AutoTopUp,
  findAutoTopUp,
  findLastPayment,
  sumMonth,
} from "./auto-top-ups.ts";

/** The automatic top-up of an account as its owners see it. */
interface AutoView {
  readonly autoTopUp: AutoTopUp | undefined;
  readonly last: AutoPayment | undefined;
  /** What counts against the maximum of this month. */
  readonly spent: Nanos;
}

export async function readAutoView(database: Database, accountId: string, nowMs: number): Promise<AutoView> {
  const autoTopUp = await findAutoTopUp(database, accountId);
  const last = autoTopUp && (await findLastPayment(database, autoTopUp));
  return {
    autoTopUp,
    last,
    spent: await sumMonth(database, database.db, { accountId, month: monthOf(nowMs).name }),
  };
}

/** Converts the view to JSON. `isOffered`: payments are set up, and Stripe adds no taxes to them. */
export function printAutoView(view: AutoView, isOffered: boolean) {
  const { autoTopUp, last, spent } = view;
  return {
    is_offered: isOffered,
    state: autoTopUp ? stateOf(autoTopUp) : ("off" as const),
    text: describe(view, isOffered),
    card: autoTopUp?.card ?? null,
    below_usd: printOptional(autoTopUp?.below),
    amount_usd: printOptional(autoTopUp?.amount),
    month_max_usd: printOptional(autoTopUp?.monthMax),
    month_usd: printUsd(spent),
    last: last ? printPayment(last) : null,
  };
}

function stateOf({ state, paymentMethodId }: AutoTopUp) {
  return paymentMethodId === null && state !== "off" ? ("no_card" as const) : state;
}

function printPayment(payment: AutoPayment) {
  const { createdAtMs, paidAtMs, failedAtMs, amount, failure, intentId } = payment;
  const state = paidAtMs !== null ? "paid" : failedAtMs !== null ? "failed" : "pending";
  return {
    at: printTime(paidAtMs ?? failedAtMs ?? createdAtMs),
    amount_usd: printUsd(amount),
    state: state as "paid" | "failed" | "pending",
    failure,
    id: intentId,
  };
}

/** Says in one sentence what happens next. */
function describe({ autoTopUp, last, spent }: AutoView, isOffered: boolean): string {
  if (!isOffered) return "Automatic top-up is not offered here.";
  if (!autoTopUp) return "Automatic top-up is not set up.";
  const { amount, below, monthMax, failures } = autoTopUp;
  if (last && last.paidAtMs === null && last.failedAtMs === null) {
    return `A payment of ${printUsd(last.amount)} USD is under way.`;
  }
  switch (stateOf(autoTopUp)) {
    case "off":
      return failures > 1
        ? "Automatic top-up was switched off after two failed payments."
        : "Automatic top-up is off.";
    case "no_card":
      return "Automatic top-up waits for a card.";
    case "stopped":
      return `The last payment failed: nothing is added until more than ${printUsd(below)} USD were available.`;
    case "on":
      return spent + amount > monthMax
        ? "The maximum of this month is reached: the next payment is possible next month."
        : `Adds ${printUsd(amount)} USD when less than ${printUsd(below)} USD are available.`;
  }
}

function printOptional(amount: Nanos | undefined): string | null {
  return amount === undefined ? null : printUsd(amount);
}
