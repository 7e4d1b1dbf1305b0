import type { Balances__Output, Balances as WireBalances } from "../../gen/tollgate/ledger/v1/Balances.ts";
import type { DeleteSpendLimitRequest as WireDeleteSpendLimitRequest } from "../../gen/tollgate/ledger/v1/DeleteSpendLimitRequest.ts";
import type {
  SetWalletStateRequest,
  SetWalletStateRequest__Output,
} from "../../gen/tollgate/ledger/v1/SetWalletStateRequest.ts";
import type {
  SpendLimit__Output,
  SpendLimit as WireSpendLimit,
} from "../../gen/tollgate/ledger/v1/SpendLimit.ts";
import type {
  SpendLimitUsage__Output,
  SpendLimitUsage as WireSpendLimitUsage,
} from "../../gen/tollgate/ledger/v1/SpendLimitUsage.ts";
import type { Wallet, Wallet__Output } from "../../gen/tollgate/ledger/v1/Wallet.ts";
import type { DeleteSpendLimitRequest, WalletStateRequest } from "../../ledger/ledger.ts";
import type { Balances, SpendLimit, SpendLimitUsage, WalletSummary } from "../../ledger/records.ts";
import { limitPeriods, walletStates } from "./enums.ts";
import {
  decodeNanos,
  decodeTime,
  encodeId,
  encodeNanos,
  encodeText,
  encodeTime,
  required,
  sparse,
} from "./fields.ts";

export function encodeBalances({ posted, held, available }: Balances): WireBalances {
  return {
    postedNanos: encodeNanos(posted),
    heldNanos: encodeNanos(held),
    availableNanos: encodeNanos(available),
  };
}

export function decodeBalances(wire: Balances__Output | null): Balances {
  const { postedNanos, heldNanos, availableNanos } = required(wire, "balances");
  return {
    posted: decodeNanos(postedNanos),
    held: decodeNanos(heldNanos),
    available: decodeNanos(availableNanos),
  };
}

export function encodeWallet(wallet: WalletSummary): Wallet {
  return {
    walletId: encodeId(wallet.walletId),
    state: walletStates.encode(wallet.state),
    balances: encodeBalances(wallet.balances),
    creditLimitNanos: encodeNanos(wallet.creditLimit),
    createTime: encodeTime(wallet.createdAtMs),
  };
}

export function decodeWallet(wire: Wallet__Output | null): WalletSummary {
  const { walletId, state, createTime, ...rest } = required(wire, "wallet");
  const balances = decodeBalances(rest.balances);
  return {
    walletId,
    state: walletStates.decode(state, "wallet.state"),
    balances,
    // Not from the field, which a server of an older version does not send.
    creditLimit: balances.available - balances.posted + balances.held,
    createdAtMs: decodeTime(required(createTime, "wallet.create_time"), "wallet.create_time"),
  };
}

export function encodeWalletStateRequest({ walletId, state }: WalletStateRequest): SetWalletStateRequest {
  return { walletId: encodeId(walletId), state: walletStates.encode(state) };
}

export function decodeWalletStateRequest(wire: SetWalletStateRequest__Output): WalletStateRequest {
  return { walletId: wire.walletId, state: walletStates.decode(wire.state, "state") };
}

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

export function encodeDeleteSpendLimitRequest(request: DeleteSpendLimitRequest): WireDeleteSpendLimitRequest {
  return { walletId: encodeId(request.walletId), limitId: encodeId(request.limitId) };
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
