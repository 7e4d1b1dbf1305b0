import { status } from "@grpc/grpc-js";
import type { LedgerErrorCode } from "../../ledger/ledger.ts";

/** Why a call fails: an error of the ledger, or one of the server in front of it. */
export type Reason = LedgerErrorCode | "invalid_request" | "unauthenticated" | "internal";

/** The `google.rpc` detail that a status carries beside its `ErrorInfo`. */
export type DetailKind = "bad_request" | "precondition" | "quota" | "resource" | "retry";

interface Row {
  readonly code: status;
  readonly message: string;
  readonly detail?: DetailKind;
}

/** The status of each reason. Clients branch on the reason; `message` is the whole public text. */
export const REASONS = Object.freeze({
  invalid_amount: {
    code: status.INVALID_ARGUMENT,
    message: "The amount, the time to live or the length of the window is missing or out of range.",
    detail: "bad_request",
  },
  invalid_id: {
    code: status.INVALID_ARGUMENT,
    message:
      "An id must have 1 to 128 characters; a hold id must be a lower-case UUIDv7 of at most a day ago or ahead.",
    detail: "bad_request",
  },
  invalid_facts: {
    code: status.INVALID_ARGUMENT,
    message: "The facts contain a text that is too long, or a number that is out of range.",
    detail: "bad_request",
  },
  invalid_metadata: {
    code: status.INVALID_ARGUMENT,
    message: "The metadata must be a JSON object of at most 4 KiB.",
    detail: "bad_request",
  },
  invalid_time_zone: {
    code: status.INVALID_ARGUMENT,
    message: "The time zone is unknown.",
    detail: "bad_request",
  },
  invalid_scope: {
    code: status.INVALID_ARGUMENT,
    message:
      "A scope must be of a known kind with an id of 1 to 256 characters; at most 16, each once, and none beside a key.",
    detail: "bad_request",
  },
  invalid_credit: {
    code: status.INVALID_ARGUMENT,
    message:
      "The source or the end of the credit is invalid, or the wallet has 1,000 credits with something left.",
    detail: "bad_request",
  },
  invalid_query: {
    code: status.INVALID_ARGUMENT,
    message: "The filter, the grouping or the page is invalid.",
    detail: "bad_request",
  },
  invalid_request: {
    code: status.INVALID_ARGUMENT,
    message: "The message or one of its fields is missing or invalid.",
    detail: "bad_request",
  },
  wallet_not_found: { code: status.NOT_FOUND, message: "The wallet does not exist.", detail: "resource" },
  hold_not_found: { code: status.NOT_FOUND, message: "The hold does not exist.", detail: "resource" },
  conflict: {
    code: status.ALREADY_EXISTS,
    message: "The id was used before, with other parameters.",
    detail: "resource",
  },
  wallet_frozen: {
    code: status.FAILED_PRECONDITION,
    message: "The wallet is frozen.",
    detail: "precondition",
  },
  hold_released: {
    code: status.FAILED_PRECONDITION,
    message: "The hold was released.",
    detail: "precondition",
  },
  hold_settled: {
    code: status.FAILED_PRECONDITION,
    message: "The hold was settled.",
    detail: "precondition",
  },
  hold_expired: {
    code: status.FAILED_PRECONDITION,
    message: "The hold has expired.",
    detail: "precondition",
  },
  insufficient_balance: {
    code: status.FAILED_PRECONDITION,
    message: "The balance of the wallet is too low.",
    detail: "precondition",
  },
  balance_on_hold: {
    code: status.FAILED_PRECONDITION,
    message: "The wallet's money is on hold for running requests.",
    detail: "precondition",
  },
  refund_exceeds_charge: {
    code: status.FAILED_PRECONDITION,
    message: "The refund exceeds what is left of the cost.",
    detail: "precondition",
  },
  balance_overflow: {
    code: status.FAILED_PRECONDITION,
    message: "The balance would exceed the largest amount.",
    detail: "precondition",
  },
  spending_limit_exceeded: {
    code: status.RESOURCE_EXHAUSTED,
    message: "A spending limit has too little headroom.",
    detail: "quota",
  },
  deadline_exceeded: {
    code: status.DEADLINE_EXCEEDED,
    message: "The deadline passed before the ledger applied the request.",
  },
  queue_full: {
    code: status.UNAVAILABLE,
    message: "The queue is full; nothing was applied. Try again.",
    detail: "retry",
  },
  unavailable: {
    code: status.UNAVAILABLE,
    message:
      "The database cannot be reached; whether the request was applied is unknown. Try again with the same id.",
    detail: "retry",
  },
  unauthenticated: { code: status.UNAUTHENTICATED, message: "The token is missing or wrong." },
  internal: { code: status.INTERNAL, message: "The ledger failed." },
} as const satisfies Record<Reason, Row>) as Readonly<Record<Reason, Row>>;

/** Reasons of the server, which are no errors of the ledger. */
const SERVER_REASONS: readonly Reason[] = ["invalid_request", "unauthenticated", "internal"];

/** Whether a word from the wire is an error of the ledger. */
export function isLedgerReason(word: string): word is LedgerErrorCode {
  return Object.hasOwn(REASONS, word) && !SERVER_REASONS.includes(word as Reason);
}
