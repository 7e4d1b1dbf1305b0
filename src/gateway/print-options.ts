import type { Route } from "../domain/model.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { isClaudeModel, type PrintOptions, type Source } from "../wire/codecs.ts";
import type { Quote } from "./quote.ts";

/** Names an upstream and its model. */
function originOf({ upstream, upstreamModel }: Route): string {
  return `${upstream} ${upstreamModel}`;
}

/** Where the answers of a route come from. */
export function sourceOf(route: Route): Source {
  return { origin: originOf(route), isClaude: isClaudeModel(route.traits) };
}

/** What the body for a route's upstream must know beside the request itself. */
export function printOptionsFor(
  { request, ceiling }: Pick<Quote, "request" | "ceiling">,
  route: Route,
  { outputLimitField }: Upstream,
): PrintOptions {
  const { upstreamModel: model, traits, betas } = route;
  const { stream } = request;
  const origin = originOf(route);
  return { model, outputTokensMax: ceiling, outputLimitField, betas, stream, traits, origin };
}
