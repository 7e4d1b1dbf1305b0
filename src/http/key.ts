import { Elysia } from "elysia";
import type { Caller } from "../accounts/keys/key.ts";
import type { LimitWindow } from "../domain/limit-windows.ts";
import { printUsd } from "../domain/money.ts";
import { limitsOf } from "../gateway/admit.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { SpendLimitUsage } from "../ledger/records.ts";
import { printTime } from "../time.ts";
import { answerCaller } from "./answer-caller.ts";
import type { HttpParts } from "./http-parts.ts";

/** `GET /v1/key`: limits, usage, remaining amounts and resets of the key that sends the request. */
export function keyRoute(parts: HttpParts) {
  return new Elysia().get("/v1/key", ({ request }) =>
    answerCaller(request, parts, (caller, gateway) => printKey(gateway, caller)),
  );
}

async function printKey(
  { limiter, ledger, keyLimits, accountLimits }: Gateway,
  caller: Caller,
): Promise<object> {
  const { key } = caller;
  const limits = limitsOf(caller, keyLimits);
  const [usage, balances, spendLimits] = await Promise.all([
    limiter.usage({ accountId: key.accountId, keyId: key.id, keyLimits: limits, accountLimits }),
    ledger.balances(key.accountId),
    ledger.spendLimits(key.accountId, key.id),
  ]);
  return {
    object: "key",
    id: key.id,
    name: key.name,
    hint: key.hint,
    models: key.models ?? null,
    expires_at: printTime(key.expiresAtMs),
    requests_per_minute: printWindow(usage.requests),
    tokens_per_minute: printWindow(usage.tokens),
    concurrent_requests: { limit: limits.concurrentRequests ?? null, used: usage.running },
    spending_limits: spendLimits.map(printSpendLimit),
    wallet: {
      balance_usd: printUsd(balances.posted),
      on_hold_usd: printUsd(balances.held),
      available_usd: printUsd(balances.available),
    },
  };
}

function printWindow(window: LimitWindow | undefined): object | null {
  if (!window) return null;
  const { limit, remaining, resetMs } = window;
  return { limit, used: limit - remaining, remaining, resets_in_s: Math.ceil(resetMs / 1000) };
}

function printSpendLimit({ amount, used, held, period, keyId, resetsAtMs }: SpendLimitUsage): object {
  const left = amount - used - held;
  return {
    applies_to: keyId === undefined ? "account" : "key",
    period,
    limit_usd: printUsd(amount),
    used_usd: printUsd(used),
    on_hold_usd: printUsd(held),
    remaining_usd: printUsd(left > 0n ? left : 0n),
    resets_at: printTime(resetsAtMs),
  };
}
