import type {
  RunningHold__Output,
  RunningHold as WireRunningHold,
} from "../../gen/tollgate/ledger/v1/RunningHold.ts";
import type {
  RunningTotals__Output,
  RunningTotals as WireRunningTotals,
} from "../../gen/tollgate/ledger/v1/RunningTotals.ts";
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

export function encodeRunningHold(hold: RunningHold): WireRunningHold {
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

export function decodeRunningHold(wire: RunningHold__Output): RunningHold {
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

export function encodeRunningTotals(totals: RunningTotals): WireRunningTotals {
  return {
    walletId: totals.walletId,
    count: encodeCount(totals.count),
    grantedNanos: encodeNanos(totals.granted),
    oldestCreateTime: encodeTime(totals.oldestCreatedAtMs),
  };
}

export function decodeRunningTotals(wire: RunningTotals__Output): RunningTotals {
  const oldest = required(wire.oldestCreateTime, "totals.oldest_create_time");
  return {
    walletId: wire.walletId,
    count: decodeNumber(wire.count),
    granted: decodeNanos(wire.grantedNanos),
    oldestCreatedAtMs: decodeTime(oldest, "totals.oldest_create_time"),
  };
}
