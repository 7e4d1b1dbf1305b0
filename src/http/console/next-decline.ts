import type { Account } from "../../accounts/accounts.ts";
import type { ApiKey } from "../../accounts/key.ts";
import { formatExact } from "../../domain/money.ts";
import { type Cause, ERRORS } from "../../errors.ts";
import type { BindingLimit } from "./key-limits.ts";
import type { keyPage } from "./key-shapes.ts";
import { stateOfKey } from "./key-view.ts";
import type { FindSmallRequest, SmallRequest } from "./small-request.ts";

type NextDecline = (typeof keyPage.static)["next_refusal"];

/** A key with everything that can refuse its requests. */
export interface LimitedKey {
  readonly account: Account;
  readonly key: ApiKey;
  readonly limits: readonly BindingLimit[];
  readonly nowMs: number;
}

/** What a request would be refused for, and the limit that refuses it, if it is one. */
export interface PredictedDecline {
  readonly refusal: NonNullable<NextDecline>;
  readonly limit?: BindingLimit;
}

/**
 * Predicts what the next small request of a key would be refused for, in the order of the story: key, account,
 * models, per-minute limits, concurrency, spending limits, wallet. `undefined` when it would be admitted.
 */
export function predictDecline(find: FindSmallRequest, limited: LimitedKey): PredictedDecline | undefined {
  const { account, key, limits, nowMs } = limited;
  const state = stateOfKey(key, nowMs);
  if (state !== "active") return answer("unknown_key", `The key is ${state}: every request is refused.`);
  if (account.state === "suspended") {
    return answer("account_suspended", "The account is suspended: every request is refused.");
  }
  const request = find(key);
  if (!request) return answer("model_not_allowed", "The key may use none of the models that exist.");
  return predictByRates(limits, request) ?? predictByMoney(limits, request);
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

/** Spending limits decide before the wallet, as in the ledger's own rule. */
function predictByMoney(
  limits: readonly BindingLimit[],
  request: SmallRequest,
): PredictedDecline | undefined {
  const short = limits.filter(({ unit, left }) => unit === "usd" && left < request.amount);
  const spending = short.find(({ limit }) => limit !== "wallet");
  if (spending) return refuse("spending_limit", spending, request);
  const [wallet] = short;
  return wallet && refuse("wallet_empty", wallet, request);
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
