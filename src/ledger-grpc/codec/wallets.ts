import type * as Proto from "../../gen/messages.ts";
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

export function encodeBalances({ posted, held, available }: Balances): Proto.Balances {
  return {
    postedNanos: encodeNanos(posted),
    heldNanos: encodeNanos(held),
    availableNanos: encodeNanos(available),
  };
}

export function decodeBalances(wire: Proto.Balances__Output | null): Balances {
  const { postedNanos, heldNanos, availableNanos } = required(wire, "balances");
  return {
    posted: decodeNanos(postedNanos),
    held: decodeNanos(heldNanos),
    available: decodeNanos(availableNanos),
  };
}

export function encodeWallet(wallet: WalletSummary): Proto.Wallet {
  return {
    walletId: encodeId(wallet.walletId),
    state: walletStates.encode(wallet.state),
    balances: encodeBalances(wallet.balances),
    creditLimitNanos: encodeNanos(wallet.creditLimit),
    createTime: encodeTime(wallet.createdAtMs),
  };
}

export function decodeWallet(wire: Proto.Wallet__Output | null): WalletSummary {
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

export function encodeWalletStateRequest({
  walletId,
  state,
}: WalletStateRequest): Proto.SetWalletStateRequest {
  return { walletId: encodeId(walletId), state: walletStates.encode(state) };
}

export function decodeWalletStateRequest(wire: Proto.SetWalletStateRequest__Output): WalletStateRequest {
  return { walletId: wire.walletId, state: walletStates.decode(wire.state, "state") };
}

export function encodeSpendLimit(limit: SpendLimit): Proto.SpendLimit {
  return sparse<Proto.SpendLimit>({
    walletId: encodeId(limit.walletId),
    limitId: encodeId(limit.limitId),
    keyId: limit.keyId === undefined ? undefined : encodeId(limit.keyId),
    period: limitPeriods.encode(limit.period),
    timeZone: limit.timeZone === undefined ? undefined : encodeText(limit.timeZone),
    amountNanos: encodeNanos(limit.amount),
  });
}

export function decodeSpendLimit(wire: Proto.SpendLimit__Output | null): SpendLimit {
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

export function encodeDeleteSpendLimitRequest(
  request: DeleteSpendLimitRequest,
): Proto.DeleteSpendLimitRequest {
  return { walletId: encodeId(request.walletId), limitId: encodeId(request.limitId) };
}

export function encodeSpendLimitUsage(usage: SpendLimitUsage): Proto.SpendLimitUsage {
  return sparse<Proto.SpendLimitUsage>({
    limit: encodeSpendLimit(usage),
    usedNanos: encodeNanos(usage.used),
    heldNanos: encodeNanos(usage.held),
    resetTime: usage.resetsAtMs === undefined ? undefined : encodeTime(usage.resetsAtMs),
  });
}

export function decodeSpendLimitUsage(wire: Proto.SpendLimitUsage__Output): SpendLimitUsage {
  return {
    ...decodeSpendLimit(wire.limit),
    used: decodeNanos(wire.usedNanos),
    held: decodeNanos(wire.heldNanos),
    resetsAtMs: wire.resetTime ? decodeTime(wire.resetTime, "reset_time") : undefined,
  };
}
