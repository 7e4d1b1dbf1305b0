import { type CalendarPeriod, type LimitPeriod, WINDOW_HOURS_MAX } from "../../domain/period.ts";
import type * as Proto from "../../gen/messages.ts";
import type {
  DeleteSpendLimitRequest,
  SetSpendLimitRequest,
  WalletStateRequest,
} from "../../ledger/ledger.ts";
import type {
  Balances,
  JournalLine,
  JournalTotals,
  SpendLimit,
  SpendLimitUsage,
  TransferRange,
  WalletSummary,
} from "../../ledger/records.ts";
import { limitPeriods, scopeKinds, transferKinds, walletStates } from "./enums.ts";
import {
  decodeNanos,
  decodeNumber,
  decodeTime,
  encodeCount,
  encodeId,
  encodeNanos,
  encodeText,
  encodeTime,
  InvalidField,
  required,
  sparse,
} from "./fields.ts";
import { decodeBound, encodeBound } from "./receipts.ts";
import { decodeScope, decodeScopes, encodeScope, encodeScopes } from "./scopes.ts";

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
    keyId: encodeKeyOf(limit),
    scope: limit.scope && encodeScope(limit.scope),
    each: limit.each && scopeKinds.encode(limit.each),
    ...encodePeriod(limit.period),
    timeZone: limit.timeZone === undefined ? undefined : encodeText(limit.timeZone),
    amountNanos: encodeNanos(limit.amount),
  });
}

/**
 * Encodes the key of a limit. Beside a scope or a template, no key is an empty one: a server that knows neither
 * declines it, and would else bind the whole wallet.
 */
function encodeKeyOf({ keyId, scope, each }: SpendLimit): string | undefined {
  if (!scope && !each) return keyId === undefined ? undefined : encodeId(keyId);
  return keyId === undefined ? "" : encodeText(keyId || "\0");
}

export function decodeSpendLimit(wire: Proto.SpendLimit__Output | null): SpendLimit {
  const limit = required(wire, "limit");
  const scope = limit.scope ? decodeScope(limit.scope, "limit.scope") : undefined;
  const each = scopeKinds.decodeOptional(limit.each, "limit.each", "invalid_scope");
  return {
    walletId: limit.walletId,
    limitId: limit.limitId,
    keyId: scope || each ? limit.keyId || undefined : limit.keyId,
    scope,
    each,
    period: decodePeriod(limit),
    timeZone: limit.timeZone,
    amount: decodeNanos(limit.amountNanos),
  };
}

/** A period outside the union becomes a number outside the enum or the range, which the server rejects. */
function encodePeriod(period: LimitPeriod): Pick<Proto.SpendLimit, "period" | "windowHours"> {
  const hours = /^(0|[1-9]\d{0,8})h$/.exec(period)?.[1];
  // Safe because a period without hours is one of the calendar, or none.
  if (hours === undefined) return { period: limitPeriods.encode(period as CalendarPeriod) };
  return { period: limitPeriods.encode("window"), windowHours: Number(hours) };
}

function decodePeriod({ period, windowHours }: Proto.SpendLimit__Output): LimitPeriod {
  const name = limitPeriods.decode(period, "limit.period");
  const isWindow = name === "window";
  const isInRange = isWindow ? windowHours >= 1 && windowHours <= WINDOW_HOURS_MAX : windowHours === 0;
  if (!isInRange) throw new InvalidField("limit.window_hours", "invalid_amount");
  return isWindow ? `${windowHours}h` : name;
}

export function encodeSetSpendLimitRequest(request: SetSpendLimitRequest): Proto.SetSpendLimitRequest {
  const limit = encodeSpendLimit(request);
  return request.countsFromNow ? { limit, fromNow: true } : { limit };
}

export function decodeSetSpendLimitRequest({
  limit,
  fromNow,
}: Proto.SetSpendLimitRequest__Output): SetSpendLimitRequest {
  return { ...decodeSpendLimit(limit), ...(fromNow && { countsFromNow: true }) };
}

export function encodeDeleteSpendLimitRequest(
  request: DeleteSpendLimitRequest,
): Proto.DeleteSpendLimitRequest {
  const { walletId, limitId, ifIdle } = request;
  return sparse<Proto.DeleteSpendLimitRequest>({
    walletId: encodeId(walletId),
    limitId: encodeId(limitId),
    ifIdle: ifIdle && {
      keyId: encodeId(ifIdle.keyId),
      scopes: encodeScopes(ifIdle.scopes) ?? [],
      usedNanos: encodeNanos(ifIdle.used),
    },
  });
}

export function decodeDeleteSpendLimitRequest({
  walletId,
  limitId,
  ifIdle,
}: Proto.DeleteSpendLimitRequest__Output): DeleteSpendLimitRequest {
  if (!ifIdle) return { walletId, limitId };
  const { keyId, scopes, usedNanos } = ifIdle;
  const idle = { keyId, scopes: decodeScopes(scopes, "if_idle.scopes"), used: decodeNanos(usedNanos) };
  return { walletId, limitId, ifIdle: idle };
}

export function encodeSpendLimitUsage(usage: SpendLimitUsage): Proto.SpendLimitUsage {
  return sparse<Proto.SpendLimitUsage>({
    limit: encodeSpendLimit(usage),
    subject: usage.subject,
    usedNanos: encodeNanos(usage.used),
    heldNanos: encodeNanos(usage.held),
    resetTime: usage.resetsAtMs === undefined ? undefined : encodeTime(usage.resetsAtMs),
  });
}

export function decodeSpendLimitUsage(wire: Proto.SpendLimitUsage__Output): SpendLimitUsage {
  return {
    ...decodeSpendLimit(wire.limit),
    subject: wire.subject,
    used: decodeNanos(wire.usedNanos),
    held: decodeNanos(wire.heldNanos),
    resetsAtMs: wire.resetTime ? decodeTime(wire.resetTime, "reset_time") : undefined,
  };
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
    transfers: encodeCount(totals.transfers),
  };
}

export function decodeJournalTotals(wire: Proto.SumTransfersResponse__Output): JournalTotals {
  return {
    toppedUp: decodeNanos(wire.toppedUpNanos),
    charged: decodeNanos(wire.chargedNanos),
    refunded: decodeNanos(wire.refundedNanos),
    transfers: decodeNumber(wire.transfers),
  };
}
