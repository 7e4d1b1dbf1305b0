import type { Static } from "elysia";
import type { KeyChanges } from "../../../accounts/keys/key-changes.ts";
import type { NewKey, SpendingLimit } from "../../../accounts/keys/keys.ts";
import { type Nanos, parseUsd } from "../../../domain/money.ts";
import { isTimeZone } from "../../../domain/period.ts";
import { GatewayError } from "../../../errors.ts";
import type { TriedLimits } from "../../../forecast/simulation.ts";
import { readMs } from "../../../usage/range.ts";
import type { ConsoleParts } from "../console-parts.ts";
import type { keyChangeBody, newKeyBody, simulationBody, spendingLimitBody } from "./shapes.ts";

/** Reads the body of a new key. Throws `wrong_shape`, also for an unknown model and an expiry in the past. */
export function readNewKey(
  parts: ConsoleParts,
  accountId: string,
  body: Static<typeof newKeyBody>,
): NewKey & { readonly spendingLimit: SpendingLimit | undefined } {
  const expiresAtMs = readExpiry(body.expires_at) ?? undefined;
  if (expiresAtMs !== undefined && expiresAtMs <= parts.now()) throw wrongShape("expires_at");
  return {
    accountId,
    name: readName(body.name),
    models: readModels(parts, body.models) ?? undefined,
    allowsClamp: body.allows_clamp,
    expiresAtMs,
    limits: {
      requestsPerMinute: body.requests_per_minute ?? undefined,
      tokensPerMinute: body.tokens_per_minute ?? undefined,
      concurrentRequests: body.concurrent_requests ?? undefined,
    },
    spendingLimit: readSpendingLimit(body.spending_limit) ?? undefined,
  };
}

/** Reads the body of an edit. A key keeps models that the catalog no longer has. Throws `wrong_shape`. */
export function readChanges(
  parts: ConsoleParts,
  body: Static<typeof keyChangeBody>,
  modelsNow: readonly string[] | undefined,
): KeyChanges {
  return {
    name: body.name === undefined ? undefined : readName(body.name),
    models: readModels(parts, body.models, modelsNow),
    expiresAtMs: readExpiry(body.expires_at),
    allowsClamp: body.allows_clamp,
    requestsPerMinute: body.requests_per_minute,
    tokensPerMinute: body.tokens_per_minute,
    concurrentRequests: body.concurrent_requests,
    spendingLimit: readSpendingLimit(body.spending_limit),
  };
}

/** Reads the limits to try on past requests. */
export function readLimits(body: Static<typeof simulationBody>): TriedLimits {
  return {
    requestsPerMinute: body.requests_per_minute ?? undefined,
    tokensPerMinute: body.tokens_per_minute ?? undefined,
    concurrentRequests: body.concurrent_requests ?? undefined,
    spendingLimit: readSpendingLimit(body.spending_limit) ?? undefined,
  };
}

/** Reads a spending limit. Throws `wrong_shape` for an amount that is too large and for an unknown zone. */
function readSpendingLimit<Absent extends null | undefined>(
  limit: Static<typeof spendingLimitBody> | Absent,
): SpendingLimit | Absent {
  if (!limit) return limit;
  const { amount_usd, period, time_zone: timeZone } = limit;
  if (timeZone !== undefined && !isTimeZone(timeZone)) throw wrongShape("spending_limit.time_zone");
  return { amount: readAmount(amount_usd), period, timeZone };
}

function readAmount(text: string): Nanos {
  try {
    return parseUsd(text);
  } catch {
    throw wrongShape("spending_limit.amount_usd");
  }
}

function readName(text: string): string {
  const name = text.trim();
  if (name === "") throw wrongShape("name");
  return name;
}

function readExpiry<Absent extends null | undefined>(text: string | Absent): number | Absent {
  return text ? (readMs(text, "expires_at") as number) : (text as Absent);
}

function readModels<Absent extends null | undefined>(
  parts: ConsoleParts,
  models: readonly string[] | Absent,
  known: readonly string[] = [],
): readonly string[] | Absent {
  if (!models) return models;
  const { catalog } = parts.gateway();
  const unknown = models.findIndex((model) => !catalog.find(model) && !known.includes(model));
  if (unknown >= 0) throw wrongShape(`models[${unknown}]`);
  return [...new Set(models)];
}

function wrongShape(path: string): GatewayError {
  return new GatewayError("wrong_shape", { path });
}
