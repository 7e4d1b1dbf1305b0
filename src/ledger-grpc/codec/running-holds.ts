import type * as Proto from "../../gen/messages.ts";
import type { RunningHold, RunningTotals } from "../../ledger/records.ts";
import {
  decodeNanos,
  decodeNumber,
  decodeTime,
  encodeCount,
  encodeNanos,
  encodeTime,
  required,
} from "./fields.ts";

export function encodeRunningHold(hold: RunningHold): Proto.RunningHold {
  const { walletId, holdId, keyId, model, granted, accrued, createdAtMs, expiresAtMs } = hold;
  return {
    walletId,
    holdId,
    keyId,
    model,
    grantedNanos: encodeNanos(granted),
    accruedNanos: encodeNanos(accrued),
    createTime: encodeTime(createdAtMs),
    expireTime: encodeTime(expiresAtMs),
  };
}

export function decodeRunningHold(wire: Proto.RunningHold__Output): RunningHold {
  const { walletId, holdId, keyId, model, createTime, expireTime } = wire;
  return {
    walletId,
    holdId,
    keyId,
    model,
    granted: decodeNanos(wire.grantedNanos),
    accrued: decodeNanos(wire.accruedNanos),
    createdAtMs: decodeTime(required(createTime, "hold.create_time"), "hold.create_time"),
    expiresAtMs: decodeTime(required(expireTime, "hold.expire_time"), "hold.expire_time"),
  };
}

export function encodeRunningTotals(totals: RunningTotals): Proto.RunningTotals {
  return {
    walletId: totals.walletId,
    count: encodeCount(totals.count),
    grantedNanos: encodeNanos(totals.granted),
    oldestCreateTime: encodeTime(totals.oldestCreatedAtMs),
  };
}

export function decodeRunningTotals(wire: Proto.RunningTotals__Output): RunningTotals {
  const oldest = required(wire.oldestCreateTime, "totals.oldest_create_time");
  return {
    walletId: wire.walletId,
    count: decodeNumber(wire.count),
    granted: decodeNanos(wire.grantedNanos),
    oldestCreatedAtMs: decodeTime(oldest, "totals.oldest_create_time"),
  };
}
