import type { Caller } from "../accounts/keys/key.ts";
import type { Body, Soon } from "../bodies/body.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Model, Route } from "../domain/model.ts";
import type { TierOffer } from "../domain/tiers.ts";
import { GatewayError } from "../errors.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { PrintOptions } from "../wire/format.ts";
import type { AnswerReader } from "../wire/format-pair.ts";
import { type FormatPair, findFormatPair, passthroughContext } from "../wire/format-pair.ts";
import type { ModelRequest, RequestHead } from "../wire/model-request.ts";
import { chooseAble } from "./abilities.ts";
import type { Gateway } from "./gateway.ts";
import { allowsRoute, preferencesOf } from "./preferences.ts";
import { findUnpricedAsk, preferWhole, soldRoute, toolOptionsFor } from "./priced-apart.ts";
import { outputTokensMaxOf } from "./quote.ts";
import type { Call, Candidate, Plan } from "./request.ts";
import { askedOf, mayAsk, offerTier } from "./tier-prices.ts";

/**
 * A route whose upstream speaks a format that the client's format passes through to or can be translated to.
 */
interface ReachableRoute {
  readonly route: Route;
  readonly upstream: Upstream;
  readonly pair: FormatPair;
  readonly printOptions: PrintOptions;
  readonly contextWindow: number | undefined;
  readonly tier: TierOffer | undefined;
}

/** A request that is planned. */
interface Planning {
  readonly call: Call;
  readonly caller: Caller;
  readonly body: Body;
}

type Candidates = Pick<Plan, "candidates" | "textBytes">;

/**
 * Chooses the model of a request and lists the routes that can answer it. Throws the errors of
 * {@link selectModel}, `untranslatable` when no route can express the request, and `not_built` when no route is
 * reachable.
 */
export function planRequest(gateway: Gateway, { call, caller, body }: Planning): Soon<Plan> {
  const { request } = body;
  call.trace?.enter("plan");
  const model = selectModel(gateway.catalog, caller, request);
  call.record.model = model.id;
  call.trace?.note({ model: model.id });
  const reachable = findReachable(gateway, { call, caller, model, request });
  const isPassthrough = reachable.every(({ pair }) => pair.isPassthrough);
  const planOf = ({ candidates, textBytes }: Candidates): Plan => {
    const able = chooseAble(candidates, { model, request });
    call.trace?.note({ candidates: able.candidates.length });
    if (able.skipped) noteSkipped(call, able.skipped);
    const mayClamp = call.allowsClamp || caller.key.allowsClamp;
    return { model, request, ...able, textBytes, mayClamp };
  };
  return isPassthrough ? planOf(passThrough(reachable, request)) : translate(reachable, body).then(planOf);
}

/**
 * Finds the model that a request names. Throws `account_suspended`, `unknown_model`, `model_not_allowed`, or
 * `not_built` when a request expects output of an embedding model, or other units than the model is priced by.
 */
export function selectModel(
  catalog: Catalog,
  { key, accountSuspended, markup }: Caller,
  { model: id, outputTokensMax, units }: Pick<ModelRequest, "model" | "outputTokensMax" | "units">,
): Model {
  if (accountSuspended) throw new GatewayError("account_suspended");
  const model = catalog.find(id, markup);
  if (!model) throw new GatewayError("unknown_model");
  if (!mayUse(key, id)) throw new GatewayError("model_not_allowed");
  if (model.price.unit && model.price.unit.name !== units?.name) throw new GatewayError("not_built");
  if (model.outputTokensMax === 0 && outputTokensMax !== 0) throw new GatewayError("not_built");
  return model;
}

/** Whether the key is allowed to use a model of the catalog. */
export function mayUse(key: Caller["key"], modelId: string): boolean {
  return key.models === undefined || key.models.includes(modelId);
}

function findReachable(
  { upstreams }: Gateway,
  { call, caller, model, request }: Omit<Planning, "body"> & Pick<Plan, "model" | "request">,
): readonly ReachableRoute[] {
  const outputTokensMax = outputTokensMaxOf(model, request);
  const marksPrefixes = model.promptCaching === "auto" && !call.wire.hasCacheMarks;
  const reachable: ReachableRoute[] = [];
  const { stream, unhosted } = request;
  const options = { stream, outputTokensMax, marksPrefixes };
  let refused: string | undefined;
  /** Whether a route has the tier that the request asks for, which the key may not. */
  let isTierForbidden = false;
  let unpriced: string | undefined;
  let isToolForbidden = false;
  const preferences = preferencesOf(call);
  let isUnwanted = false;
  for (const listed of model.routes) {
    const route = request.tools ? soldRoute(listed, caller.key) : listed;
    const upstream = upstreams.get(route.upstream);
    const pair = upstream && findFormatPair(call.wire, upstream.surfacesOf(route.upstreamModel));
    if (!pair) continue;
    if (unhosted !== undefined && upstream.messagesHost && pair.isPassthrough) {
      refused = unhosted;
      continue;
    }
    const mayHaveTier = request.tier ?? upstream.defaultTier;
    const tier = mayHaveTier && offerTier(route, placeOf(pair, upstream), request);
    if (request.tier && !tier) continue;
    if (preferences && !allowsRoute(preferences, { model, route, request, tier })) {
      isUnwanted = true;
      continue;
    }
    if (tier && !mayAsk(caller.key.tiers, tier)) {
      isTierForbidden = true;
      continue;
    }
    const unpricedPath = pair.isPassthrough ? findUnpricedAsk(request, route.price) : undefined;
    if (unpricedPath !== undefined) {
      unpriced = unpricedPath;
      isToolForbidden ||= route !== listed && findUnpricedAsk(request, listed.price) === undefined;
      continue;
    }
    const { optIns } = pair.format;
    const hostOptions = optIns?.optionsFor(route, upstream.messagesHost, call.headers);
    const planned = printOptionsFor(route, upstream, options);
    const tools = request.tools && pair.isPassthrough && toolOptionsFor({ model, request }, route.price);
    const own = tools ? { ...planned, ...tools } : planned;
    const hosted = hostOptions ? { ...own, ...hostOptions } : own;
    const asked = mayHaveTier && askedOf(request, upstream);
    const printOptions = asked ? { ...hosted, ...asked } : hosted;
    // Features of the client are sent only where its body passes through.
    const window = pair.isPassthrough && optIns ? optIns.windowOn(route, call.headers, request) : 0;
    const contextWindow = windowOf(route, model, window);
    reachable.push({ route, upstream, pair, printOptions, contextWindow, tier });
  }
  if (reachable.length === 0 && isUnwanted) throw new GatewayError("no_wanted_route");
  if (reachable.length === 0 && isTierForbidden) throw new GatewayError("tier_not_allowed");
  if (refused !== undefined && reachable.length === 0)
    throw new GatewayError("untranslatable", { path: refused });
  if (isToolForbidden && reachable.length === 0) throw new GatewayError("paid_tool_not_allowed");
  const path = unpriced ?? request.tier?.path;
  if (path !== undefined && reachable.length === 0) throw new GatewayError("unpriced_field", { path });
  return request.tools ? preferWhole(reachable) : reachable;
}

function placeOf({ format }: FormatPair, { messagesHost, provider, defaultTier }: Upstream) {
  return { surface: format.surface, messagesHost, provider, defaultTier };
}

/** The window of a route, and what features of the client open of it; `undefined` for the model's own. */
export function windowOf(
  { contextWindow: own }: Pick<Route, "contextWindow">,
  { contextWindow, longContext }: Model,
  opened: number,
): number | undefined {
  return opened === 0 ? own : Math.max(own ?? contextWindow, longContext?.contextWindow ?? opened);
}

/** Records the routes that were left out: "small cannot_images". */
function noteSkipped(call: Call, skipped: NonNullable<Plan["skipped"]>): void {
  const names = skipped.map(({ upstream, reason }) => `${upstream} ${reason}`);
  call.record.skipped = names;
  call.trace?.note({ skipped: names });
}

function printOptionsFor(
  { upstream, upstreamModel: model, traits }: Route,
  { outputLimitField }: Upstream,
  {
    stream,
    outputTokensMax,
    marksPrefixes,
  }: Pick<PrintOptions, "stream" | "outputTokensMax" | "marksPrefixes">,
): PrintOptions {
  const origin = `${upstream} ${model}`;
  return { model, outputTokensMax, outputLimitField, stream, traits, marksPrefixes, origin };
}

/** Lists candidates that all get the client's own format; they share one codec. */
function passThrough(reachable: readonly ReachableRoute[], request: RequestHead): Candidates {
  const codec = reachable[0]?.pair.answers(passthroughContext(request));
  if (!codec) throw new GatewayError("not_built");
  return { candidates: reachable.map((each) => candidateOf(each, codec)), textBytes: 0 };
}

/** A translation to one format, and the options in which the bodies for its upstreams differ in size. */
interface Translation {
  readonly pair: FormatPair;
  readonly options: PrintOptions[];
  /** `undefined` until planned, and when the request cannot be expressed in the format. */
  codec: AnswerReader | undefined;
}

/** Lists the candidates of a request that must be translated for at least one route. */
async function translate(reachable: readonly ReachableRoute[], body: Body): Promise<Candidates> {
  const translations = listTranslations(reachable);
  const planned = await body.plan(
    translations.map(({ pair, options }) => ({ surface: pair.format.surface, options })),
  );
  let textBytes = 0;
  let untranslatable: unknown;
  for (const [index, translation] of translations.entries()) {
    const plan = planned[index];
    if (!plan) continue;
    if ("untranslatable" in plan) {
      untranslatable ??= plan.untranslatable;
      continue;
    }
    translation.codec = translation.pair.answers(plan.context);
    textBytes = Math.max(textBytes, plan.textBytes);
  }
  const passthrough = passthroughContext(body.request);
  const candidates = reachable.flatMap((each) => {
    const { pair } = each;
    const codec = pair.isPassthrough
      ? pair.answers(passthrough)
      : translations.find((translation) => translation.pair === pair)?.codec;
    return codec ? [candidateOf(each, codec)] : [];
  });
  if (candidates.length === 0) throw untranslatable ?? new GatewayError("not_built");
  return { candidates, textBytes };
}

/** Groups the translated routes by format. Bodies that differ only in names are measured once. */
function listTranslations(reachable: readonly ReachableRoute[]): readonly Translation[] {
  const translations: Translation[] = [];
  for (const { pair, printOptions } of reachable) {
    if (pair.isPassthrough) continue;
    const known = translations.find((each) => each.pair === pair);
    if (!known) translations.push({ pair, options: [printOptions], codec: undefined });
    else if (!known.options.some((each) => isAlike(each, printOptions))) known.options.push(printOptions);
  }
  return translations;
}

function isAlike({ traits: one }: PrintOptions, { traits: other }: PrintOptions): boolean {
  return one.reasoning === other.reasoning && one.sampling === other.sampling;
}

function candidateOf(reachable: ReachableRoute, codec: AnswerReader): Candidate {
  const { route, upstream, printOptions, contextWindow, tier } = reachable;
  return { route, upstream, codec, printOptions, contextWindow, tier };
}
