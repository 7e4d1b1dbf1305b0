// The credits of a wallet on the wire.
import type * as Proto from "../../gen/messages.ts";
import type { Credit } from "../../ledger/records.ts";
import { creditSources } from "./enums.ts";
import {
  decodeNanos,
  decodeNumber,
  decodeTime,
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
