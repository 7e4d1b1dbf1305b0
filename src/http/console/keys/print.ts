import { type ApiKey, stateOfKey } from "../../../accounts/keys/key.ts";
import { printTime } from "../../../domain/id-time.ts";
import type { LimitWindow } from "../../../domain/limit-windows.ts";
import { formatExact, printUsd } from "../../../domain/money.ts";
import { limitsOf } from "../../../gateway/admit.ts";
import type { Limits } from "../../../limiter/limiter.ts";
import type { BoundKey, KeyFacts, SpendLimitState } from "../../../usage/forecast/bound-keys.ts";
import { atLeastZero, type BindingLimit, shareOf } from "../../../usage/forecast/limits.ts";
import type { Simulation } from "../../../usage/forecast/simulation.ts";
import type { keyPage, key as keyShape, namedKey, simulation } from "./shapes.ts";

export type KeyView = typeof keyShape.static;
type KeyPage = typeof keyPage.static;

/** What a printed key depends on beside its row and its facts. */
interface Now {
  /** The limits of keys without their own. */
  readonly keyLimits: Limits;
  readonly nowMs: number;
}

export function printKey(key: ApiKey, facts: KeyFacts, { keyLimits, nowMs }: Now): KeyView {
  const { spendingLimit, usage, activity, authors } = facts;
  const limits = limitsOf({ key }, keyLimits);
  const sourceOf = (own: number | undefined) => (own === undefined ? "default" : "key");
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = key.limits;
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    state: stateOfKey(key, nowMs),
    created_at: printTime(key.createdAtMs),
    created_by: printCreator(key.createdBy, authors),
    expires_at: printTime(key.expiresAtMs),
    revoked_at: printTime(key.revokedAtMs),
    previous: printPrevious(key, nowMs),
    models: key.models ? [...key.models] : null,
    tiers: key.tiers ? [...key.tiers] : null,
    allows_paid_tools: !key.forbidsPaidTools,
    allows_clamp: key.allowsClamp,
    allows_children: key.allowsChildren,
    project_id: key.projectId ?? key.accountId,
    parent_id: key.parentIds[0] ?? null,
    version: key.version,
    spending_limit: spendingLimit ? printSpendingLimit(spendingLimit) : null,
    requests_per_minute: printRate(limits.requestsPerMinute, usage?.requests, sourceOf(requestsPerMinute)),
    tokens_per_minute: printRate(limits.tokensPerMinute, usage?.tokens, sourceOf(tokensPerMinute)),
    concurrent_requests:
      limits.concurrentRequests === undefined
        ? null
        : {
            limit: limits.concurrentRequests,
            used: usage?.running ?? 0,
            source: sourceOf(concurrentRequests),
          },
    last_used_at: printTime(activity.lastUsedAtMs),
    spent_30d_usd: printUsd(activity.spent),
  };
}

function printCreator(id: string | undefined, authors: KeyFacts["authors"]): KeyView["created_by"] {
  return id === undefined ? null : { id, name: authors.get(id) ?? "removed" };
}

/** The secret before the latest rotation, while it is still accepted. */
function printPrevious({ previous, revokedAtMs }: ApiKey, nowMs: number): KeyView["previous"] {
  if (!previous || revokedAtMs !== undefined || previous.endsAtMs <= nowMs) return null;
  return { hint: previous.hint, ends_at: printTime(previous.endsAtMs) };
}

function printRate(limit: number | undefined, window: LimitWindow | undefined, source: "key" | "default") {
  if (limit === undefined) return null;
  const remaining = window?.remaining ?? limit;
  const resetsInS = Math.ceil((window?.resetMs ?? 0) / 1000);
  return { limit, used: limit - remaining, remaining, resets_in_s: resetsInS, source };
}

export function printSpendingLimit(limit: SpendLimitState): NonNullable<KeyView["spending_limit"]> {
  const { amount, period, timeZone, used, held, resetsAtMs } = limit;
  return {
    amount_usd: printUsd(amount),
    period,
    time_zone: timeZone ?? null,
    used_usd: printUsd(used),
    held_usd: printUsd(held),
    remaining_usd: printUsd(atLeastZero(amount - used - held)),
    resets_at: printTime(resetsAtMs),
  };
}

/** Prints as much of a key as a choice of keys needs. */
export function printNamedKey(
  key: ApiKey,
  limit: SpendLimitState | undefined,
  nowMs: number,
): typeof namedKey.static {
  return {
    id: key.id,
    name: key.name,
    state: stateOfKey(key, nowMs),
    created_by: key.createdBy === undefined ? null : { id: key.createdBy },
    spending_limit: limit ? printSpendingLimit(limit) : null,
  };
}

/** Prints a key with what binds it. */
export function printBoundKey({ key, facts, limits, decline }: BoundKey, now: Now): KeyPage {
  return {
    ...printKey(key, facts, now),
    bound_by: printBinding(limits[0]),
    next_refusal: decline?.refusal ?? null,
    limits: limits.map(printLimit),
  };
}

function printLimit(binding: BindingLimit): KeyPage["limits"][number] {
  const { limit, owner, unit, used, max, left, resetsAtMs } = binding;
  const print = unit === "usd" ? printUsd : String;
  return {
    limit,
    owner,
    unit,
    used: print(used),
    max: print(max),
    remaining: print(atLeastZero(left)),
    share: shareOf(binding),
    resets_at: printTime(resetsAtMs),
  };
}

/** Prints the limit that binds first, with a sentence. */
function printBinding(limit: BindingLimit): KeyPage["bound_by"] {
  const printed = printLimit(limit);
  const left =
    limit.unit === "usd" ? formatExact(atLeastZero(limit.left)) : `${printed.remaining} ${limit.unit}`;
  return { ...printed, text: `${limit.title} binds first: ${left} left.` };
}

export function printSimulation(replayed: Simulation): typeof simulation.static {
  const { fromMs, toMs, requests, declines, isCut } = replayed;
  const firstAtMs = Math.min(...declines.map((each) => each.firstAtMs));
  return {
    from: printTime(fromMs),
    to: printTime(toMs),
    requests,
    refused: declines.reduce((sum, { refused }) => sum + refused, 0),
    by: declines.map((each) => ({
      limit: each.limit,
      refused: each.refused,
      first_at: printTime(each.firstAtMs),
    })),
    first_at: declines.length > 0 ? printTime(firstAtMs) : null,
    is_cut: isCut,
  };
}
