// The credits of a wallet on the wire, and what brings money into them.
import type * as Proto from "../../gen/messages.ts";
import type { RefundRequest, TopUpRequest } from "../../ledger/ledger.ts";
import type { Credit } from "../../ledger/records.ts";
import { creditSources } from "./enums.ts";
import {
  decodeDuration,
  decodeNanos,
  decodeNumber,
  decodeTime,
  encodeDuration,
  encodeId,
  encodeNanos,
  encodeTime,
  required,
  sparse,
} from "./fields.ts";

export function encodeCredit(credit: Credit): Proto.Credit {
  return sparse<Proto.Credit>({
    sequence: credit.seq,
    creditId: credit.creditId,
    source: creditSources.encode(credit.source),
    amountNanos: encodeNanos(credit.amount),
    leftNanos: encodeNanos(credit.left),
    expiredNanos: encodeNanos(credit.expired),
    expireTime: credit.expiresAtMs === undefined ? undefined : encodeTime(credit.expiresAtMs),
    createTime: encodeTime(credit.createdAtMs),
    claimedNanos: credit.claims === undefined ? undefined : encodeNanos(credit.claims),
    endTime: credit.endedAtMs === undefined ? undefined : encodeTime(credit.endedAtMs),
  });
}

export function decodeCredit(wire: Proto.Credit__Output): Credit {
  return {
    seq: decodeNumber(wire.sequence),
    creditId: wire.creditId,
    source: creditSources.decode(wire.source, "credit.source"),
    amount: decodeNanos(wire.amountNanos),
    left: decodeNanos(wire.leftNanos),
    expired: decodeNanos(wire.expiredNanos),
    expiresAtMs: wire.expireTime ? decodeTime(wire.expireTime, "credit.expire_time") : undefined,
    createdAtMs: decodeTime(required(wire.createTime, "credit.create_time"), "credit.create_time"),
    claims: wire.claimedNanos ? decodeNanos(wire.claimedNanos) : undefined,
    endedAtMs: wire.endTime ? decodeTime(wire.endTime, "credit.end_time") : undefined,
  };
}

export function encodeTopUpRequest(request: TopUpRequest): Proto.CreateTopUpRequest {
  const { walletId, topUpId, amount, source, expiresAtMs, creditId } = request;
  return sparse<Proto.CreateTopUpRequest>({
    walletId: encodeId(walletId),
    topUpId: encodeId(topUpId),
    amountNanos: encodeNanos(amount),
    source: source && creditSources.encode(source),
    expireTime: expiresAtMs === undefined ? undefined : encodeTime(expiresAtMs),
    creditId: creditId === undefined ? undefined : encodeId(creditId),
  });
}

export function decodeTopUpRequest(wire: Proto.CreateTopUpRequest__Output): TopUpRequest {
  const { walletId, topUpId, amountNanos, source, expireTime, creditId } = wire;
  return {
    walletId,
    topUpId,
    amount: decodeNanos(amountNanos),
    source: creditSources.decodeOptional(source, "source", "invalid_credit"),
    expiresAtMs: expireTime ? decodeTime(expireTime, "expire_time", "invalid_credit") : undefined,
    creditId: creditId || undefined,
  };
}

export function encodeRefundRequest(request: RefundRequest): Proto.CreateRefundRequest {
  const { creditLifeMs } = request;
  return sparse<Proto.CreateRefundRequest>({
    walletId: encodeId(request.walletId),
    refundId: encodeId(request.refundId),
    holdId: encodeId(request.holdId),
    amountNanos: encodeNanos(request.amount),
    creditLife: creditLifeMs === undefined ? undefined : encodeDuration(creditLifeMs),
  });
}

export function decodeRefundRequest(wire: Proto.CreateRefundRequest__Output): RefundRequest {
  return {
    walletId: wire.walletId,
    refundId: wire.refundId,
    holdId: wire.holdId,
    amount: decodeNanos(wire.amountNanos),
    creditLifeMs: wire.creditLife
      ? decodeDuration(wire.creditLife, "credit_life", "invalid_credit")
      : undefined,
  };
}
