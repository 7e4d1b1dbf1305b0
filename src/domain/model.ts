import { type ModalPrice, type ModalTokens, mapModalPrice, modalDifference } from "./modalities.ts";
import {
  type Markup,
  type Nanos,
  type PicosPerToken,
  picosToNanos,
  printPrice,
  scalePicos,
} from "./money.ts";
import { TIERS, type Tier } from "./tiers.ts";
import { feesOf, mapToolFees, type ToolFees } from "./tool-fees.ts";
import { mapUnitPrice, type UnitPrice } from "./units.ts";
import { type InputClass, inputTokensOf, type Usage } from "./usage.ts";

/** The kinds of providers: which formats an upstream speaks, and how its calls are addressed and authenticated. */
export type Protocol = "openai" | "anthropic" | "azure" | "bedrock" | "gemini" | "vertex";

/** The wire formats of conversations at OpenAI and Anthropic. They and Gemini's are translated to each other. */
export type ChatSurface = "chat" | "messages" | "responses";

/** The wire formats of clients, by their names in receipts and logs. An upstream may speak several. */
export type ClientSurface =
  | ChatSurface
  | "gemini"
  | "compact"
  | "embeddings"
  | "rerank"
  | "moderations"
  | "images"
  | "image_edits"
  | "image_variations"
  | "speech"
  | "transcriptions"
  | "translations";

/** The routes whose clients may leave out the model, with the models that then answer. */
export type DefaultModels = Readonly<Partial<Record<"moderations" | "images", string>>>;

/** Every wire format: those of clients, and those that only upstreams speak. */
export type Surface = ClientSurface | "converse" | `${"gemini" | "vertex" | "titan" | "cohere"}_embeddings`;

/** A cloud that hosts Anthropic's models. The URL of a call has the model, which the body then lacks. */
export interface MessagesHost {
  /** The `anthropic_version` that the body carries. */
  readonly version: string;
  /** Whether the body has the stream flag, beside the URL. */
  readonly hasStreamFlag: boolean;
  /** The host's names of the betas that it knows, by the names that clients send. It refuses all others. */
  readonly betaNames: Readonly<Record<string, string>>;
  /** Whether betas are sent in the body, as `anthropic_beta`, or in a header. */
  readonly betasIn: "body" | "header";
  /** Whether it counts the tokens of a prompt, as Anthropic does. */
  readonly countsTokens?: boolean;
}

/** The parameters that a model accepts. Used for translated requests; others pass through unchecked. */
export interface ModelTraits {
  /** How reasoning is requested: not at all, by an effort, or in one of Anthropic's two modes. */
  readonly reasoning: "none" | "effort" | "budget" | "adaptive";
  /** Whether it accepts sampling parameters such as the temperature. */
  readonly sampling: boolean;
}

/** Prices per token of each class of {@link Usage}. */
export interface TokenPrice {
  readonly input: PicosPerToken;
  readonly output: PicosPerToken;
  readonly cachedInput: PicosPerToken;
  readonly cacheWrite: PicosPerToken;
  readonly cacheWrite1h: PicosPerToken;
}

/** What a wallet pays or a route costs: tokens, or units. */
export interface Price extends TokenPrice {
  /** Set for a model that is priced by unit; its tokens are free then. */
  readonly unit?: UnitPrice | undefined;
  /** The prices of service tiers; absent where only the standard one has a price. */
  readonly tiers?: TierPrices | undefined;
  /** Fees of the provider's tools that the model may use. */
  readonly tools?: ToolFees | undefined;
  /** Prices of audio tokens where they differ from text. */
  readonly audio?: ModalPrice | undefined;
  /** Prices of image tokens where they differ from text. */
  readonly image?: ModalPrice | undefined;
}

/** The prices of service tiers, by their names. Never empty. */
type TierPrices = Readonly<Partial<Record<Tier, TokenPrice>>>;

/** Converts prices to JSON: decimal strings of USD per million tokens. */
export function printPrices(price: TokenPrice) {
  return {
    input: printPrice(price.input),
    output: printPrice(price.output),
    cached_input: printPrice(price.cachedInput),
    cache_write: printPrice(price.cacheWrite),
    cache_write_1h: printPrice(price.cacheWrite1h),
  };
}

/** Converts the prices of tiers to JSON; `undefined` without any. */
export function printTiers({ tiers }: Price) {
  return tiers && mapTiers(tiers, printPrices);
}

/** Converts prices to JSON with one member per class and tier: "input", "tiers.priority.input". */
export function listPrices(price: Price): Readonly<Record<string, string>> {
  const tiers = Object.entries(printTiers(price) ?? {}).flatMap(([tier, printed]) =>
    Object.entries(printed).map(([name, usd]) => [`tiers.${tier}.${name}`, usd] as const),
  );
  return { ...printPrices(price), ...Object.fromEntries(tiers) };
}

/** How a route is chosen among those of one priority. */
export type RouteChoice = "priority" | "cheapest" | "fastest" | "least_busy";

/**
 * Why an attempt took its route and key: `weight` and `affinity` chose among equals, `failover` is any but the
 * preferred one.
 */
export type RouteReason = RouteChoice | "weight" | "affinity" | "failover";

/** Multiplies the prices of every class and tier by a markup, each rounded up. */
export function scalePrice(price: Price, markup: Markup): Price {
  const { unit, tiers, tools, audio, image } = price;
  const scale = (picos: PicosPerToken) => scalePicos(picos, markup);
  return {
    ...scaleClasses(price, markup),
    unit: unit && mapUnitPrice(unit, scale),
    ...(tiers && { tiers: mapTiers(tiers, (each) => scaleClasses(each, markup)) }),
    ...(tools && { tools: mapToolFees(tools, scale) }),
    ...(audio && { audio: mapModalPrice(audio, scale) }),
    ...(image && { image: mapModalPrice(image, scale) }),
  };
}

/** Fills the fees of tools and the prices of audio and images that a price leaves out. */
export function fillApart(price: Price, other: Price | undefined): Price {
  if (!other?.tools && !other?.audio && !other?.image) return price;
  const tools = other.tools || price.tools ? { ...other.tools, ...price.tools } : undefined;
  return { ...price, tools, audio: price.audio ?? other.audio, image: price.image ?? other.image };
}

function scaleClasses(price: TokenPrice, markup: Markup): TokenPrice {
  return {
    input: scalePicos(price.input, markup),
    output: scalePicos(price.output, markup),
    cachedInput: scalePicos(price.cachedInput, markup),
    cacheWrite: scalePicos(price.cacheWrite, markup),
    cacheWrite1h: scalePicos(price.cacheWrite1h, markup),
  };
}

/** Returns the prices of tiers, each replaced. */
export function mapTiers<From, To>(
  tiers: Readonly<Partial<Record<Tier, From>>>,
  map: (each: From) => To,
): Readonly<Partial<Record<Tier, To>>> {
  const mapped: Partial<Record<Tier, To>> = {};
  for (const tier of TIERS) {
    const each = tiers[tier];
    if (each !== undefined) mapped[tier] = map(each);
  }
  return mapped;
}

/**
 * Fills the tiers of long prices and costs. A tier that only the ordinary one has costs in each class the dearer of tier
 * and long price. Tiers that the ordinary price does not have are not sold.
 */
export function fillLongTiers(prices: RoutePrices): RoutePrices {
  const { price, longPrice, cost, longCost } = prices;
  if (!longPrice?.tiers && !longCost?.tiers && !price.tiers && !cost?.tiers) return prices;
  return {
    price,
    longPrice: longPrice && withSoldTiers(longPrice, price),
    cost,
    longCost: longCost && cost ? withLongTiers(longCost, cost) : longCost,
  };
}

function withLongTiers(long: Price, { tiers }: Price): Price {
  if (!tiers) return long;
  const filled = mapTiers(tiers, (each) => ({
    input: dearer(each.input, long.input),
    output: dearer(each.output, long.output),
    cachedInput: dearer(each.cachedInput, long.cachedInput),
    cacheWrite: dearer(each.cacheWrite, long.cacheWrite),
    cacheWrite1h: dearer(each.cacheWrite1h, long.cacheWrite1h),
  }));
  return { ...long, tiers: { ...filled, ...long.tiers } };
}

function withSoldTiers(long: Price, price: Price): Price {
  const { tiers, ...standard } = withLongTiers(long, price);
  if (!tiers || !price.tiers) return tiers ? standard : long;
  const sold = Object.entries(tiers).filter(([tier]) => Object.hasOwn(price.tiers ?? {}, tier));
  return { ...standard, tiers: Object.fromEntries(sold) };
}

function dearer(one: PicosPerToken, other: PicosPerToken): PicosPerToken {
  return one > other ? one : other;
}

/** What a wallet pays for answers of one route, and what the route costs the operator. */
export interface RoutePrices {
  readonly price: Price;
  /** The price of a request above {@link LongContext.aboveInputTokens}; `undefined` means `price`. */
  readonly longPrice?: Price | undefined;
  /** The upstream cost; `undefined` when it is unknown. */
  readonly cost?: Price | undefined;
  /** The upstream cost of a long request; see {@link longCostOf}. */
  readonly longCost?: Price | undefined;
}

/** Returns the cost of a long request: unknown where only its price was given. */
export function longCostOf({ longPrice, cost, longCost }: RoutePrices): Price | undefined {
  return longCost ?? (longPrice ? undefined : cost);
}

/** Returns prices at a markup over the cost. Where the cost is unknown, the price stays. */
export function pricesAt({ price, longPrice, cost, longCost }: RoutePrices, markup: Markup): RoutePrices {
  const priced = cost ? fillApart(withOtherTiers(scalePrice(cost, markup), price), price) : price;
  const long = longCost
    ? fillApart(scalePrice(longCost, markup), priced)
    : longPrice && withFees(longPrice, priced);
  return fillLongTiers({ price: priced, longPrice: long, cost, longCost });
}

/** Fees do not depend on the length of the input. */
function withFees(long: Price, { tools }: Price): Price {
  return tools ? { ...long, tools } : long;
}

/** Adds the tiers whose cost is unknown, at the prices that they have. */
function withOtherTiers(price: Price, { tiers }: Price): Price {
  return tiers ? { ...price, tiers: { ...tiers, ...price.tiers } } : price;
}

/** One way to reach a model: an upstream, its name for the model, and its prices there. */
export interface Route extends RoutePrices {
  readonly upstream: string;
  readonly upstreamModel: string;
  /** Lower numbers are tried first. */
  readonly priority: number;
  /** The relative share of requests among routes of one priority, from 1. */
  readonly weight: number;
  /** The allowed Anthropic betas that change a price or the window; a trailing `*` matches any suffix. */
  readonly betas?: readonly string[] | undefined;
  readonly traits: ModelTraits;
  /** Tokens of input and output together, where they differ from the model's. */
  readonly contextWindow?: number | undefined;
  /** The maximum of output tokens, where it is below the model's. */
  readonly outputTokensMax?: number | undefined;
  /** What it can do; `undefined` where it is unknown. Requests that need more take other routes. */
  readonly can?: readonly Capability[] | undefined;
  /** Whether the provider keeps nothing of a request, as the operator knows it; absent where it may keep some. */
  readonly retention?: "none" | undefined;
  /** Id of the known model that its facts came from, "anthropic/claude-sonnet-4-5". */
  readonly known?: string | undefined;
}

/** The differences for requests with long input. */
export interface LongContext {
  /** The window in tokens under a beta that widens it; `undefined` takes the number in the beta's name. */
  readonly contextWindow: number | undefined;
  /** A request with more input tokens has the long price of its route. */
  readonly aboveInputTokens: number;
}

/** What a model can do beside text. The order is that of every list. */
export const CAPABILITIES = [
  "tools",
  "images",
  "documents",
  "audio",
  "reasoning",
  "structured_output",
  "prompt_caching",
] as const;

export type Capability = (typeof CAPABILITIES)[number];

/** A model of the catalog. `id` is its name for clients. */
export interface Model {
  readonly id: string;
  /** Sorted by priority; never empty. */
  readonly routes: readonly Route[];
  /** The maximum of input and output tokens together; for embeddings, of each prompt. */
  readonly contextWindow: number;
  readonly longContext?: LongContext | undefined;
  /** The maximum of output tokens; 0 for an embedding model. */
  readonly outputTokensMax: number;
  /** The maximum of output tokens sent for a request without one. */
  readonly outputTokensDefault: number;
  /** The input tokens that a hold reserves per inline image. */
  readonly imageTokens: number;
  /** The calls of the provider's tools that a request without a bound of its own may make. Default: 10. */
  readonly toolCallsDefault?: number | undefined;
  /** Whether cache marks are set in the prompts of clients that cannot set them. */
  readonly promptCaching?: "auto" | undefined;
  /** The price shown to clients; the price of a route may differ. */
  readonly price: Price;
  /** What clients are told that it can do; `undefined` where it is unknown. Routes have lists of their own. */
  readonly can?: readonly Capability[] | undefined;
  /** The upstream cost behind `price`; `undefined` when it is unknown. Never shown to clients. */
  readonly cost?: Price | undefined;
  /** Default: `priority`. */
  readonly routeChoice?: RouteChoice | undefined;
  /** Whether requests that share their beginning take one route and key. Default: true. */
  readonly promptAffinity?: boolean | undefined;
  /** When the model was added to the catalog, in Unix seconds. */
  readonly createdAtS: number;
}

/** Returns the cost of an answer, rounded up once. Units cost the price of `unit` itself, not of a variant. */
export function costOf(usage: Usage, price: Price): Nanos {
  let picos = BigInt(usage.inputTokens) * price.input + BigInt(usage.outputTokens) * price.output;
  // Most answers neither read nor write a prompt cache.
  if (usage.cachedInputTokens !== 0) picos += BigInt(usage.cachedInputTokens) * price.cachedInput;
  if (usage.cacheWriteTokens !== 0) picos += BigInt(usage.cacheWriteTokens) * price.cacheWrite;
  if (usage.cacheWrite1hTokens !== 0) picos += BigInt(usage.cacheWrite1hTokens) * price.cacheWrite1h;
  if (usage.units !== undefined && price.unit) picos += BigInt(usage.units) * price.unit.picos;
  if (usage.calls && price.tools) picos += feesOf(usage.calls, price.tools);
  if (usage.audio && price.audio) picos += modalDifference(usage.audio, price.audio, price);
  if (usage.image && price.image) picos += modalDifference(usage.image, price.image, price);
  return picosToNanos(picos);
}

/**
 * Returns what prompt caching saved of a cost: the cost of the same tokens without a cache less their cost.
 * Below zero when cached input was written and not read again.
 */
export function savedByCaching(usage: Usage, price: Price): Nanos {
  const uncached: Usage = {
    ...usage,
    inputTokens: inputTokensOf(usage),
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    ...(usage.audio && { audio: withoutCache(usage.audio) }),
    ...(usage.image && { image: withoutCache(usage.image) }),
  };
  return costOf(uncached, price) - costOf(usage, price);
}

function withoutCache({ inputTokens, cachedInputTokens, outputTokens }: ModalTokens): ModalTokens {
  return { inputTokens: inputTokens + cachedInputTokens, cachedInputTokens: 0, outputTokens };
}

/** Returns the input classes, the cheapest first; equal prices keep the order of {@link Usage}. */
export function cheapestFirst(price: Price): readonly InputClass[] {
  const prices: readonly (readonly [InputClass, PicosPerToken])[] = [
    ["inputTokens", price.input],
    ["cachedInputTokens", price.cachedInput],
    ["cacheWriteTokens", price.cacheWrite],
    ["cacheWrite1hTokens", price.cacheWrite1h],
  ];
  return prices.toSorted(([, one], [, other]) => Number(one - other)).map(([name]) => name);
}

/** Returns the highest price of an input token. */
export function dearestInput(price: TokenPrice): PicosPerToken {
  let dearest = price.input;
  if (price.cachedInput > dearest) dearest = price.cachedInput;
  if (price.cacheWrite > dearest) dearest = price.cacheWrite;
  if (price.cacheWrite1h > dearest) dearest = price.cacheWrite1h;
  return dearest;
}
