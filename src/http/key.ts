import { Elysia } from "elysia";
import type { ApiKey, Caller } from "../accounts/keys/key.ts";
import type { NamedScope } from "../accounts/keys/own-keys.ts";
import { printTime } from "../domain/id-time.ts";
import type { LimitWindow } from "../domain/limit-windows.ts";
import { printUsd } from "../domain/money.ts";
import { limiterOf } from "../gateway/admit.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { readAttribution, scopesOf } from "../gateway/scopes.ts";
import { CREDITS_SHOWN_MAX, isSpendable, printSpendable } from "../ledger/print-credit.ts";
import { PAGE_SIZE_MAX, type SpendLimitUsage } from "../ledger/records.ts";
import { answerCaller } from "./answer-caller.ts";
import type { HttpParts } from "./http-parts.ts";
import { readAttributionHeaders } from "./inference.ts";

/** `GET /v1/key`: limits, usage, remaining amounts and resets of the key that sends the request. */
export function keyRoute(parts: HttpParts) {
  return new Elysia().get("/v1/key", ({ request }) =>
    answerCaller(request, parts, (caller, gateway) => printKey(gateway, caller, request.headers)),
  );
}

async function printKey(gateway: Gateway, caller: Caller, headers: Headers): Promise<object> {
  const { limiter, ledger, keys, keyLimits, accountLimits } = gateway;
  const { key } = caller;
  const shared = limiterOf(key, keyLimits);
  const limits = shared.keyLimits;
  const scopes = [...(await keys.nameScopes(key)), ...(await readNamed(gateway, caller, headers))];
  const [usage, balances, credits, spendLimits] = await Promise.all([
    limiter.usage({ accountId: key.accountId, ...shared, accountLimits }),
    ledger.balances(key.accountId),
    ledger.credits(key.accountId, { size: PAGE_SIZE_MAX }, { isLive: true }),
    ledger.spendLimits(
      key.accountId,
      key.id,
      scopes.map(({ kind, id }) => ({ kind, id })),
    ),
  ]);
  return {
    object: "key",
    id: key.id,
    name: key.name,
    hint: key.hint,
    models: key.models ?? null,
    tiers: key.tiers ?? null,
    allows_paid_tools: !key.forbidsPaidTools,
    parent_id: key.parentIds[0] ?? null,
    project: printScope(scopes, "project"),
    member: printScope(scopes, "member"),
    allows_children: key.allowsChildren,
    expires_at: printTime(key.expiresAtMs),
    requests_per_minute: printWindow(usage.requests),
    tokens_per_minute: printWindow(usage.tokens),
    concurrent_requests: { limit: limits.concurrentRequests ?? null, used: usage.running },
    spending_limits: spendLimits.map((limit) => printSpendLimit(limit, key, scopes)),
    wallet: {
      balance_usd: printUsd(balances.posted),
      on_hold_usd: printUsd(balances.held),
      available_usd: printUsd(balances.available),
      credits: credits.items.filter(isSpendable).slice(0, CREDITS_SHOWN_MAX).map(printSpendable),
    },
  };
}

/** The end user and the run that the headers of a request name. Begins no run, and counts no tag. */
async function readNamed(gateway: Gateway, caller: Caller, headers: Headers): Promise<readonly NamedScope[]> {
  const call = { attribution: readAttributionHeaders(headers) };
  const named = readAttribution({ call, caller, request: { endUser: undefined } });
  if (!named) return [];
  const run = named.run && { id: named.run.id, amount: undefined };
  const scopes = (await scopesOf(gateway, caller, { ...named, tags: [], run })) ?? [];
  return scopes.flatMap(({ kind, id }) => {
    if (kind === "run") return { kind, id, name: run?.id ?? id };
    return kind === "end_user" ? { kind, id, name: id } : [];
  });
}

function printWindow(window: LimitWindow | undefined): object | null {
  if (!window) return null;
  const { limit, remaining, resetMs } = window;
  return { limit, used: limit - remaining, remaining, resets_in_s: Math.ceil(resetMs / 1000) };
}

/** Prints a limit that binds the key, by the name that its owner gave to what it limits. */
function printSpendLimit(limit: SpendLimitUsage, key: ApiKey, scopes: readonly NamedScope[]): object {
  const { amount, used, held, period, each, resetsAtMs } = limit;
  const left = amount - used - held;
  const bound = scopeOf(limit, key);
  const name = scopes.find(({ kind, id }) => kind === bound.kind && id === bound.id)?.name;
  return {
    applies_to: bound.kind,
    name: bound.kind === "key" ? key.name : (name ?? null),
    each: each !== undefined,
    period,
    limit_usd: printUsd(amount),
    used_usd: printUsd(used),
    on_hold_usd: printUsd(held),
    remaining_usd: printUsd(left > 0n ? left : 0n),
    resets_at: printTime(resetsAtMs),
  };
}

/** What a limit counts: of a template, the one scope of the key that it bounds. */
function scopeOf(
  { keyId, scope, each, subject }: SpendLimitUsage,
  key: ApiKey,
): { kind: string; id?: string } {
  if (each !== undefined && subject !== undefined) return { kind: each, id: subject };
  if (keyId !== undefined) return { kind: keyId === key.id ? "key" : "parent_key", id: keyId };
  return scope ?? { kind: "account" };
}

function printScope(scopes: readonly NamedScope[], kind: NamedScope["kind"]): object | null {
  const scope = scopes.find((each) => each.kind === kind);
  return scope ? { id: scope.id, name: scope.name } : null;
}
