import type * as Proto from "../../gen/messages.ts";
import type { TransferTotal, TransferTotalsQuery } from "../../ledger/records.ts";
import { scopeKinds, transferKinds } from "./enums.ts";
import { decodeNanos, decodeNumber, encodeCount, encodeNanos, encodeText, sparse } from "./fields.ts";
import { decodeBound, encodeBound } from "./receipts.ts";

export function encodeTransferTotalsQuery(
  walletId: string,
  { fromMs, toMs, by, tagKey, splitsKeys }: TransferTotalsQuery,
): Proto.SumTransfersByScopeRequest {
  return sparse<Proto.SumTransfersByScopeRequest>({
    walletId: encodeText(walletId),
    startTime: encodeBound(fromMs),
    endTime: encodeBound(toMs),
    by: scopeKinds.encode(by),
    tagKey: tagKey === undefined ? undefined : encodeText(tagKey),
    splitsKeys,
  });
}

export function decodeTransferTotalsQuery(
  wire: Proto.SumTransfersByScopeRequest__Output,
): TransferTotalsQuery {
  return {
    fromMs: decodeBound(wire.startTime, "start_time"),
    toMs: decodeBound(wire.endTime, "end_time"),
    by: scopeKinds.decode(wire.by, "by", "invalid_query"),
    tagKey: wire.tagKey,
    splitsKeys: wire.splitsKeys,
  };
}

export function encodeTransferTotal(total: TransferTotal): Proto.TransferTotal {
  return sparse<Proto.TransferTotal>({
    kind: transferKinds.encode(total.kind),
    scopeId: total.scopeId,
    keyId: total.keyId,
    isDropped: total.isDropped,
    amountNanos: encodeNanos(total.amount),
    transfers: encodeCount(total.transfers),
  });
}

export function decodeTransferTotal(wire: Proto.TransferTotal__Output): TransferTotal {
  return {
    kind: transferKinds.decode(wire.kind, "total.kind"),
    scopeId: wire.scopeId,
    keyId: wire.keyId,
    isDropped: wire.isDropped,
    amount: decodeNanos(wire.amountNanos),
    transfers: decodeNumber(wire.transfers),
  };
}
