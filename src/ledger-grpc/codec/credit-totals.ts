import type * as Proto from "../../gen/messages.ts";
import type { CreditTotal, CreditTotalsQuery } from "../../ledger/records.ts";
import { creditSources } from "./enums.ts";
import { decodeNanos, decodeNumber, encodeCount, encodeNanos, encodeText, sparse } from "./fields.ts";
import { decodeBound, encodeBound } from "./receipts.ts";

export function encodeCreditTotalsQuery({
  walletId,
  fromMs,
  toMs,
}: CreditTotalsQuery): Proto.SumCreditsRequest {
  return sparse<Proto.SumCreditsRequest>({
    walletId: walletId === undefined ? undefined : encodeText(walletId),
    startTime: encodeBound(fromMs),
    endTime: encodeBound(toMs),
  });
}

export function decodeCreditTotalsQuery(wire: Proto.SumCreditsRequest__Output): CreditTotalsQuery {
  return {
    walletId: wire.walletId,
    fromMs: decodeBound(wire.startTime, "start_time"),
    toMs: decodeBound(wire.endTime, "end_time"),
  };
}

export function encodeCreditTotal(total: CreditTotal): Proto.CreditTotal {
  return {
    source: creditSources.encode(total.source),
    grantedNanos: encodeNanos(total.granted),
    grants: encodeCount(total.grants),
    expiredNanos: encodeNanos(total.expired),
    ends: encodeCount(total.ends),
  };
}

export function decodeCreditTotal(wire: Proto.CreditTotal__Output): CreditTotal {
  return {
    source: creditSources.decode(wire.source, "total.source"),
    granted: decodeNanos(wire.grantedNanos),
    grants: decodeNumber(wire.grants),
    expired: decodeNanos(wire.expiredNanos),
    ends: decodeNumber(wire.ends),
  };
}
