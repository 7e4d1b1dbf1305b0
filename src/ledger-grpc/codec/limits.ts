import { type CalendarPeriod, type LimitPeriod, WINDOW_HOURS_MAX } from "../../domain/period.ts";
import type * as Proto from "../../gen/messages.ts";
import type { DeleteSpendLimitRequest, SetSpendLimitRequest } from "../../ledger/ledger.ts";
import type { FullLimits, FullLimitsQuery, SpendLimit, SpendLimitUsage } from "../../ledger/records.ts";
import { limitPeriods, scopeKinds } from "./enums.ts";
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
import { decodeScope, decodeScopes, encodeScope, encodeScopes } from "./scopes.ts";

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

/** A percentage outside of its range becomes 0, which is declined. */
export function encodeFullLimitsQuery(
  walletId: string,
  { percent, after }: FullLimitsQuery,
): Proto.ListFullLimitsRequest {
  const isInRange = Number.isInteger(percent) && percent >= 0 && percent <= 100;
  return sparse<Proto.ListFullLimitsRequest>({
    walletId: encodeText(walletId),
    percent: isInRange ? percent : 0,
    after: after === undefined ? undefined : encodeCount(after),
  });
}

export function decodeFullLimitsQuery({
  percent,
  after,
}: Proto.ListFullLimitsRequest__Output): FullLimitsQuery {
  return { percent, after: after === undefined ? undefined : decodeNumber(after) };
}

export function encodeFullLimits({ limits, end, isAtEnd }: FullLimits): Proto.ListFullLimitsResponse {
  return { limits: limits.map(encodeSpendLimitUsage), end: encodeCount(end), isAtEnd };
}

export function decodeFullLimits(wire: Proto.ListFullLimitsResponse__Output): FullLimits {
  const { limits, end, isAtEnd } = wire;
  return { limits: limits.map(decodeSpendLimitUsage), end: decodeNumber(end), isAtEnd };
}
