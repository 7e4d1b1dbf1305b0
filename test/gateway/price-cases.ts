// Random prices as a file has them, and the models that the program reads from it.
import fc from "fast-check";
import { createProblems } from "../../src/config/problems.ts";
import { checkRules } from "../../src/config/rules.ts";
import { checkShape } from "../../src/config/schema.ts";
import { readModels } from "../../src/config/settings.ts";
import type { Model } from "../../src/domain/model.ts";
import type { ApartRoute } from "./apart-oracle.ts";

export const WINDOW = 100_000;
export const OUTPUT_MAX = 2_000;

/** A decimal number of so many digits before the point, and as many or fewer behind it. */
const text = (digits: number, decimals: number) =>
  fc
    .tuple(fc.nat({ max: 10 ** digits - 1 }), fc.nat({ max: decimals }), fc.nat({ max: 10 ** decimals - 1 }))
    .map(([whole, length, part]) =>
      length === 0 ? `${whole}` : `${whole}.${`${part}`.padStart(decimals, "0").slice(0, length)}`,
    );

export const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const usd = text(3, 6);
const fee = text(2, 9);
const classes = { input: usd, output: usd, cached_input: usd, cache_write: usd, cache_write_1h: usd };
const required = { requiredKeys: ["input", "output"] as ("input" | "output")[] };
const tierPrices = fc.record(classes, required);
const TIERS = ["priority", "flex", "scale", "optimized", "fast", "us", "fast_us"] as const;
const tiers = fc
  .record(Object.fromEntries(TIERS.map((tier) => [tier, tierPrices])), { requiredKeys: [] })
  .filter((each) => Object.keys(each).length > 0);
const modal = fc.record({ input: usd, output: usd, cached_input: usd }, { requiredKeys: [] });
const fees = fc.record(
  { web_search: fee, web_fetch: fee, file_search: fee, grounding: fee, request: fee },
  { requiredKeys: [] },
);
const prices = fc.record(
  { ...classes, tiers, tools: fees, audio_tokens: modal, image_tokens: modal },
  required,
);
const longPrices = fc.record({ ...classes, tiers }, required);

/** A factor over a cost. */
export const factor = fc.oneof(
  fc.constantFrom("1", "1.15", "0.0001", "1000", "0.9999"),
  text(2, 4).filter((markup) => Number(markup) > 0),
);

const price = fc.oneof(prices, fc.record({ markup: factor }));
const route = fc.record({
  price: maybe(price),
  cost: maybe(prices),
  long_context_price: maybe(longPrices),
  long_context_cost: maybe(longPrices),
});

/** What a file has of a model: its own keys, those of long input, and those of its routes. */
export const pricedModels = ({ aboveMax, routesMax }: { aboveMax: number; routesMax: number }) =>
  fc.record({
    model: fc.record({ price: maybe(price), cost: maybe(prices) }),
    long: maybe(
      fc.record({
        price: maybe(longPrices),
        cost: maybe(longPrices),
        above: fc.integer({ min: 1, max: aboveMax }),
      }),
    ),
    routes: fc.array(route, { minLength: 1, maxLength: routesMax }),
  });

export type PricedModel = ReturnType<typeof pricedModels> extends fc.Arbitrary<infer Each> ? Each : never;

/** Removes members without a value, as a file has none. */
function defined<T extends object>(value: { readonly [Name in keyof T]: T[Name] | undefined }): T {
  return JSON.parse(JSON.stringify(value));
}

/** The upstream of each route, with the model's name there. The last one repeats. */
export type Places = readonly { readonly upstream: string; readonly model: string }[];

/** Reads the file of a model; `undefined` when the rules refuse it. */
export function readModel(
  { model, long, routes }: PricedModel,
  places: Places = [{ upstream: "up", model: "theirs" }],
  id = "m",
): Model | undefined {
  const upstream = { protocol: "openai", base_url: "https://up.example/v1", api_key: "k" };
  const file = defined<object>({
    upstreams: Object.fromEntries(places.map((place) => [place.upstream, upstream])),
    models: {
      [id]: {
        ...model,
        long_context: long && { price: long.price, cost: long.cost, above_input_tokens: long.above },
        routes: routes.map(({ long_context_price, long_context_cost, ...each }, index) => ({
          ...(places[index] ?? places.at(-1)),
          priority: index + 1,
          ...each,
          ...(long ? { long_context_price, long_context_cost } : {}),
        })),
        context_window: WINDOW,
        max_output_tokens: OUTPUT_MAX,
      },
    },
  });
  const problems = createProblems();
  checkRules(checkShape(file, problems), problems);
  // Safe because a file without problems has the shape.
  return problems.list().length > 0 ? undefined : readModels(file as Parameters<typeof readModels>[0], 0)[0];
}

/** What is written for one route, the keys of its model included. */
export function writtenKeys({ model, long, routes }: PricedModel, index: number): ApartRoute {
  const chosen = routes[index];
  return defined<ApartRoute>({
    price: chosen?.price ?? model.price,
    cost: chosen?.cost ?? model.cost,
    longPrice: long && (chosen?.long_context_price ?? long.price),
    longCost: long && (chosen?.long_context_cost ?? long.cost),
  });
}
