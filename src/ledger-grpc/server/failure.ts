import { NANOS_MAX } from "../../domain/money.ts";
import { isId, isTtl } from "../../ledger/core/check.ts";
import { LedgerError, type LedgerRefusal } from "../../ledger/ledger.ts";
import { InvalidField } from "../codec/fields.ts";
import type { Reason } from "../codec/reasons.ts";
import type { About } from "../codec/status.ts";

/** What is said of a request that failed. */
export interface Failure {
  readonly reason: Reason;
  readonly about: About;
}

/** Says why a request failed; what is no refusal is `internal`, and nothing of it is said. */
export function explain(error: unknown, request: object = {}): Failure {
  if (error instanceof InvalidField) return { reason: error.fault, about: { field: error.field } };
  if (error instanceof LedgerError) {
    // Safe because every request says these things under these names, if at all.
    const about = suspect(error.refusal, request as Named);
    return { reason: error.refusal, about: { ...about, shortfall: error.shortfall } };
  }
  return { reason: "internal", about: {} };
}

/** What a request may name. Reads and mutations have a few of these each. */
export type Named = Readonly<Partial<Record<IdField, string | undefined>>> & {
  readonly minimum?: bigint;
  readonly amount?: bigint;
  readonly accrued?: bigint;
  readonly ttlMs?: number;
  readonly period?: string;
  readonly facts?: object;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly groupBy?: readonly unknown[];
};

type IdField = keyof typeof IDS;

const PAGE_SIZE_MAX = 1_000;
const GROUPS_MAX = 4;

const IDS = {
  walletId: "wallet_id",
  holdId: "hold_id",
  topUpId: "top_up_id",
  chargeId: "charge_id",
  refundId: "refund_id",
  limitId: "limit_id",
  keyId: "key_id",
} as const;

/** What a refused request is about, as far as the request itself shows it. */
export function suspect(refusal: LedgerRefusal, request: Named): About {
  return { field: fieldOf(refusal, request), resource: resourceOf(refusal, request) };
}

function fieldOf(refusal: LedgerRefusal, request: Named): string | undefined {
  const prefix = request.period === undefined ? "" : "limit.";
  switch (refusal) {
    case "invalid_id":
      return prefix + badIdOf(request);
    case "invalid_amount":
      return prefix + badAmountOf(request);
    case "invalid_facts":
      return request.facts && "surface" in request.facts ? "facts" : "outcome";
    case "invalid_metadata":
      return "metadata";
    case "invalid_query":
      return badQueryOf(request);
    case "invalid_time_zone":
      return "limit.time_zone";
    default:
      return undefined;
  }
}

function badIdOf(request: Named): string {
  // Safe because they are the keys of IDS.
  const fields = Object.keys(IDS) as IdField[];
  const bad = fields.find((field) => request[field] !== undefined && !isId(request[field]));
  // What is well formed but no UUIDv7 of today is the id of a hold.
  return IDS[bad ?? "holdId"];
}

function badAmountOf({ amount, minimum, accrued, ttlMs }: Named): string {
  if (ttlMs !== undefined && !isTtl(ttlMs)) return "ttl";
  if (accrued !== undefined) return "accrued_nanos";
  const isAmountGood = amount !== undefined && amount >= 0n && amount <= NANOS_MAX;
  return minimum !== undefined && isAmountGood ? "minimum_nanos" : "amount_nanos";
}

function badQueryOf({ pageSize, pageToken, groupBy = [] }: Named): string {
  if (pageSize !== undefined && (pageSize < 1 || pageSize > PAGE_SIZE_MAX)) return "page_size";
  if (groupBy.length > GROUPS_MAX || new Set(groupBy).size < groupBy.length) return "group_by";
  return pageToken ? "page_token" : "filter";
}

/** An id that was refused, or is longer than one may be, is not said back. */
function resourceOf(refusal: LedgerRefusal, request: Named): string | undefined {
  const { walletId, keyId } = request;
  if (walletId === undefined || !isId(walletId)) return undefined;
  const wallet = `wallets/${walletId}`;
  if (refusal.startsWith("wallet_")) return wallet;
  if (refusal === "spending_limit_exceeded" && keyId !== undefined) return `${wallet}/keys/${keyId}`;
  const part = ownPartOf(refusal, request);
  return part === undefined ? wallet : `${wallet}/${part}`;
}

function ownPartOf(refusal: LedgerRefusal, request: Named): string | undefined {
  const { holdId, topUpId, chargeId, refundId, limitId } = request;
  const hold = holdId && isId(holdId) ? `holds/${holdId}` : undefined;
  if (refusal.startsWith("hold_") || refusal === "refund_exceeds_charge") return hold;
  if (topUpId) return `topUps/${topUpId}`;
  if (chargeId) return `charges/${chargeId}`;
  if (refundId) return `refunds/${refundId}`;
  return limitId ? `limits/${limitId}` : hold;
}
