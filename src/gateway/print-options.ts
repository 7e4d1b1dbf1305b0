import type { Route } from "../domain/model.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { PrintOptions } from "../wire/ends.ts";
import type { Quote } from "./quote.ts";

/** What the body for a route's upstream must know beside the request itself. */
export function printOptionsFor(
  { request, ceiling }: Pick<Quote, "request" | "ceiling">,
  { upstreamModel, traits, betas }: Route,
  { outputLimitField }: Upstream,
): PrintOptions {
  const { stream } = request;
  return { model: upstreamModel, outputTokensMax: ceiling, outputLimitField, betas, stream, traits };
}
