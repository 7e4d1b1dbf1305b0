import type { Model, Route, TokenPrice } from "../domain/model.ts";
import { type PicosPerToken, parsePrice } from "../domain/money.ts";
import type { TierOffer } from "../domain/tiers.ts";
import { BYTES_PER_TOKEN_MIN } from "../domain/usage.ts";
import { GatewayError } from "../errors.ts";
import type { RequestHead } from "../wire/model-request.ts";

/** The headers by which a client bounds the routes of one request, as they were sent. They reach no upstream. */
export interface PreferenceHeaders {
  readonly upstreams: string | null;
  readonly notUpstreams: string | null;
  readonly inputPriceMax: string | null;
  readonly outputPriceMax: string | null;
  readonly retention: string | null;
}

const NAMES = {
  upstreams: "x-tollgate-upstreams",
  notUpstreams: "x-tollgate-not-upstreams",
  inputPriceMax: "x-tollgate-max-price-input-usd",
  outputPriceMax: "x-tollgate-max-price-output-usd",
  retention: "x-tollgate-retention",
} as const;

/** Reads the headers; `undefined` where all are missing, as in most requests. */
export function readPreferenceHeaders(headers: Headers): PreferenceHeaders | undefined {
  const upstreams = headers.get(NAMES.upstreams);
  const notUpstreams = headers.get(NAMES.notUpstreams);
  const inputPriceMax = headers.get(NAMES.inputPriceMax);
  const outputPriceMax = headers.get(NAMES.outputPriceMax);
  const retention = headers.get(NAMES.retention);
  const read = { upstreams, notUpstreams, inputPriceMax, outputPriceMax, retention };
  return Object.values(read).every((value) => value === null) ? undefined : read;
}

/** As much of a call as its preferences depend on. */
interface PreferringCall {
  readonly attribution?: { readonly preferences?: PreferenceHeaders | undefined } | undefined;
}

/** Which routes a client allows for one request. */
interface Preferences {
  readonly upstreams: readonly string[] | undefined;
  readonly notUpstreams: readonly string[];
  readonly inputPriceMax: PicosPerToken | undefined;
  readonly outputPriceMax: PicosPerToken | undefined;
  /** Whether the provider may keep nothing of the request. */
  readonly keepsNothing: boolean;
}

/** Which routes a client allows; `undefined` for all. Throws `wrong_header`. */
export function preferencesOf({ attribution }: PreferringCall): Preferences | undefined {
  return attribution?.preferences && readPreferences(attribution.preferences);
}

/** Checks the headers. Throws `wrong_header` with the name of one that is not valid. */
export function readPreferences(headers: PreferenceHeaders): Preferences {
  const { upstreams, notUpstreams, inputPriceMax, outputPriceMax, retention } = headers;
  if (retention !== null && retention !== "none") rejectHeader(NAMES.retention);
  return {
    upstreams: upstreams === null ? undefined : readList(upstreams, NAMES.upstreams),
    notUpstreams: notUpstreams === null ? [] : readList(notUpstreams, NAMES.notUpstreams),
    inputPriceMax: readMax(inputPriceMax, NAMES.inputPriceMax),
    outputPriceMax: readMax(outputPriceMax, NAMES.outputPriceMax),
    keepsNothing: retention === "none",
  };
}

const UPSTREAMS_MAX = 32;
const UPSTREAM = /^[^\s,\p{Cc}]{1,256}$/u;

/** Names that no upstream has are as good as any other, so that clients do not learn which ones there are. */
function readList(text: string, header: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.length > UPSTREAMS_MAX || !names.every((name) => UPSTREAM.test(name))) rejectHeader(header);
  return names;
}

function readMax(text: string | null, header: string): PicosPerToken | undefined {
  if (text === null) return undefined;
  try {
    return parsePrice(text);
  } catch {
    return rejectHeader(header);
  }
}

export function rejectHeader(header: string): never {
  throw new GatewayError("wrong_header", { path: header });
}

/** A route for one request, with what its provider may serve of the tier that is asked for. */
interface AskedRoute {
  readonly model: Model;
  readonly route: Route;
  readonly request: Pick<RequestHead, "input">;
  readonly tier?: TierOffer | undefined;
}

/** Whether a client allows a route for its request. */
export function allowsRoute(preferences: Preferences, asked: AskedRoute): boolean {
  const { upstreams, notUpstreams, inputPriceMax, outputPriceMax, keepsNothing } = preferences;
  const { upstream, retention } = asked.route;
  if (upstreams && !upstreams.includes(upstream)) return false;
  if (notUpstreams.includes(upstream) || (keepsNothing && retention !== "none")) return false;
  return pricesOf(asked).every(
    ({ input, output }) => !isAbove(input, inputPriceMax) && !isAbove(output, outputPriceMax),
  );
}

function isAbove(price: PicosPerToken, max: PicosPerToken | undefined): boolean {
  return max !== undefined && price > max;
}

/** The prices of tokens that an answer may come to: of its tier, and of long input where the prompt may be long. */
function pricesOf({ model, route, request, tier }: AskedRoute): readonly TokenPrice[] {
  const { price, longPrice } = route;
  const { textBytes, unbounded, serverTools } = request.input;
  const isUnbounded = unbounded || serverTools;
  const above = model.longContext?.aboveInputTokens ?? Infinity;
  const mayBeLong = longPrice && (isUnbounded || textBytes / BYTES_PER_TOKEN_MIN > above);
  const listed = mayBeLong ? [price, longPrice] : [price];
  const tiers = tier ? [...(tier.asked ? [tier.asked] : []), ...tier.choices] : [];
  return listed.flatMap((each) => [each, ...tiers.flatMap((name) => each.tiers?.[name] ?? [])]);
}
