import type { Markup, Nanos } from "./money.ts";
import type { LimitPeriod } from "./period.ts";
import type { PlanPeriod } from "./plan-period.ts";

/** What an account with a subscription gets in each period, and what binds it meanwhile. */
export interface Plan {
  /** Its key in the configuration file. */
  readonly id: string;
  /** As people read it. */
  readonly name: string;
  readonly period: PlanPeriod;
  /** The credit of each period; 0 for a plan that grants none. */
  readonly grant: Nanos;
  /** How many periods after its own the credit of a period may still be spent; 0 for none. */
  readonly carryOver: number;
  /** Days that a credit lasts at least when it is granted late. */
  readonly lateDays: number;
  /** The most that the account may spend, over all of its keys. */
  readonly limits: readonly PlanLimit[];
  /** Ids of the models that the account may use; `undefined` for every model. */
  readonly models: readonly string[] | undefined;
  /** The factor over upstream costs; `undefined` for the prices of the models. */
  readonly markup: Markup | undefined;
  /** What a period is sold for, in USD; `undefined` for a plan that is not sold. */
  readonly price: Nanos | undefined;
  /** How account owners buy it through Stripe; `undefined` for a plan that only operators assign. */
  readonly sale?: PlanSale | undefined;
}

/** The terms of a plan that is sold. */
interface PlanSale {
  /** Days after the end of the latest paid period in which the subscription goes on without a payment. */
  readonly graceDays: number;
  /** The id of a price at Stripe; `undefined` for one that is made of price and period. */
  readonly stripePrice: string | undefined;
}

/** A spending limit that comes with a plan. Its periods are of the time zone of the subscription. */
export interface PlanLimit {
  readonly amount: Nanos;
  readonly period: LimitPeriod;
}
