import { status } from "@grpc/grpc-js";
import type { LedgerRefusal } from "../../ledger/ledger.ts";

/** Why a call fails: a refusal of the ledger, or something that never came to it. */
export type Reason = LedgerRefusal | "invalid_request" | "unauthenticated" | "internal";

/** What a status tells beside its reason. */
export type DetailKind = "bad_request" | "precondition" | "quota" | "resource" | "retry";

interface Row {
  readonly code: status;
  readonly says: string;
  readonly detail?: DetailKind;
}

/** How each reason travels: `code` is what clients branch on, `says` all that a message ever tells. */
export const REASONS = Object.freeze({
  invalid_amount: {
    code: status.INVALID_ARGUMENT,
    says: "The amount or the time to live is missing or out of range.",
    detail: "bad_request",
  },
  invalid_id: {
    code: status.INVALID_ARGUMENT,
    says: "An id has 1 to 128 characters; a hold's is a UUIDv7 in lower case, made within a day of now.",
    detail: "bad_request",
  },
  invalid_facts: {
    code: status.INVALID_ARGUMENT,
    says: "The facts have a text that is too long, or a number that is out of range.",
    detail: "bad_request",
  },
  invalid_metadata: {
    code: status.INVALID_ARGUMENT,
    says: "Metadata is an object of at most 4 KiB.",
    detail: "bad_request",
  },
  invalid_time_zone: {
    code: status.INVALID_ARGUMENT,
    says: "The time zone is not one that is known here.",
    detail: "bad_request",
  },
  invalid_query: {
    code: status.INVALID_ARGUMENT,
    says: "The filter, the grouping or the page cannot be answered.",
    detail: "bad_request",
  },
  invalid_request: {
    code: status.INVALID_ARGUMENT,
    says: "The message, or what is named in it, is missing or cannot be taken as it is.",
    detail: "bad_request",
  },
  wallet_not_found: { code: status.NOT_FOUND, says: "There is no such wallet.", detail: "resource" },
  hold_not_found: { code: status.NOT_FOUND, says: "There is no such hold.", detail: "resource" },
  conflict: {
    code: status.ALREADY_EXISTS,
    says: "The id was used before, with other parameters.",
    detail: "resource",
  },
  wallet_frozen: {
    code: status.FAILED_PRECONDITION,
    says: "The wallet is frozen.",
    detail: "precondition",
  },
  hold_released: {
    code: status.FAILED_PRECONDITION,
    says: "The hold was released.",
    detail: "precondition",
  },
  hold_settled: { code: status.FAILED_PRECONDITION, says: "The hold was settled.", detail: "precondition" },
  hold_expired: { code: status.FAILED_PRECONDITION, says: "The hold has expired.", detail: "precondition" },
  insufficient_balance: {
    code: status.FAILED_PRECONDITION,
    says: "The wallet has too little money.",
    detail: "precondition",
  },
  balance_on_hold: {
    code: status.FAILED_PRECONDITION,
    says: "The wallet's money is on hold for work that is not finished.",
    detail: "precondition",
  },
  refund_exceeds_charge: {
    code: status.FAILED_PRECONDITION,
    says: "The refund is more than what is left of the cost.",
    detail: "precondition",
  },
  balance_overflow: {
    code: status.FAILED_PRECONDITION,
    says: "The balance would be larger than can be kept.",
    detail: "precondition",
  },
  spending_limit_exceeded: {
    code: status.RESOURCE_EXHAUSTED,
    says: "A spending limit has too little left.",
    detail: "quota",
  },
  deadline_exceeded: {
    code: status.DEADLINE_EXCEEDED,
    says: "The ledger did not come to it in time.",
  },
  queue_full: {
    code: status.UNAVAILABLE,
    says: "Too much is waiting; nothing was done. Try again.",
    detail: "retry",
  },
  unavailable: {
    code: status.UNAVAILABLE,
    says: "The books cannot be reached; whether it was done is not known. Try again with the same id.",
    detail: "retry",
  },
  unauthenticated: { code: status.UNAUTHENTICATED, says: "The token is missing or wrong." },
  internal: { code: status.INTERNAL, says: "The ledger failed." },
} as const satisfies Record<Reason, Row>) as Readonly<Record<Reason, Row>>;

const REFUSALS_NONE: readonly Reason[] = ["invalid_request", "unauthenticated", "internal"];

/** Whether a word from outside is a refusal of the ledger. */
export function isRefusal(word: string): word is LedgerRefusal {
  return Object.hasOwn(REASONS, word) && !REFUSALS_NONE.includes(word as Reason);
}
