import type * as Proto from "../../gen/messages.ts";
import type { WalletStateRequest } from "../../ledger/ledger.ts";
import type {
  Balances,
  JournalLine,
  JournalTotals,
  TransferRange,
  WalletSummary,
} from "../../ledger/records.ts";
import { transferKinds, walletStates } from "./enums.ts";
import {
  decodeNanos,
  decodeNumber,
  decodeTime,
  encodeCount,
  encodeId,
  encodeNanos,
  encodeTime,
  required,
  sparse,
} from "./fields.ts";
import { decodeBound, encodeBound } from "./receipts.ts";

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
  const { newestHoldAtMs, ending } = wallet;
  return sparse<Proto.Wallet>({
    walletId: encodeId(wallet.walletId),
    state: walletStates.encode(wallet.state),
    balances: encodeBalances(wallet.balances),
    creditLimitNanos: encodeNanos(wallet.creditLimit),
    createTime: encodeTime(wallet.createdAtMs),
    newestHoldTime: newestHoldAtMs === undefined ? undefined : encodeTime(newestHoldAtMs),
    endingNanos: ending === undefined ? undefined : encodeNanos(ending),
  });
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
    newestHoldAtMs: rest.newestHoldTime
      ? decodeTime(rest.newestHoldTime, "wallet.newest_hold_time")
      : undefined,
    ending: rest.endingNanos ? decodeNanos(rest.endingNanos) : undefined,
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

type WireRange = Pick<Proto.ListTransfersRequest, "startTime" | "endTime" | "oldestFirst" | "kinds">;

export function encodeTransferRange({ kinds = [], fromMs, toMs, order }: TransferRange): WireRange {
  return sparse<WireRange>({
    startTime: encodeBound(fromMs),
    endTime: encodeBound(toMs),
    oldestFirst: order === "oldest_first" || undefined,
    kinds: kinds.map(transferKinds.encode),
  });
}

export function decodeTransferRange(wire: Proto.ListTransfersRequest__Output): TransferRange {
  return {
    fromMs: decodeBound(wire.startTime, "start_time"),
    toMs: decodeBound(wire.endTime, "end_time"),
    order: wire.oldestFirst ? "oldest_first" : "newest_first",
    kinds: wire.kinds.map((kind) => transferKinds.decode(kind, "kinds", "invalid_query")),
  };
}

/** A correction is a top-up of a negative amount, also to clients that know no corrections. */
export function encodeTransfer(line: JournalLine): Proto.Transfer {
  return sparse<Proto.Transfer>({
    sequence: line.seq,
    transferId: line.transferId,
    kind: transferKinds.encode(line.kind === "correction" ? "top_up" : line.kind),
    amountNanos: encodeNanos(line.amount),
    postedAfterNanos: encodeNanos(line.postedAfter),
    holdId: line.holdId,
    createTime: encodeTime(line.createdAtMs),
  });
}

export function decodeTransfer(wire: Proto.Transfer__Output): JournalLine {
  const kind = transferKinds.decode(wire.kind, "transfer.kind");
  const amount = decodeNanos(wire.amountNanos);
  return {
    seq: decodeNumber(wire.sequence),
    transferId: wire.transferId,
    kind: kind === "top_up" && amount < 0n ? "correction" : kind,
    amount,
    postedAfter: decodeNanos(wire.postedAfterNanos),
    holdId: wire.holdId,
    createdAtMs: decodeTime(required(wire.createTime, "transfer.create_time"), "transfer.create_time"),
  };
}

export function encodeJournalTotals(totals: JournalTotals): Proto.SumTransfersResponse {
  return {
    toppedUpNanos: encodeNanos(totals.toppedUp),
    chargedNanos: encodeNanos(totals.charged),
    refundedNanos: encodeNanos(totals.refunded),
    expiredNanos: encodeNanos(totals.expired),
    transfers: encodeCount(totals.transfers),
  };
}

export function decodeJournalTotals(wire: Proto.SumTransfersResponse__Output): JournalTotals {
  return {
    toppedUp: decodeNanos(wire.toppedUpNanos),
    charged: decodeNanos(wire.chargedNanos),
    refunded: decodeNanos(wire.refundedNanos),
    expired: decodeNanos(wire.expiredNanos),
    transfers: decodeNumber(wire.transfers),
  };
}
