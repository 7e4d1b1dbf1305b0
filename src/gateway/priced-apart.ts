// What a request is priced for beside tokens of text: calls of the provider's tools, and tokens of audio and images.

import type { ApiKey } from "../accounts/keys/key.ts";
import { MODAL_CLASSES, type ModalPrice, type ModalTokens, modalTokens } from "../domain/modalities.ts";
import { dearestInput, type Model, type Price, type Route } from "../domain/model.ts";
import { mostOf, type PicosPerToken } from "../domain/money.ts";
import {
  areWithin,
  boundCalls,
  type CallBound,
  chargedCalls,
  dearestCalls,
  findLackingFees,
  REQUEST_FEE,
  TOOL_CALLS_DEFAULT,
  type ToolCalls,
  type ToolDemands,
  type ToolFees,
} from "../domain/tool-fees.ts";
import { areModalitiesCounted, fitModalities, type Usage } from "../domain/usage.ts";
import type { RequestHead, ToolBound, UpstreamRequestOptions } from "../wire/model-request.ts";

/** As much of a quote or a plan as the bounds depend on. */
interface Asked {
  readonly model: Pick<Model, "toolCallsDefault">;
  readonly request: RequestHead;
}

/** As much of a candidate as its fees depend on. */
interface Priced {
  readonly route: { readonly price: Price };
  readonly codec: { readonly isPassthrough: boolean };
}

/** Returns a route as it sells tools to a key: none at a fee where the key may use none. What every answer costs stays. */
export function soldRoute(route: Route, { forbidsPaidTools }: Pick<ApiKey, "forbidsPaidTools">): Route {
  const { price, longPrice } = route;
  if (!forbidsPaidTools || !price.tools) return route;
  const priced = { ...route, price: withoutFees(price) };
  return longPrice ? { ...priced, longPrice: withoutFees(longPrice) } : priced;
}

function withoutFees(price: Price): Price {
  if (!price.tools) return price;
  const kept = Object.entries(price.tools).filter(([name, fee]) => fee === 0n || name === REQUEST_FEE);
  return { ...price, tools: Object.fromEntries(kept) };
}

/** Returns the path of what a price does not hold: a tool without a fee, or output that is not text. */
export function findUnpricedAsk(
  { tools, audioOutput, imageOutput }: RequestHead,
  price: Price,
): string | undefined {
  if (audioOutput !== undefined && price.audio?.output === undefined) return audioOutput;
  if (imageOutput !== undefined && price.image?.output === undefined) return imageOutput;
  return tools && findLackingFees(tools, price.tools)?.path;
}

/** What is changed of the tools of a request for a route; `undefined` for nothing. */
export function toolOptionsFor(
  asked: Asked,
  { tools: fees }: Price,
): Pick<UpstreamRequestOptions, "toolBound" | "droppedTools"> | undefined {
  const { tools } = asked.request;
  if (!tools) return undefined;
  const lacking = findLackingFees(tools, fees);
  return {
    ...(fees && { toolBound: toolBoundFor(asked, tools, fees) }),
    ...(lacking && { droppedTools: lacking.dropped }),
  };
}

/** As much of a route as shows which tools its body keeps. */
interface Printed {
  readonly printOptions: Pick<UpstreamRequestOptions, "droppedTools">;
  readonly pair: { readonly isPassthrough: boolean };
}

/** Leaves out routes whose bodies lose tools at the provider, where another route serves all of them. */
export function preferWhole<Reachable extends Printed>(routes: readonly Reachable[]): readonly Reachable[] {
  const whole = routes.filter(({ printOptions }) => !printOptions.droppedTools);
  return whole.some(({ pair }) => pair.isPassthrough) ? whole : routes;
}

/** The bound that is sent with a request whose tools have fees; `undefined` for every other. */
function toolBoundFor(
  { model }: Asked,
  { tools, shared }: ToolDemands,
  fees: ToolFees,
): ToolBound | undefined {
  // A tool with a bound of its own in the format takes no other.
  const unbounded = tools.filter(({ callsMax }) => shared !== undefined || callsMax === undefined);
  const names = unbounded.map(({ name }) => name).filter((name) => Object.hasOwn(fees, name));
  return names.length === 0 ? undefined : { names, callsMax: callsDefaultOf(model) };
}

/** Whether tools run at the provider of a route: not in a translation, and not where all of them are dropped. */
export function runsTools({ input, tools }: RequestHead, { route, codec }: Priced): boolean {
  if (!input.serverTools || !codec.isPassthrough) return false;
  if (!tools?.areAll) return true;
  const dropped = findLackingFees(tools, route.price.tools)?.dropped ?? [];
  return tools.tools.some(({ name }) => !dropped.includes(name));
}

/** The most that the tools of a request cost on one route. Translated requests have none of their own. */
export function dearestFees(asked: Asked, { route, codec }: Priced): bigint {
  const { tools: fees } = route.price;
  return fees ? dearestCalls(callBoundOf(asked, codec.isPassthrough, fees), fees) : 0n;
}

function callBoundOf({ model, request }: Asked, isPassthrough: boolean, fees: ToolFees): CallBound {
  const demands = isPassthrough ? request.tools : undefined;
  return boundCalls(demands, fees, { callsDefault: callsDefaultOf(model), answers: request.choices });
}

function callsDefaultOf({ toolCallsDefault = TOOL_CALLS_DEFAULT }: Asked["model"]): number {
  return toolCallsDefault;
}

/** The dearest input of a request: of audio and images only where it may have some. */
export function dearestInputOf(price: Price, { input }: RequestHead): PicosPerToken {
  let dearest = dearestInput(price);
  if (price.audio && input.unbounded) dearest = mostOf(dearest, dearestModal(price.audio));
  if (price.image && (input.unbounded || input.images > 0))
    dearest = mostOf(dearest, dearestModal(price.image));
  return dearest;
}

/** The dearest output of a request: of images where the model makes some, of audio where it is asked for. */
export function dearestOutputOf(
  { output, audio, image }: Price,
  { audioOutput }: RequestHead,
): PicosPerToken {
  const ofImages = mostOf(output, image?.output ?? 0n);
  return audioOutput === undefined ? ofImages : mostOf(ofImages, audio?.output ?? 0n);
}

/** A usage as it is charged, and whether tokens with a price of their own, or calls, were cut off it. */
interface ChargedUsage {
  readonly usage: Usage;
  readonly isCut: boolean;
  readonly areCallsCut: boolean;
}

/** What an answer reported, before anything was cut off it. */
interface ReportedParts {
  readonly usage: Usage;
  readonly calls: ToolCalls | undefined;
}

/**
 * Adds the calls that are charged to a usage that is within its bound, and keeps tokens of audio and images that have
 * a price which the hold took. A report of more of them than all tokens cannot be: they are charged as text.
 */
export function chargeApart(
  asked: Asked,
  { route, codec }: Priced,
  counted: Usage,
  reported: ReportedParts,
): ChargedUsage {
  const { price } = route;
  const isPlain = !price.tools && !counted.audio && !counted.image;
  if (isPlain) return { usage: counted, isCut: false, areCallsCut: false };
  const modal = counted.audio || counted.image ? keepPriced(counted, { asked, price, reported }) : undefined;
  const usage = modal?.usage ?? counted;
  const isCut = modal?.isCut ?? false;
  if (!price.tools) return { usage, isCut, areCallsCut: false };
  const bound = callBoundOf(asked, codec.isPassthrough, price.tools);
  const calls = chargedCalls(reported.calls, bound, price.tools);
  const areCallsCut = reported.calls !== undefined && !areWithin(reported.calls, bound, price.tools);
  return { usage: calls ? { ...usage, calls } : usage, isCut: isCut || areCallsCut, areCallsCut };
}

interface Keeping {
  readonly asked: Asked;
  readonly price: Price;
  readonly reported: ReportedParts;
}

function keepPriced(
  { audio, image, ...text }: Usage,
  { asked, price, reported }: Keeping,
): Omit<ChargedUsage, "areCallsCut"> {
  const priced = { ...(price.audio && { audio }), ...(price.image && { image }) };
  if (!priced.audio && !priced.image) return { usage: text, isCut: false };
  if (!areModalitiesCounted({ ...reported.usage, ...priced })) return { usage: text, isCut: true };
  const { input, audioOutput } = asked.request;
  const heard =
    priced.audio && limit(priced.audio, { input: input.unbounded, output: audioOutput !== undefined });
  const seen =
    priced.image && limit(priced.image, { input: input.unbounded || input.images > 0, output: true });
  const isCut = isLess(heard, priced.audio) || isLess(seen, priced.image);
  const kept = { ...text, ...(heard && { audio: heard }), ...(seen && { image: seen }) };
  return { usage: fitModalities(kept), isCut };
}

function limit(
  tokens: ModalTokens,
  held: { readonly input: boolean; readonly output: boolean },
): ModalTokens | undefined {
  return modalTokens(
    held.input ? tokens.inputTokens : 0,
    held.input ? tokens.cachedInputTokens : 0,
    held.output ? tokens.outputTokens : 0,
  );
}

function isLess(kept: ModalTokens | undefined, reported: ModalTokens | undefined): boolean {
  return reported !== undefined && MODAL_CLASSES.some(([name]) => (kept?.[name] ?? 0) < reported[name]);
}

function dearestModal({ input = 0n, cachedInput = 0n }: ModalPrice): PicosPerToken {
  return mostOf(input, cachedInput);
}
