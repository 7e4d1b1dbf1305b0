import type { AccountYear } from "./account-year.ts";
import type { Act, ActAnswer } from "./acts.ts";
import type { BilledReckoning } from "./billed-reckoning.ts";
import type { Desk } from "./desk.ts";
import type { StripeYear } from "./stripe-year.ts";

/** What a script needs of its year. */
export interface Stage {
  readonly desk: Desk;
  readonly stripe: StripeYear;
  readonly nowMs: number;
  /** The version of a subscription that its author has read. */
  versionOf(subscriptionId: string): Promise<number>;
  setBehaviour(card: string, behaviour: string): void;
  /** Takes note that the program has read a subscription at Stripe. */
  readBilled(account: AccountYear, billed: BilledReckoning): Promise<void>;
}

/** Performs an act that must be taken. */
export async function mustDo(desk: Desk, act: Act): Promise<ActAnswer> {
  const answer = await desk.act(act);
  if ("declined" in answer) throw new Error(`${act.kind} was declined: ${answer.declined}`);
  return answer;
}
