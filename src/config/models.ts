import { type PriceTexts, readPrice, readTraits } from "../catalog/catalog.ts";
import type { LongContext, Model, Price, Route } from "../domain/model.ts";
import type { ConfigFile, ModelEntry } from "./schema.ts";

const OUTPUT_TOKENS_DEFAULT = 4_096;
const IMAGE_TOKENS = 2_000;

/** Turns the checked `models` of the file into the catalog's; `createdAtS` is when the file was written. */
export function readModels(file: ConfigFile, createdAtS: number): readonly Model[] {
  const { models = {}, upstreams = {} } = file;
  return Object.entries(models).map(([id, entry]) => ({
    id,
    routes: readRoutes(entry, upstreams),
    contextWindow: entry.context_window,
    longContext: readLongContext(entry),
    outputTokensMax: entry.max_output_tokens,
    outputTokensDefault:
      entry.default_max_output_tokens ?? Math.min(entry.max_output_tokens, OUTPUT_TOKENS_DEFAULT),
    imageTokens: entry.image_tokens ?? IMAGE_TOKENS,
    price: readPrice(entry.price),
    createdAtS,
  }));
}

/** The threshold of long prompts is the model's `context_window` unless `above_input_tokens` is given. */
function readLongContext({ context_window, long_context: long }: ModelEntry): LongContext | undefined {
  return (
    long && {
      contextWindow: long.context_window,
      aboveInputTokens: long.above_input_tokens ?? context_window,
    }
  );
}

/** Stable by priority, so that routes of one priority keep the order of the file. */
function readRoutes(entry: ModelEntry, upstreams: NonNullable<ConfigFile["upstreams"]>): readonly Route[] {
  const routes = entry.routes.map((route) => ({
    upstream: route.upstream,
    upstreamModel: route.model,
    priority: route.priority ?? 1,
    weight: route.weight ?? 1,
    price: readPrice(route.price ?? entry.price),
    longPrice: readLongPrice(route.long_context_price ?? entry.long_context?.price),
    betas: readBetas(entry.anthropic_betas, upstreams[route.upstream]?.anthropic_betas),
    traits: readTraits(route.model, route),
  }));
  return routes.sort((one, other) => one.priority - other.priority);
}

function readLongPrice(texts: PriceTexts | undefined): Price | undefined {
  return texts && readPrice(texts);
}

function readBetas(...lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const betas = lists.flatMap((list) => list ?? []);
  return betas.length > 0 ? betas : undefined;
}
