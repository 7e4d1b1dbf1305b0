import type { ApiKey } from "../../accounts/keys/key.ts";
import type { LimitWindow } from "../../domain/limit-windows.ts";
import { formatCents, formatExact, type Nanos } from "../../domain/money.ts";
import { isCalendar, type LimitPeriod } from "../../domain/period.ts";
import { limitsOf } from "../../gateway/admit.ts";
import type { Money } from "../../gateway/decline.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Balances, SpendLimitUsage } from "../../ledger/records.ts";
import type { Limits, LimitUsage } from "../../limiter/limiter.ts";

/** The limits that can refuse a request. */
type LimitName =
  | `${"key" | "account"}_${"spending" | "requests" | "tokens" | "concurrency"}`
  | `${"parent_key" | "project" | "member"}_spending`
  | "wallet";

/** What all keys of an account are bound by. */
export interface SharedLimits {
  readonly balances: Balances;
  /** `undefined` while the limiter is away. */
  readonly usage: LimitUsage | undefined;
}

/** One limit that can refuse requests of a key, with its use. */
export interface BindingLimit {
  readonly limit: LimitName;
  readonly owner: "key" | "parent_key" | "project" | "member" | "account" | "wallet";
  readonly unit: "usd" | "requests" | "tokens";
  /** In nano-USD for the unit `usd`. */
  readonly used: bigint;
  readonly max: bigint;
  /** May be negative for money. */
  readonly left: bigint;
  readonly resetsAtMs: number | undefined;
  /** "The key's spending limit of $5.00 per day" */
  readonly title: string;
}

/** Reads what binds all keys of an account. A limiter reports the windows of an account for any key. */
export async function readSharedLimits(
  ledger: Pick<Ledger, "balances">,
  { limiter, accountLimits }: Pick<Gateway, "limiter" | "accountLimits">,
  accountId: string,
): Promise<SharedLimits> {
  const [balances, usage] = await Promise.all([
    ledger.balances(accountId),
    // Read apart from the keys: of key and account, a limiter reports the tighter one.
    limiter.usage({ accountId, keyId: accountId, keyLimits: {}, accountLimits }).catch(() => undefined),
  ]);
  return { balances, usage };
}

/** What binds one key alone, and the spending limits of its account. */
interface OwnLimits {
  /** `undefined` while the limiter is away. */
  readonly usage: LimitUsage | undefined;
  readonly spendLimits: readonly SpendLimitUsage[];
}

/** Lists the limits of a key, of its account and of its wallet; the tightest first. */
export function limitsThatBind(
  { keyLimits, accountLimits }: Pick<Gateway, "keyLimits" | "accountLimits">,
  key: ApiKey,
  { own, shared, nowMs }: { readonly own: OwnLimits; readonly shared: SharedLimits; readonly nowMs: number },
): readonly BindingLimit[] {
  const { usage, balances } = shared;
  const running = own.usage?.running ?? 0;
  const ofKey = { limits: limitsOf({ key }, keyLimits), usage: own.usage, running, nowMs };
  const ofAccount = { limits: accountLimits, usage, running: usage?.accountRunning ?? 0, nowMs };
  return tightestFirst([
    ...moneyLimits({ wallet: balances, limits: own.spendLimits }, key.id),
    ...rates("key", ofKey),
    ...rates("account", ofAccount),
  ]);
}

/** Lists the spending limits that bind a key, or without one those of its account, then the wallet. */
export function moneyLimits({ wallet: balances, limits }: Money, keyId?: string): readonly BindingLimit[] {
  return [...limits.map((limit) => spending(limit, keyId)), wallet(balances)];
}

/** The used share from which a window or a slot can bind before money: they are empty again in a minute. */
const BUSY = 0.1;

function spending(limit: SpendLimitUsage, bound: string | undefined): BindingLimit {
  const { amount, used, held, resetsAtMs } = limit;
  const owner = ownerOf(limit, bound);
  return {
    limit: `${owner}_spending`,
    owner,
    unit: "usd",
    used: used + held,
    max: amount,
    left: amount - used - held,
    resetsAtMs,
    title: `The ${owner.replace("_", " ")}'s spending limit of ${formatExact(amount)} ${inWords(limit.period)}`,
  };
}

function ownerOf({ keyId, scope, each }: SpendLimitUsage, bound: string | undefined) {
  if (each === "member") return "member";
  if (keyId !== undefined) return bound === undefined || keyId === bound ? "key" : "parent_key";
  return scope?.kind === "project" || scope?.kind === "member" ? scope.kind : "account";
}

function inWords(period: LimitPeriod): string {
  if (period === "total") return "in total";
  return isCalendar(period) ? `per ${period}` : `per ${period.slice(0, -1)} hours`;
}

function wallet({ held, available }: Balances): BindingLimit {
  const max = available + held;
  const title = `The wallet of ${formatCents(max)}`;
  return {
    limit: "wallet",
    owner: "wallet",
    unit: "usd",
    used: held,
    max,
    left: available,
    resetsAtMs: undefined,
    title,
  };
}

interface RateUsage {
  readonly limits: Limits;
  /** `undefined` while the limiter is away. */
  readonly usage: LimitUsage | undefined;
  readonly running: number;
  readonly nowMs: number;
}

function rates(
  owner: "key" | "account",
  { limits, usage, running, nowMs }: RateUsage,
): readonly BindingLimit[] {
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
  const perMinute = (
    unit: "requests" | "tokens",
    max: number | undefined,
    window: LimitWindow | undefined,
  ) => {
    if (max === undefined) return [];
    const left = window?.remaining ?? max;
    const resetsAtMs = window && window.resetMs > 0 ? nowMs + window.resetMs : undefined;
    const title = `The ${owner}'s limit of ${max} ${unit} per minute`;
    const counts = { used: BigInt(max - left), max: BigInt(max), left: BigInt(left) };
    return [{ limit: `${owner}_${unit}` as const, owner, unit, ...counts, resetsAtMs, title }];
  };
  return [
    ...perMinute("requests", requestsPerMinute, usage?.requests),
    ...perMinute("tokens", tokensPerMinute, usage?.tokens),
    ...(concurrentRequests === undefined ? [] : [concurrency(owner, concurrentRequests, running)]),
  ];
}

function concurrency(owner: "key" | "account", max: number, running: number): BindingLimit {
  return {
    limit: `${owner}_concurrency`,
    owner,
    unit: "requests",
    used: BigInt(running),
    max: BigInt(max),
    left: atLeastZero(BigInt(max - running)),
    resetsAtMs: undefined,
    title: `The ${owner}'s limit of ${max} concurrent requests`,
  };
}

/**
 * Sorts by the used share; windows and slots of which little is used come last. Among limits of money the one with
 * less left comes first, whatever its share: a nearly empty wallet binds before half of a large spending limit.
 */
function tightestFirst(limits: readonly BindingLimit[]): readonly BindingLimit[] {
  const money = limits
    .filter(({ unit }) => unit === "usd")
    .toSorted((one, other) => compare(other.left, one.left));
  const ranked: { limit: BindingLimit; rank: number }[] = [];
  let rank = 0;
  for (const limit of money) {
    rank = Math.max(rank, shareOf(limit));
    ranked.unshift({ limit, rank });
  }
  for (const limit of limits) {
    const share = shareOf(limit);
    if (limit.unit !== "usd") ranked.push({ limit, rank: share < BUSY ? share - 1 : share });
  }
  return ranked.toSorted((one, other) => other.rank - one.rank).map(({ limit }) => limit);
}

/** The used share of a limit, from 0; 1 where nothing is left, also of a limit of 0. */
export function shareOf({ used, max, left }: BindingLimit): number {
  if (left <= 0n || max <= 0n) return 1;
  return Math.max(Number((used * 10_000n) / max) / 10_000, 0);
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}

export function atLeastZero(amount: Nanos): Nanos {
  return amount > 0n ? amount : 0n;
}
