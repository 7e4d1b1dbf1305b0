import type { Balances__Output, Balances as WireBalances } from "../../gen/tollgate/ledger/v1/Balances.ts";
import type {
  SetWalletStateRequest,
  SetWalletStateRequest__Output,
} from "../../gen/tollgate/ledger/v1/SetWalletStateRequest.ts";
import type { Wallet, Wallet__Output } from "../../gen/tollgate/ledger/v1/Wallet.ts";
import type { Balances, WalletStateRequest, WalletSummary } from "../../ledger/ledger.ts";
import { walletStates } from "./enums.ts";
import { decodeNanos, encodeId, encodeNanos } from "./fields.ts";
import { required } from "./invalid-field.ts";
import { decodeTime, encodeTime } from "./times.ts";

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
    createTime: encodeTime(wallet.createdAtMs),
  };
}

export function decodeWallet(wire: Wallet__Output | null): WalletSummary {
  const { walletId, state, balances, createTime } = required(wire, "wallet");
  return {
    walletId,
    state: walletStates.decode(state, "wallet.state"),
    balances: decodeBalances(balances),
    createdAtMs: decodeTime(required(createTime, "wallet.create_time"), "wallet.create_time"),
  };
}

export function encodeWalletStateRequest({ walletId, state }: WalletStateRequest): SetWalletStateRequest {
  return { walletId: encodeId(walletId), state: walletStates.encode(state) };
}

export function decodeWalletStateRequest(wire: SetWalletStateRequest__Output): WalletStateRequest {
  return { walletId: wire.walletId, state: walletStates.decode(wire.state, "state") };
}
