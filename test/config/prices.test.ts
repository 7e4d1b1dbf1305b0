import { describe, expect, test } from "bun:test";
import {
  describePriceBelowCost,
  describeUnpricedDefault,
  describeUnpricedSearch,
  findPricesBelowCost,
  findUnpricedDefaults,
  findUnpricedSearches,
} from "../../src/config/warnings.ts";
import { parsePrice, printPrice } from "../../src/domain/money.ts";
import { loadYaml, placesOf, problemsOf } from "./temp-config.ts";

const ROUTE = "{ upstream: up, model: um }";

/** A model with these keys beside its windows; `routes` replaces its one route. */
function yamlOf(keys: string, routes = ROUTE): string {
  return `
upstreams: { up: { protocol: openai, base_url: https://up.example/v1/, api_key: k } }
models:
  m:
    routes: [${routes}]
    context_window: 100000
    max_output_tokens: 8000
    ${keys}
`;
}

function loadModel(keys: string, routes?: string) {
  const [model] = loadYaml(yamlOf(keys, routes)).models;
  if (!model) throw new Error("The file has no model");
  return { ...model, route: model.routes[0] };
}

const COST = 'cost: { input: "2", output: "10", cached_input: "0.2" }';

describe("a price in the file", () => {
  test("is the cost when only the cost is written", () => {
    const { route, price } = loadModel(COST);
    expect(route?.price).toEqual(route?.cost ?? expect.anything());
    expect(price.cacheWrite).toBe(parsePrice("2.5"));
  });

  test("with a markup is the cost of each route times the markup, and of the cache writes by default", () => {
    const routes = `${ROUTE}, { upstream: up, model: b, cost: { input: "3", output: "1.000001" } }`;
    const model = loadModel(`${COST}\n    price: { markup: "1.15" }`, routes);
    expect(model.routes.map(({ price }) => printPrice(price.input))).toEqual(["2.30", "3.45"]);
    expect(printPrice(model.route?.price.cacheWrite ?? 0n)).toBe("2.875");
    // 1.000001 × 1.15 = 1.15000115, rounded up to the sixth decimal.
    expect(printPrice(model.routes[1]?.price.output ?? 0n)).toBe("1.150002");
    expect(printPrice(model.price.input)).toBe("2.30");
  });

  test("that is written stays as it is beside a cost, and has an unknown cost without one", () => {
    const both = loadModel(`${COST}\n    price: { input: "7", output: "8" }`);
    expect(both.route?.price.input).toBe(parsePrice("7"));
    expect(both.route?.cost?.input).toBe(parsePrice("2"));
    expect(loadModel('price: { input: "7", output: "8" }').route?.cost).toBeUndefined();
  });

  test("of a route replaces that of its model, and clients see that of the first route without one", () => {
    const routes = '{ upstream: up, model: um, cost: { input: "4", output: "5" }, price: { markup: "2" } }';
    const model = loadModel("", routes);
    expect(model.price.input).toBe(parsePrice("8"));
    expect(model.cost?.input).toBe(parsePrice("4"));
    const own = loadModel(`${COST}\n    price: { markup: "3" }`, routes);
    expect([own.route?.price.input, own.price.input]).toEqual([parsePrice("8"), parsePrice("6")]);
  });

  test("of long input follows the long cost with the markup of the price", () => {
    const long = 'long_context: { cost: { input: "4", output: "20" } }';
    const { route } = loadModel(`${COST}\n    ${long}\n    price: { markup: "1.5" }`);
    expect(route?.longPrice?.input).toBe(parsePrice("6"));
    const own = loadModel(
      `${COST}\n    ${long}`,
      '{ upstream: up, model: um, long_context_cost: { input: "5", output: "6" } }',
    );
    expect(own.route?.longPrice?.input).toBe(parsePrice("5"));
    const written = loadModel(`${COST}\n    ${long}\n    price: { input: "7", output: "8" }`);
    expect(written.route?.longPrice).toBeUndefined();
  });

  test.each([
    ["", ["models.m.price"]],
    ['price: { input: "1" }', ["models.m.price.output"]],
    ["price: {}", ["models.m.price.input", "models.m.price.output"]],
    ['price: { cached_input: "1" }', ["models.m.price.input", "models.m.price.output"]],
    ['price: { markup: "1.15" }', ["models.m.price.markup"]],
    [`${COST}\n    price: { markup: "1", input: "1", output: "2" }`, ["models.m.price.markup"]],
    [`${COST}\n    price: { markup: 1.15 }`, ["models.m.price.markup"]],
    ...["0", "0.0", "0.00001", "1000.1", "1001", "-1", "1e2", "", "1.", "x"].map(
      (markup) => [`${COST}\n    price: { markup: "${markup}" }`, ["models.m.price.markup"]] as const,
    ),
    ['cost: { input: "1" }', ["models.m.cost.output"]],
    [`${COST}\n    cost_price: 1`, ["models.m.cost_price"]],
  ])("%j has problems at its keys", (keys, places) => {
    expect(placesOf(problemsOf(yamlOf(keys)))).toEqual([...places]);
  });

  test("with a markup on a route without a cost is a problem of that route", () => {
    const route = '{ upstream: up, model: um, price: { markup: "2" } }';
    expect(placesOf(problemsOf(yamlOf('price: { input: "1", output: "2" }', route)))).toEqual([
      "models.m.routes[0].price.markup",
    ]);
  });

  test.each(["0.0001", "1", "1.15", "999.9999", "1000", "1000.0000", "001.5"])(
    "accepts the markup %j",
    (markup) => expect(problemsOf(yamlOf(`${COST}\n    price: { markup: "${markup}" }`))).toEqual([]),
  );
});

describe("findPricesBelowCost", () => {
  const find = (keys: string) => findPricesBelowCost(loadYaml(yamlOf(keys)).models);

  test("names the classes of each route whose price is below its cost", () => {
    const found = find(`${COST}\n    price: { input: "2", output: "9.99", cached_input: "0.19" }`);
    expect(found).toEqual([{ model: "m", upstream: "up", classes: ["output", "cached_input"] }]);
    expect(found.map(describePriceBelowCost)).toEqual([
      "models.m: the price of output, cached_input is below the cost at upstream up, expected at least the cost",
    ]);
  });

  test("reports the long cost beside a price that does not follow it", () => {
    const long = 'long_context: { cost: { input: "4", output: "10" } }';
    const [found] = find(`${COST}\n    ${long}\n    price: { input: "3", output: "10" }`);
    expect(found?.classes).toEqual([
      "long_context.input",
      "long_context.cached_input",
      "long_context.cache_write",
      "long_context.cache_write_1h",
    ]);
  });

  test("reports a markup below one, and neither the cost itself nor an unknown cost", () => {
    expect(find(`${COST}\n    price: { markup: "0.99" }`)).toHaveLength(1);
    expect(find(COST)).toEqual([]);
    expect(find('price: { input: "0", output: "0" }')).toEqual([]);
  });
});

describe("findUnpricedDefaults", () => {
  const find = (tier: string) => {
    const { upstreams, models } = loadYaml(`
upstreams: { up: { protocol: openai, base_url: https://up.example, api_key: k, default_tier: ${tier} } }
models:
  m:
    routes: [{ upstream: up, model: theirs }]
    context_window: 1000
    max_output_tokens: 100
    price: { input: "1", output: "1", tiers: { priority: { input: "2", output: "2" } } }
`);
    return findUnpricedDefaults(upstreams, models).map(describeUnpricedDefault);
  };

  test("names a default tier that no route of its upstream has a price of", () => {
    expect(find("priority")).toEqual([]);
    expect(find("flex")).toEqual([
      "upstreams.up.default_tier: no route has a price of flex, expected one under price.tiers",
    ]);
    expect(() => find("gold")).toThrow("default_tier");
  });
});

describe("findUnpricedSearches", () => {
  const routesOf = (name: string, more = "") => `
upstreams: { up: { protocol: openai, base_url: https://up.example, api_key: k } }
models:
  m:
    routes: [{ upstream: up, model: "${name}" }]
    context_window: 1000
    max_output_tokens: 100
    price: { input: "1", output: "1" }${more}
`;
  const find = (yaml: string) => findUnpricedSearches(loadYaml(yaml).models).map(describeUnpricedSearch);

  test.each([
    "gpt-4o-search-preview",
    "gpt-5-search-api-2025-10-14",
    "sonar-pro",
    "perplexity/sonar",
    "openai/gpt-5:online",
    "groq/compound-mini",
    "o4-mini-deep-research",
  ])("names a route to %s, whose searches cost a fee", (name) => {
    expect(find(routesOf(name))).toEqual([
      "models.m: searches in every request at upstream up, whose fee no price holds",
    ]);
  });

  test.each(["gpt-4.1", "research-1", "sonarqube", "onlineshop"])("leaves out %s", (name) => {
    expect(find(routesOf(name))).toEqual([]);
  });

  test("leaves out a known model, which has a warning of its own", () =>
    expect(find(routesOf("gpt-4o-search-preview", "\n    known: openai/gpt-4o-search-preview"))).toEqual([]));
});
