import { readRoutePrices } from "../catalog/prices.ts";
import { feesAt, isGroundedByPrompt } from "../catalog/provider-fees.ts";
import { readAbilities, readTraits } from "../catalog/traits.ts";
import type { Price, Route, RoutePrices } from "../domain/model.ts";
import type { ConfigFile, ModelEntry, UpstreamEntry } from "./schema.ts";

/** Sorts by priority. The sort is stable: routes of one priority keep the order of the file. */
export function readRoutes(
  entry: ModelEntry,
  upstreams: NonNullable<ConfigFile["upstreams"]>,
): readonly Route[] {
  const routes = entry.routes.map((route) => {
    const prices = readRoutePrices({
      price: route.price ?? entry.price,
      longPrice: route.long_context_price ?? entry.long_context?.price,
      cost: route.cost ?? entry.cost,
      longCost: route.long_context_cost ?? entry.long_context?.cost,
      fees: entry.max_output_tokens === 0 ? undefined : feesOf(upstreams[route.upstream]),
    });
    return {
      upstream: route.upstream,
      upstreamModel: route.model,
      priority: route.priority ?? 1,
      weight: route.weight ?? 1,
      ...(isGroundedByPrompt(route.model) ? prices : withoutGrounding(prices)),
      betas: readBetas(entry.anthropic_betas, upstreams[route.upstream]?.anthropic_betas, betasOf(prices)),
      traits: readTraits(route.model, route),
      can: readAbilities(route.can ?? entry.can),
      retention: readRetention(route.retention ?? upstreams[route.upstream]?.retention),
      contextWindow: route.context_window,
      outputTokensMax: route.max_output_tokens,
      known: route.known ?? entry.known,
    };
  });
  return routes.sort((one, other) => one.priority - other.priority);
}

/** A fee for grounding sells nothing where the provider bills each query. */
function withoutGrounding(prices: RoutePrices): RoutePrices {
  const { price, longPrice } = prices;
  if (price.tools?.grounding === undefined) return prices;
  return { ...prices, price: ungrounded(price), ...(longPrice && { longPrice: ungrounded(longPrice) }) };
}

function ungrounded({ tools: { grounding: _, ...tools } = {}, ...price }: Price): Price {
  return { ...price, tools };
}

function readRetention(written: "none" | "some" | undefined): Route["retention"] {
  return written === "none" ? "none" : undefined;
}

/** The betas of a fast answer have a price where the tier `fast` has one. */
function betasOf({ price: { tiers } }: RoutePrices): readonly string[] | undefined {
  return tiers?.fast || tiers?.fast_us ? ["fast-mode-*"] : undefined;
}

/** What the provider of an upstream charges for its tools, where the upstream has the provider's own address. */
function feesOf(upstream: UpstreamEntry | undefined) {
  return upstream && feesAt(upstream.protocol, upstream.base_url);
}

function readBetas(...lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const betas = lists.flatMap((list) => list ?? []);
  return betas.length > 0 ? betas : undefined;
}
