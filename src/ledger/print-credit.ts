import { printTime } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import type { Credit } from "./records.ts";

/** The credits that the answer of `GET /v1/key` and the summary of a wallet show at most. */
export const CREDITS_SHOWN_MAX = 20;

/** Converts a credit that can be spent to JSON, for those who spend of it. */
export function printSpendable({ source, left, expiresAtMs }: Credit) {
  return { source, left_usd: printUsd(left), expires_at: printTime(expiresAtMs) };
}

/** Converts a credit to JSON, for the console and the command line. */
export function printCredit(credit: Credit) {
  return {
    seq: credit.seq,
    id: credit.creditId,
    ...printSpendable(credit),
    state: stateOf(credit),
    amount_usd: printUsd(credit.amount),
    expired_usd: printUsd(credit.expired),
    created_at: printTime(credit.createdAtMs),
  };
}

function stateOf(credit: Credit): "live" | "ended" | "spent" {
  if (credit.claims !== undefined || credit.expired > 0n) return "ended";
  return credit.left > 0n ? "live" : "spent";
}

/** Whether new requests can spend of a credit. Of one that has ended, only holds from before its end can. */
export function isSpendable({ claims, left }: Credit): boolean {
  return claims === undefined && left > 0n;
}
