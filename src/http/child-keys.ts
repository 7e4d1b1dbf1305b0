import { Elysia } from "elysia";
import type { Caller } from "../accounts/keys/key.ts";
import type { NewChild } from "../accounts/keys/own-keys.ts";
import { printTime } from "../domain/id-time.ts";
import { parseUsd, printUsd } from "../domain/money.ts";
import { NAME } from "../domain/name-characters.ts";
import { isLimitPeriod, type LimitPeriod } from "../domain/period.ts";
import { isTier, TIERS, type Tier } from "../domain/tiers.ts";
import { GatewayError } from "../errors.ts";
import { admitCaller } from "../gateway/admit.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { answerCaller } from "./answer-caller.ts";
import { createBodyReader } from "./body.ts";
import type { HttpParts } from "./http-parts.ts";
import { readSecret } from "./identity.ts";
import { senderOf } from "./inference.ts";

const LIFE_S_MAX = 30 * 24 * 3_600;
const LIFE_S_DEFAULT = 3_600;
const BODY_BYTES_MAX = 64 * 1024;
const MODELS_MAX = 1_000;

/** `POST /v1/key/children`: makes a key below the key that sends the request, and shows its secret once. */
export function childKeysRoute(parts: HttpParts) {
  return new Elysia().post(
    "/v1/key/children",
    ({ request }) =>
      answerCaller(request, parts, (caller, gateway) => makeChild(gateway, { parts, request, caller })),
    // The body is read only after the key is known.
    { parse: "none" },
  );
}

interface Making {
  readonly parts: HttpParts;
  readonly request: Request;
  readonly caller: Caller;
}

/** Counts as a request of the key, whose limits per minute and of concurrent requests are those of its tree. */
async function makeChild(gateway: Gateway, { parts, request, caller }: Making): Promise<object> {
  if (caller.accountSuspended) throw new GatewayError("account_suspended");
  if (!caller.key.allowsChildren) throw new GatewayError("not_permitted");
  await using _slot = await admitCaller(gateway, caller);
  const child = readChild(gateway, await readJson(gateway, { parts, request, caller }));
  const secret = readSecret(request.headers) ?? "";
  const made = await gateway.keys.makeChild({ key: caller.key, secret }, child);
  const { key } = made;
  return {
    object: "key",
    id: key.id,
    name: key.name,
    secret: made.secret,
    parent_id: caller.key.id,
    models: key.models ?? null,
    tiers: key.tiers ?? null,
    allows_paid_tools: !key.forbidsPaidTools,
    expires_at: printTime(key.expiresAtMs),
    allows_children: key.allowsChildren,
    spending_limit: {
      limit_usd: printUsd(child.spendingLimit.amount),
      period: child.spendingLimit.period,
    },
  };
}

/** Reads a body of at most 64 KiB, within the bounds of all bodies. Throws `body_too_large` and `not_json`. */
async function readJson(gateway: Gateway, { parts, request, caller }: Making): Promise<unknown> {
  const tooLarge = () => new GatewayError("body_too_large", { message: "The request body exceeds 64 KiB." });
  if (Number(request.headers.get("content-length")) > BODY_BYTES_MAX) throw tooLarge();
  const body = createBodyReader(request, parts);
  try {
    const bytes = Buffer.concat(await body.read(senderOf(caller, gateway)));
    if (bytes.byteLength > BODY_BYTES_MAX) throw tooLarge();
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (reason) {
    throw reason instanceof GatewayError ? reason : new GatewayError("not_json", { reason });
  } finally {
    body.release();
  }
}

type Members = Readonly<Record<string, unknown>>;

const MEMBERS = [
  "name",
  "spending_limit_usd",
  "period",
  "expires_in_s",
  "models",
  "tiers",
  "allows_paid_tools",
];

/** Reads what a child is to be. Throws `wrong_shape`, also for a member that no child has. */
function readChild({ catalog }: Gateway, body: unknown): NewChild {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new GatewayError("wrong_shape");
  const members = new Map(Object.entries(body as Members));
  for (const name of members.keys()) if (!MEMBERS.includes(name)) throw wrong(name);
  const models = readModels(members.get("models") ?? undefined);
  const unknown = models?.findIndex((model) => !catalog.find(model)) ?? -1;
  if (unknown >= 0) throw wrong(`models[${unknown}]`);
  return {
    name: readName(members.get("name")),
    spendingLimit: {
      amount: readAmount(members.get("spending_limit_usd")),
      period: readPeriod(members.get("period") ?? "total"),
    },
    lifeMs: readLife(members.get("expires_in_s") ?? LIFE_S_DEFAULT) * 1_000,
    models,
    tiers: readTiers(members.get("tiers") ?? undefined),
    forbidsPaidTools: readForbids(members.get("allows_paid_tools") ?? undefined),
  };
}

function readForbids(allows: unknown): boolean | undefined {
  if (allows !== undefined && typeof allows !== "boolean") throw wrong("allows_paid_tools");
  return allows === undefined ? undefined : !allows;
}

/** An empty list allows the standard tier alone. */
function readTiers(value: unknown): readonly Tier[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw wrong("tiers");
  const bad = value.findIndex((tier) => !isTier(tier));
  if (bad >= 0) throw wrong(`tiers[${bad}]`);
  return TIERS.filter((tier) => value.includes(tier));
}

function readName(value: unknown): string {
  const name = typeof value === "string" ? value.trim() : "";
  if (!NAME.test(name)) throw wrong("name");
  return name;
}

/** As a text or as a JSON number, which is exact as far as it is printed. */
function readAmount(value: unknown): bigint {
  try {
    const amount = parseUsd(typeof value === "number" || typeof value === "string" ? `${value}` : "");
    if (amount > 0n) return amount;
  } catch {
    // Answered like an amount of 0.
  }
  throw wrong("spending_limit_usd");
}

function readPeriod(value: unknown): LimitPeriod {
  if (typeof value === "string" && isLimitPeriod(value)) return value;
  throw wrong("period");
}

function readLife(value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= LIFE_S_MAX) return value;
  throw wrong("expires_in_s");
}

function readModels(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0 || value.length > MODELS_MAX) throw wrong("models");
  const bad = value.findIndex((model) => typeof model !== "string");
  if (bad >= 0) throw wrong(`models[${bad}]`);
  return [...new Set(value.map(String))];
}

function wrong(path: string): GatewayError {
  return new GatewayError("wrong_shape", { path });
}
