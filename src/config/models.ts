import { readPrice } from "../catalog/price.ts";
import { readTraits } from "../catalog/traits.ts";
import type { Model, Price, Route } from "../domain/model.ts";
import type { ConfigFile, ModelEntry } from "./schema.ts";

const OUTPUT_TOKENS_DEFAULT = 4_096;
const IMAGE_TOKENS = 2_000;

/** Turns the checked `models` of the file into the catalog's; `createdAtS` is when the file was written. */
export function readModels(file: ConfigFile, createdAtS: number): readonly Model[] {
  return Object.entries(file.models ?? {}).map(([id, entry]) => readModel(id, entry, createdAtS));
}

function readModel(id: string, entry: ModelEntry, createdAtS: number): Model {
  const price = readPrice(entry.price);
  return {
    id,
    routes: readRoutes(entry, price),
    contextWindow: entry.context_window,
    outputTokensMax: entry.max_output_tokens,
    outputTokensDefault:
      entry.default_max_output_tokens ?? Math.min(entry.max_output_tokens, OUTPUT_TOKENS_DEFAULT),
    imageTokens: entry.image_tokens ?? IMAGE_TOKENS,
    price,
    createdAtS,
  };
}

/** Stable by priority, so that routes of one priority keep the order of the file. */
function readRoutes(entry: ModelEntry, price: Price): readonly Route[] {
  const routes = entry.routes.map((route) => ({
    upstream: route.upstream,
    upstreamModel: route.model,
    priority: route.priority ?? 1,
    weight: route.weight ?? 1,
    price: route.price ? readPrice(route.price) : price,
    traits: readTraits(route.model, route),
  }));
  return routes.sort((one, other) => one.priority - other.priority);
}
