// What a random request asks for, and what it must cost by the oracles.
import fc from "fast-check";
import {
  type ApartRoute,
  besideTokens,
  dearestFirst,
  hasFee,
  shareOf,
  speaks,
} from "../../gateway/apart-oracle.ts";
import { maybe, OUTPUT_MAX, type PricedModel, writtenKeys } from "../../gateway/price-cases.ts";
import { type Charged, expectedMoney } from "../../gateway/price-oracle.ts";
import type { UpstreamKind } from "./answers.ts";
import { CLIENTS, type Client, type Extras } from "./clients.ts";

export const PROMPT_BYTES_MAX = 4_000;
/** The factors of three accounts over the upstream costs. */
export const MARKUPS = [undefined, "1.15", "0.5"] as const;
/** The calls of a tool that a request without a bound may make. */
const CALLS_DEFAULT = 10;

const small = fc.nat({ max: 99 });
export const requests = fc.record({
  client: fc.constantFrom<Client>(...CLIENTS),
  stream: fc.boolean(),
  payer: fc.nat({ max: MARKUPS.length - 1 }),
  promptBytes: fc.integer({ min: 1, max: PROMPT_BYTES_MAX }),
  shares: fc.tuple(small, small, small, small),
  outputTokens: fc.nat({ max: OUTPUT_MAX }),
  tier: small,
  served: small,
  isPlain: fc.boolean(),
  tools: fc.subarray([0, 1]),
  callsMax: maybe(fc.integer({ min: 1, max: 5 })),
  calls: fc.tuple(fc.nat({ max: 7 }), fc.nat({ max: 7 })),
  hears: fc.boolean(),
  sees: fc.boolean(),
  speaks: fc.boolean(),
  heard: fc.nat({ max: 60 }),
  seen: fc.nat({ max: 40 }),
});
export type Request = typeof requests extends fc.Arbitrary<infer Each> ? Each : never;

/** What a request asks of each route, and what its answer reports. */
export interface Asked {
  readonly tier: { readonly body: object; readonly asked: string | undefined };
  readonly extras: Extras;
  readonly markup: string | undefined;
  readonly isChat: boolean;
}

const NO_EXTRAS: Extras = { tools: [], callsMax: undefined, hears: false, sees: false, speaks: false };
/** The tools of each form whose calls an upstream of its format runs. */
const TOOLS: Readonly<Record<Client, readonly string[]>> = {
  chat: ["web_search"],
  responses: ["web_search", "file_search"],
  messages: ["web_search", "web_fetch"],
  gemini: [],
};

/** What a request has beside text: only where each route gets the client's own body. */
export function extrasOf(request: Request, kinds: readonly UpstreamKind[]): Extras {
  const { client, isPlain, hears, sees, callsMax } = request;
  const passes = kinds.every(
    ({ name, native }) => native === client || (name === "native" && client === "chat"),
  );
  if (isPlain || !passes) return NO_EXTRAS;
  const tools = request.tools.flatMap((index) => TOOLS[client][index] ?? []);
  const hasMedia = client === "chat" || client === "gemini";
  return {
    tools,
    callsMax,
    hears: hasMedia && hears,
    sees: hasMedia && sees,
    speaks: client === "chat" && hears && request.speaks,
  };
}

const NO_TOKENS = { input: 0, output: 0, cached_input: 0, cache_write: 0, cache_write_1h: 0 };

/** Whether clients offer a tool by default, so that a route without a fee for it drops it. */
function isOptional(name: string, isChat: boolean): boolean {
  return name === "web_search" && !isChat;
}

/** Whether a route drops a tool that a request offers by default. */
export function dropsTools(keys: ApartRoute, { tier, extras, markup, isChat }: Asked): boolean {
  const charged: Charged = { tokens: NO_TOKENS, isLong: false, markup, asked: tier.asked };
  return extras.tools.some((name) => isOptional(name, isChat) && !hasFee(keys, charged, name));
}

/** Whether a route sells the tier, the tools and the spoken output that a request asks for. */
export function isSold(
  keys: ApartRoute,
  { tier, extras, markup, isChat }: Asked,
  { sendable }: UpstreamKind,
): boolean {
  const charged: Charged = { tokens: NO_TOKENS, isLong: false, markup, asked: tier.asked };
  const isNamed = tier.asked !== undefined && tier.asked !== "auto";
  if (isNamed && !(sendable.includes(tier.asked) && expectedMoney(keys, charged))) return false;
  if (extras.speaks && !speaks(keys, charged)) return false;
  return extras.tools.every(
    (name) =>
      name === "web_fetch" ||
      isOptional(name, isChat) ||
      hasFee(keys, charged, name) ||
      // Chat's search may be part of the fee of each answer.
      (isChat && hasFee(keys, charged, "request")),
  );
}

interface Route {
  readonly index: number;
  readonly kind: UpstreamKind;
  readonly asked: Asked;
  readonly request: Request;
}

/** What the answer of a route reports, and what it must cost. */
export function expectedOf(priced: PricedModel, { index, kind, asked, request }: Route) {
  const keys = writtenKeys(priced, index);
  const [report, served] = kind.reports[request.served % kind.reports.length] ?? [{}, undefined];
  const tokens = tokensOf(request, kind);
  const total = tokens.input + tokens.cached_input + tokens.cache_write + tokens.cache_write_1h;
  const charged: Charged = {
    tokens,
    isLong: priced.long !== undefined && total > priced.long.above,
    markup: asked.markup,
    asked: asked.tier.asked,
    served,
    choices: kind.choices,
  };
  const { hears, sees, speaks: isSpoken } = asked.extras;
  const heard = shareOf(tokens, hears ? request.heard : 0);
  const audio = { ...heard, output: isSpoken ? heard.output : 0 };
  const image = shareOf(tokens, sees ? request.seen : 0);
  const { calls, chargedCalls, isCut } = callsOf(keys, charged, { asked, request });
  const { beside, isCostKnown } = besideTokens(keys, charged, { calls: chargedCalls, audio, image });
  const money = expectedMoney(keys, charged, beside);
  if (!money) throw new Error("The route does not sell the tier");
  const names = [
    isCut && "cut calls",
    Object.keys(calls).length > 0 && "calls",
    hears && "audio",
    sees && "images",
  ];
  return {
    reported: { tokens, audio, image, calls, tier: report },
    tier: money.tier,
    charge: money.charge,
    upstreamCost: isCostKnown ? money.upstreamCost : undefined,
    source: isCut ? "estimated" : "reported",
    names: names.filter((name) => name !== false),
  };
}

/** Splits an honest number of input tokens into the classes that the upstream reports. */
function tokensOf(
  { shares, promptBytes, outputTokens }: Request,
  { classes }: UpstreamKind,
): Charged["tokens"] {
  const total = shares.reduce((sum, share) => sum + share, 1);
  const [input = 0, ...rest] = shares.map((share) => Math.floor((promptBytes * share) / (2 * total)));
  const tokens = { ...NO_TOKENS, input, output: outputTokens };
  const names = ["cached_input", "cache_write", "cache_write_1h"] as const;
  for (const [at, name] of names.entries()) if (classes.includes(name)) tokens[name] = rest[at] ?? 0;
  return tokens;
}

/** The calls that an answer reports, those that are charged, and whether some are above the bound. */
function callsOf(keys: ApartRoute, charged: Charged, { asked, request }: Pick<Route, "asked" | "request">) {
  const { tools, callsMax = CALLS_DEFAULT } = asked.extras;
  const isPriced = (name: string) => hasFee(keys, charged, name);
  const always = isPriced("request") ? { request: 1 } : {};
  const searched = tools.includes("web_search") ? { web_search: 1 } : {};
  // Chat reports no calls: each answer has one search.
  if (request.client === "chat") return { calls: {}, chargedCalls: { ...always, ...searched }, isCut: false };
  const calls = Object.fromEntries(tools.map((name, at) => [name, request.calls[at] ?? 0]));
  const fees = dearestFirst(keys, charged, tools.filter(isPriced));
  const isShared = request.client === "responses";
  let left = isShared ? callsMax : Number.POSITIVE_INFINITY;
  const kept: Record<string, number> = {};
  for (const name of fees) {
    const count = Math.min(calls[name] ?? 0, callsMax, left);
    kept[name] = count;
    left -= count;
  }
  const isCut = fees.some((name) => (kept[name] ?? 0) < (calls[name] ?? 0));
  return { calls, chargedCalls: { ...always, ...kept }, isCut };
}
