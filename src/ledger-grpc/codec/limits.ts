import type {
  SpendLimit__Output,
  SpendLimit as WireSpendLimit,
} from "../../gen/tollgate/ledger/v1/SpendLimit.ts";
import type {
  SpendLimitUsage__Output,
  SpendLimitUsage as WireSpendLimitUsage,
} from "../../gen/tollgate/ledger/v1/SpendLimitUsage.ts";
import type { SpendLimit, SpendLimitUsage } from "../../ledger/ledger.ts";
import { limitPeriods } from "./enums.ts";
import { decodeNanos, encodeId, encodeNanos, encodeText, sparse } from "./fields.ts";
import { required } from "./invalid-field.ts";
import { decodeTime, encodeTime } from "./times.ts";

export function encodeSpendLimit(limit: SpendLimit): WireSpendLimit {
  return sparse<WireSpendLimit>({
    walletId: encodeId(limit.walletId),
    limitId: encodeId(limit.limitId),
    keyId: limit.keyId === undefined ? undefined : encodeId(limit.keyId),
    period: limitPeriods.encode(limit.period),
    timeZone: limit.timeZone === undefined ? undefined : encodeText(limit.timeZone),
    amountNanos: encodeNanos(limit.amount),
  });
}

export function decodeSpendLimit(wire: SpendLimit__Output | null): SpendLimit {
  const limit = required(wire, "limit");
  return {
    walletId: limit.walletId,
    limitId: limit.limitId,
    keyId: limit.keyId,
    period: limitPeriods.decode(limit.period, "limit.period"),
    timeZone: limit.timeZone,
    amount: decodeNanos(limit.amountNanos),
  };
}

export function encodeSpendLimitUsage(usage: SpendLimitUsage): WireSpendLimitUsage {
  return sparse<WireSpendLimitUsage>({
    limit: encodeSpendLimit(usage),
    usedNanos: encodeNanos(usage.used),
    heldNanos: encodeNanos(usage.held),
    resetTime: usage.resetsAtMs === undefined ? undefined : encodeTime(usage.resetsAtMs),
  });
}

export function decodeSpendLimitUsage(wire: SpendLimitUsage__Output): SpendLimitUsage {
  return {
    ...decodeSpendLimit(wire.limit),
    used: decodeNanos(wire.usedNanos),
    held: decodeNanos(wire.heldNanos),
    resetsAtMs: wire.resetTime ? decodeTime(wire.resetTime, "reset_time") : undefined,
  };
}
