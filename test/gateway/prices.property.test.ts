import { expect, test } from "bun:test";
import fc from "fast-check";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { createProblems } from "../../src/config/problems.ts";
import { checkRules } from "../../src/config/rules.ts";
import { checkShape } from "../../src/config/schema.ts";
import { readModels } from "../../src/config/settings.ts";
import type { Model } from "../../src/domain/model.ts";
import { parseMarkup } from "../../src/domain/money.ts";
import type { Tier } from "../../src/domain/tiers.ts";
import { chargeFor } from "../../src/gateway/charge.ts";
import { Meter } from "../../src/gateway/meter.ts";
import { amountOf, quoteRequest } from "../../src/gateway/quote.ts";
import { offerTier } from "../../src/gateway/tier-prices.ts";
import { createHeldRequest } from "./held-request.ts";
import { type Charged, CLASSES, expectedMoney, type Prices, type RouteKeys } from "./price-oracle.ts";

const WINDOW = 100_000;
const OUTPUT_MAX = 2_000;

const text = (digits: number, decimals: number) =>
  fc
    .tuple(fc.nat({ max: 10 ** digits - 1 }), fc.nat({ max: decimals }), fc.nat({ max: 10 ** decimals - 1 }))
    .map(([whole, length, part]) =>
      length === 0 ? `${whole}` : `${whole}.${`${part}`.padStart(decimals, "0").slice(0, length)}`,
    );
const usd = text(3, 6);
const classes = { input: usd, output: usd, cached_input: usd, cache_write: usd, cache_write_1h: usd };
const tierPrices = fc.record(classes, { requiredKeys: ["input", "output"] });
const tiers = fc
  .record({ priority: tierPrices, flex: tierPrices, scale: tierPrices }, { requiredKeys: [] })
  .filter((each) => Object.keys(each).length > 0);
const prices: fc.Arbitrary<Prices> = fc.record({ ...classes, tiers }, { requiredKeys: ["input", "output"] });
const factor = fc.oneof(
  fc.constantFrom("1", "1.15", "0.0001", "1000", "0.9999"),
  text(2, 4).filter((markup) => Number(markup) > 0),
);
const price = fc.oneof(prices, fc.record({ markup: factor }));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const keys = fc.record({ price: maybe(price), cost: maybe(prices) });
const route = fc.record({
  price: maybe(price),
  cost: maybe(prices),
  long_context_price: maybe(prices),
  long_context_cost: maybe(prices),
});
const long = fc.record({
  price: maybe(prices),
  cost: maybe(prices),
  above: fc.integer({ min: 1, max: WINDOW }),
});
const cases = fc.record({
  model: keys,
  long: maybe(long),
  routes: fc.array(route, { minLength: 1, maxLength: 4 }),
  chosen: fc.nat({ max: 3 }),
  markup: maybe(factor),
  textBytes: fc.nat({ max: 2 * WINDOW }),
  shares: fc.tuple(fc.nat({ max: 99 }), fc.nat({ max: 99 }), fc.nat({ max: 99 }), fc.nat({ max: 99 })),
  outputTokens: fc.nat({ max: OUTPUT_MAX }),
  asked: fc.constantFrom(undefined, "priority", "flex", "auto"),
  served: fc.constantFrom(undefined, "standard", "priority", "flex", "scale", "unknown"),
});
type Case = typeof cases extends fc.Arbitrary<infer Each> ? Each : never;

/** Removes members without a value, as a file has none. */
function defined<T extends object>(value: T): object {
  return JSON.parse(JSON.stringify(value));
}

/** Reads the file of a case; `undefined` when the rules refuse it. */
function readModel({ model, long, routes }: Case): Model | undefined {
  const file = defined({
    upstreams: { up: { protocol: "openai", base_url: "https://up.example/v1", api_key: "k" } },
    models: {
      m: {
        ...model,
        long_context: long && { price: long.price, cost: long.cost, above_input_tokens: long.above },
        routes: routes.map(({ long_context_price, long_context_cost, ...each }) => ({
          upstream: "up",
          model: "theirs",
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

/** What is written for the chosen route, those of its model included. */
function writtenKeys({ model, long, routes }: Case, index: number): RouteKeys {
  const chosen = routes[index];
  const own = {
    price: chosen?.price ?? model.price,
    cost: chosen?.cost ?? model.cost,
    longPrice: long && (chosen?.long_context_price ?? long.price),
    longCost: long && (chosen?.long_context_cost ?? long.cost),
  };
  return defined(own);
}

/** Splits an honest number of input tokens into classes. */
function tokensOf({ shares, outputTokens }: Case, inputTokensMax: number): Charged["tokens"] {
  const total = shares.reduce((sum, share) => sum + share, 1);
  const [input = 0, cached = 0, write = 0, write1h = 0] = shares.map((share) =>
    Math.floor((inputTokensMax * share) / total),
  );
  return { input, cached_input: cached, cache_write: write, cache_write_1h: write1h, output: outputTokens };
}

test("charge and upstream cost equal those of an independent oracle, and an honest charge is within the quote", async () => {
  let judged = 0;
  await fc.assert(
    fc.asyncProperty(cases, async (each) => {
      const read = readModel(each);
      if (!read) return;
      judged += 1;
      const markup = each.markup === undefined ? undefined : parseMarkup(each.markup);
      const model = createCatalog([read]).find("m", markup) ?? read;
      const input = { textBytes: each.textBytes };
      const held = createHeldRequest({ model, input, request: { outputTokensMax: OUTPUT_MAX } });
      const [first] = held.plan.candidates;
      if (!first) throw new Error("There is no candidate");
      const { asked, served } = each;
      const place = { surface: "chat", messagesHost: undefined, provider: "openai" } as const;
      const demand = asked && { asked, path: "service_tier" };
      const candidates = model.routes.map((its) => ({
        ...first,
        route: its,
        tier: demand && offerTier(its, place, demand),
      }));
      const index = each.chosen % candidates.length;
      const candidate = candidates[index] ?? first;
      // A route that does not sell the tier is no candidate.
      const sold = candidates.filter(({ tier }) => !demand || tier);
      const quote = quoteRequest({ ...held.plan, model, candidates: sold });
      const tokens = tokensOf(each, quote.inputTokens);
      const meter = new Meter(quote, () => 0);
      meter.restart(candidate);
      const usage = {
        inputTokens: tokens.input,
        cachedInputTokens: tokens.cached_input,
        cacheWriteTokens: tokens.cache_write,
        cacheWrite1hTokens: tokens.cache_write_1h,
        outputTokens: tokens.output,
      };
      meter.add({ text: "", isOutput: true, isReadable: true, generated: "", usage, tier: served });
      const counter = {
        hurry() {},
        close() {},
        count: () => Promise.reject(new Error("not asked")),
      };
      const gateway = { tokens: counter, clientDisconnect: "free" } as const;
      const charge = await chargeFor({ kind: "finished", ending: "" }, { ...held, quote, meter }, gateway);
      const total = CLASSES.filter((name) => name !== "output").reduce((sum, name) => sum + tokens[name], 0);
      const isLong = each.long !== undefined && total > each.long.above;
      const charged = { tokens, isLong, markup: each.markup, asked, served };
      const expected = expectedMoney(writtenKeys(each, index), charged);
      expect(expected === undefined).toBe(demand !== undefined && !candidate.tier);
      if (!expected) return;
      expect(charge).toMatchObject({ amount: expected.charge, source: "reported" });
      expect(charge.tier).toBe(expected.tier as Tier | undefined);
      expect(charge.upstreamCost).toBe(expected.upstreamCost as bigint);
      expect(charge.amount >= 0n && charge.amount <= amountOf(quote, quote.outputTokensMax)).toBe(true);
    }),
    { numRuns: 600 },
  );
  expect(judged).toBeGreaterThan(100);
}, 120_000);
