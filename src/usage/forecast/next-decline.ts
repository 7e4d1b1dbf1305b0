import type { Account } from "../../accounts/accounts.ts";
import { type ApiKey, stateOfKey } from "../../accounts/keys/key.ts";
import { formatExact } from "../../domain/money.ts";
import { type Cause, ERRORS } from "../../errors.ts";
import { causeOf, type Money, shortageOf } from "../../gateway/decline.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { type FindSmallRequest, quoteSmallPriced, type SmallRequest } from "./estimate.ts";
import { type BindingLimit, moneyLimits } from "./limits.ts";

/** Why a request would be refused. */
interface Refusal {
  readonly code: string;
  readonly text: string;
}

/** A key with everything that can refuse its requests. */
export interface LimitedKey {
  readonly account: Account;
  readonly key: ApiKey;
  readonly limits: readonly BindingLimit[];
  readonly money: Money;
  readonly nowMs: number;
}

/** What a request would be refused for, and the limit that refuses it, if it is one. */
export interface PredictedDecline {
  readonly refusal: Refusal;
  readonly limit?: BindingLimit;
}

/**
 * Predicts what the next small request of a key would be refused for, in the order of the story: key, account,
 * models, per-minute limits, concurrency, spending limits, wallet. `undefined` when it would be admitted.
 */
export function predictDecline(find: FindSmallRequest, limited: LimitedKey): PredictedDecline | undefined {
  const { account, key, limits, money, nowMs } = limited;
  const state = stateOfKey(key, nowMs);
  if (state !== "active") return answer("unknown_key", `The key is ${state}: every request is refused.`);
  if (account.state === "suspended") return SUSPENDED;
  const request = find(key);
  if (!request) return answer("model_not_allowed", "The key may use none of the models that exist.");
  return predictByRates(limits, request) ?? predictByMoney(money, limits, request);
}

/**
 * Reads what every request of an account that costs money would be refused for, whatever its key; `undefined`
 * while a short one to the cheapest model would be admitted.
 */
export async function readAccountDecline(
  ledger: Pick<Ledger, "wallet" | "spendLimits">,
  gateway: Pick<Gateway, "catalog">,
  { id, state }: Account,
): Promise<Refusal | undefined> {
  // No key has the account's id, so that only the limits that bind every key are read.
  const [wallet, limits] = await Promise.all([ledger.wallet(id), ledger.spendLimits(id, id)]);
  if (state === "suspended" || wallet?.state === "frozen") return SUSPENDED.refusal;
  const request = quoteSmallPriced(gateway);
  if (!wallet || !request) return undefined;
  const money = { wallet: wallet.balances, limits };
  return predictByMoney(money, moneyLimits(money), request)?.refusal;
}

function predictByRates(
  limits: readonly BindingLimit[],
  request: SmallRequest,
): PredictedDecline | undefined {
  const tooSmall = limits.find(({ unit, max }) => unit === "tokens" && max < BigInt(request.tokens));
  if (tooSmall) return refuse("too_many_tokens", tooSmall, request);
  const rate = limits.find((each) => isPerMinute(each) && each.left < unitsOf(each, request));
  if (rate) return refuse("rate_limited", rate, request);
  const full = limits.find((each) => each.limit.endsWith("_concurrency") && each.left < 1n);
  return full && refuse("too_concurrent", full, request);
}

function isPerMinute({ limit }: BindingLimit): boolean {
  return limit.endsWith("_requests") || limit.endsWith("_tokens");
}

function unitsOf({ unit }: BindingLimit, { tokens }: SmallRequest): bigint {
  return unit === "tokens" ? BigInt(tokens) : 1n;
}

/** The gateway's own check of a request that is not held yet. */
function predictByMoney(
  money: Money,
  limits: readonly BindingLimit[],
  request: SmallRequest,
): PredictedDecline | undefined {
  const decline = shortageOf(money, request.amount);
  if (!decline) return undefined;
  const isOfLimit = decline.reason === "spending_limit_exceeded";
  const short = limits.filter(({ unit, left }) => unit === "usd" && left < request.amount);
  const limit = short.find(({ owner }) => (owner !== "wallet") === isOfLimit);
  return limit && refuse(causeOf(decline), limit, request);
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function refuse(cause: Cause, limit: BindingLimit, { text }: SmallRequest): PredictedDecline {
  const left = limit.unit === "usd" ? formatExact(positive(limit.left)) : `${limit.left} ${limit.unit}`;
  return { ...answer(cause, `${limit.title} would refuse even ${text}: ${left} left.`), limit };
}

function answer(cause: Cause, text: string): PredictedDecline {
  return { refusal: { code: ERRORS[cause].code, text } };
}

const SUSPENDED = answer(
  "account_suspended",
  "This account is suspended: new requests are refused, running ones are ended, its money stays.",
);
