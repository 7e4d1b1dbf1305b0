import { NANOS_MAX } from "../../domain/money.ts";
import { isId, isTtl } from "../../ledger/core/validate.ts";
import { LedgerError, type LedgerErrorCode } from "../../ledger/ledger.ts";
import { PAGE_SIZE_MAX } from "../../ledger/records.ts";
import { DIMENSIONS_MAX } from "../../ledger/usage-records.ts";
import { InvalidField } from "../codec/fields.ts";
import type { Reason } from "../codec/reasons.ts";
import type { ErrorSubject } from "../codec/status.ts";

/** Why a request failed, as its status reports it. */
export interface Failure {
  readonly reason: Reason;
  readonly subject: ErrorSubject;
}

/** Describes a thrown value. Anything but LedgerError and InvalidField is `internal`, without details. */
export function describeFailure(error: unknown, request: object = {}): Failure {
  if (error instanceof InvalidField) return { reason: error.fault, subject: { field: error.field } };
  if (error instanceof LedgerError) {
    // Safe because every request has these fields under these names, or not at all.
    const fields = request as RequestFields;
    const field = badFieldOf(error.code, fields);
    const resource = resourceOf(error.code, fields);
    const { shortfall, limit } = error;
    return { reason: error.code, subject: { field, resource, shortfall, limit } };
  }
  return { reason: "internal", subject: {} };
}

/** The fields that reads and mutations share; each request has a few of them. */
type RequestFields = Readonly<Partial<Record<IdField, string | undefined>>> & {
  readonly minimum?: bigint;
  readonly amount?: bigint;
  readonly accrued?: bigint;
  readonly ttlMs?: number;
  readonly period?: string;
  readonly facts?: object;
  readonly taken?: object | undefined;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly groupBy?: readonly unknown[];
};

type IdField = keyof typeof IDS;

const IDS = {
  walletId: "wallet_id",
  holdId: "hold_id",
  topUpId: "top_up_id",
  chargeId: "charge_id",
  refundId: "refund_id",
  limitId: "limit_id",
  keyId: "key_id",
} as const;

/**
 * Returns the path of the bad field. An error of the ledger names none, so the request is searched for the
 * first field that is out of its bounds.
 */
function badFieldOf(code: LedgerErrorCode, request: RequestFields): string | undefined {
  const prefix = request.period === undefined ? "" : "limit.";
  switch (code) {
    case "invalid_id":
      return prefix + badIdOf(request);
    case "invalid_amount":
      return prefix + badAmountOf(request);
    case "invalid_facts":
      return request.facts && "surface" in request.facts ? "facts" : "outcome";
    case "invalid_metadata":
      return "metadata";
    case "invalid_query":
      return badQueryFieldOf(request);
    case "invalid_scope":
      return request.taken ? "taken.scopes" : request.period === undefined ? "scopes" : "limit.scope";
    case "invalid_time_zone":
      return "limit.time_zone";
    default:
      return undefined;
  }
}

function badIdOf(request: RequestFields): string {
  // Safe because they are the keys of IDS.
  const fields = Object.keys(IDS) as IdField[];
  const bad = fields.find((field) => request[field] !== undefined && !isId(request[field]));
  // When every id is well-formed, the hold id is no UUIDv7 of about today.
  return IDS[bad ?? "holdId"];
}

function badAmountOf({ amount, minimum, accrued, ttlMs }: RequestFields): string {
  if (ttlMs !== undefined && !isTtl(ttlMs)) return "ttl";
  if (accrued !== undefined) return "accrued_nanos";
  const isAmountGood = amount !== undefined && amount >= 0n && amount <= NANOS_MAX;
  return minimum !== undefined && isAmountGood ? "minimum_nanos" : "amount_nanos";
}

function badQueryFieldOf({ pageSize, pageToken, groupBy = [] }: RequestFields): string {
  if (pageSize !== undefined && (pageSize < 1 || pageSize > PAGE_SIZE_MAX)) return "page_size";
  if (groupBy.length > DIMENSIONS_MAX || new Set(groupBy).size < groupBy.length) return "group_by";
  return pageToken ? "page_token" : "filter";
}

/** Returns the name of the resource that the error is about. An invalid or overlong id is never echoed. */
function resourceOf(code: LedgerErrorCode, request: RequestFields): string | undefined {
  const { walletId, keyId } = request;
  if (walletId === undefined || !isId(walletId)) return undefined;
  const wallet = `wallets/${walletId}`;
  if (code.startsWith("wallet_")) return wallet;
  if (code === "spending_limit_exceeded" && keyId !== undefined) return `${wallet}/keys/${keyId}`;
  const child = childOf(code, request);
  return child === undefined ? wallet : `${wallet}/${child}`;
}

function childOf(code: LedgerErrorCode, request: RequestFields): string | undefined {
  const { holdId, topUpId, chargeId, refundId, limitId } = request;
  const hold = holdId && isId(holdId) ? `holds/${holdId}` : undefined;
  if (code.startsWith("hold_") || code === "refund_exceeds_charge") return hold;
  if (topUpId) return `topUps/${topUpId}`;
  if (chargeId) return `charges/${chargeId}`;
  if (refundId) return `refunds/${refundId}`;
  return limitId ? `limits/${limitId}` : hold;
}
