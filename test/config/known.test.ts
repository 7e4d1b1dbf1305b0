import { describe, expect, test } from "bun:test";
import { readKnownModels } from "../../src/catalog/known-models.ts";
import { readPrice } from "../../src/catalog/prices.ts";
import { loadWithSource, rereadConfig } from "../../src/config/config.ts";
import type { FilledIn } from "../../src/config/known.ts";
import { describeFilled, findKnownWarnings } from "../../src/config/warnings.ts";
import { configFolder, loadYaml, placesOf, problemsOf } from "./temp-config.ts";

const UPSTREAMS = `
upstreams:
  anthropic: { protocol: anthropic, api_key: k }
  other: { protocol: openai, base_url: https://up.example/v1, api_key: k }
`;
const SONNET = "anthropic/claude-sonnet-4-5";

const known = readKnownModels();
const sonnet = known.find(SONNET);
if (!sonnet?.cost) throw new Error("The tests need a known model with a cost");
const cost = readPrice(sonnet.cost);

const load = (models: string) => loadYaml(`${UPSTREAMS}models:\n${models}`);
const problems = (models: string) => problemsOf(`${UPSTREAMS}models:\n${models}`);

describe("a known model", () => {
  test("needs nothing else where an upstream has the name of its provider", () => {
    const { models, known: filled } = load(`  claude: { known: ${SONNET} }`);
    expect(models).toMatchObject([
      {
        id: "claude",
        contextWindow: sonnet.context_window,
        outputTokensMax: sonnet.max_output_tokens,
        can: sonnet.can,
        price: cost,
        cost,
        routes: [
          {
            upstream: "anthropic",
            upstreamModel: "claude-sonnet-4-5",
            known: SONNET,
            price: cost,
            cost,
            traits: { reasoning: "budget", sampling: true },
          },
        ],
      },
    ]);
    expect(filled).toMatchObject([{ place: ["models", "claude"], known: SONNET, source: sonnet.source }]);
  });

  test("keeps everything that is written", () => {
    const { models } = load(`
  claude:
    known: ${SONNET}
    context_window: 1000
    cost: { output: "99" }
    price: { markup: "2" }
    can: [tools]
    routes: [{ upstream: other, model: mine, reasoning: none, sampling: false }]`);
    expect(models).toMatchObject([
      {
        contextWindow: 1_000,
        outputTokensMax: 1_000,
        can: ["tools"],
        cost: { ...cost, output: 99_000_000n },
        price: { input: cost.input * 2n, output: 198_000_000n },
        routes: [{ upstreamModel: "mine", traits: { reasoning: "none", sampling: false } }],
      },
    ]);
  });

  test("has the traits of its family on a route with another name", () => {
    const { models } = load(`
  m: { known: openai/gpt-5, routes: [{ upstream: other, model: my-deployment }] }`);
    expect(models[0]?.routes[0]?.traits).toEqual({ reasoning: "none", sampling: true });
  });

  test("has the long context of the catalog where its window reaches it", () => {
    const { models } = load(`
  wide: { known: gemini/gemini-2.5-pro, routes: [{ upstream: other }] }
  narrow: { known: gemini/gemini-2.5-pro, context_window: 100000, routes: [{ upstream: other }] }`);
    const [wide, narrow] = models;
    expect(wide?.longContext).toEqual({ contextWindow: undefined, aboveInputTokens: 200_000 });
    expect(wide?.routes[0]?.longCost).toMatchObject({ input: 2_500_000n, output: 15_000_000n });
    expect(narrow?.longContext).toBeUndefined();
  });

  test("of embeddings has no output", () => {
    const { models } = load("  e: { known: openai/text-embedding-3-small, routes: [{ upstream: other }] }");
    expect(models[0]?.outputTokensMax).toBe(0);
  });

  test("is problems at its places when an upstream is missing", () => {
    const missing = problems("  m: { known: openai/gpt-5 }");
    expect(missing).toEqual(["models.m.routes: is missing, expected a list of 1 to 32 routes"]);
  });

  test("without an entry in the catalog is a problem that names ids like it", () => {
    expect(problems("  m: { known: antropic/claude-sonnet-4.5, routes: [{ upstream: other }] }")).toContain(
      "models.m.known: is not a known model, expected an id such as anthropic/claude-sonnet-4-5, anthropic/claude-sonnet-4-6, anthropic/claude-sonnet-5",
    );
  });

  test("that is sold by a unit has its cost per unit, and no window", () => {
    const { models } = load(`
  w: { known: openai/whisper-1, routes: [{ upstream: other }] }
  r: { known: cohere/rerank-v3.5, price: { markup: "2" }, routes: [{ upstream: other }] }`);
    expect(models[0]?.cost?.unit).toMatchObject({ picos: 100_000_000n });
    expect(models[1]?.price.unit).toMatchObject({ picos: 4_000_000_000n });
  });

  test.each(["12", "[a]", "{ a: b }", '""'])("with %s for an id is a problem", (id) => {
    const places = placesOf(
      problems(`  m: { known: ${id}, routes: [{ upstream: other, model: x, known: ${id} }] }`),
    );
    expect(places).toEqual(expect.arrayContaining(["models.m.known", "models.m.routes[0].known"]));
  });

  test("is looked up in bounded time, however many ids are unknown", () => {
    const lines = Array.from({ length: 100 }, (_, index) => `  m${index}: { known: openai/gpt-${index}x }`);
    const found = problems(lines.join("\n"));
    expect(found.filter((problem) => problem.includes("an id such as"))).toHaveLength(20);
  });
});

describe("a known route", () => {
  test("has its own name, cost and traits beside those of its model", () => {
    const { models } = load(`
  claude:
    known: ${SONNET}
    routes:
      - upstream: anthropic
      - { upstream: other, known: openai/gpt-6.1-sol, priority: 2 }`);
    const gpt = known.find("openai/gpt-6.1-sol");
    expect(models[0]?.routes).toMatchObject([
      { upstreamModel: "claude-sonnet-4-5", cost },
      {
        upstreamModel: "gpt-6.1-sol",
        cost: gpt?.cost && readPrice(gpt.cost),
        traits: { reasoning: "effort" },
      },
    ]);
  });

  test("has a long cost also where its model knows none", () => {
    const { models } = load(`
  m:
    context_window: 1000000
    max_output_tokens: 1000
    routes: [{ upstream: other, known: gemini/gemini-2.5-pro }, { upstream: other, known: openai/gpt-4.1 }]`);
    expect(models[0]?.longContext?.aboveInputTokens).toBe(200_000);
    expect(models[0]?.routes[0]?.longCost).toMatchObject({ input: 2_500_000n });
  });

  test("leaves its model's limits to the file", () => {
    const missing = placesOf(problems(`  m: { routes: [{ upstream: other, known: ${SONNET} }] }`));
    expect(missing).toEqual(["models.m.context_window", "models.m.max_output_tokens"]);
  });
});

describe("a reload", () => {
  test("fills in known models too", async () => {
    const folder = configFolder(`${UPSTREAMS}models:\n  m: { known: ${SONNET} }`);
    const loaded = loadWithSource({}, { folder });
    const text = `${UPSTREAMS}models:\n  m: { known: anthropic/claude-opus-5-5 }`;
    const file = { kind: "text", text, writtenAtS: 1 } as const;
    const { config } = await rereadConfig(loaded, { ...loaded.sources, file });
    expect(config.models[0]?.routes[0]?.upstreamModel).toBe("claude-opus-5-5");
    expect(config.known).toMatchObject([{ known: "anthropic/claude-opus-5-5" }]);
  });
});

describe("a known model at a regional endpoint", () => {
  const UPSTREAMS = `
upstreams:
  vertex: { protocol: vertex, project: acme-1 }
  europe: { protocol: vertex, project: acme-1, location: europe-west1 }
  eu: { protocol: openai, base_url: https://eu.api.openai.com/v1, api_key: k }
  openai: { protocol: openai, api_key: k }
  london: { protocol: bedrock, region: eu-west-2 }
  virginia: { protocol: bedrock, region: us-east-1 }`;
  const costsOf = (model: string) => {
    const { models, known: found } = loadYaml(`${UPSTREAMS}\nmodels:\n  m: ${model}`);
    expect(found?.length).toBeGreaterThan(0);
    return models[0]?.routes.map(({ cost, price }) => [cost?.input, price.input, price.cachedInput]);
  };

  test("costs what its provider adds there, on each route of its own", () => {
    const routes = "[{ upstream: vertex }, { upstream: europe, priority: 2 }]";
    expect(costsOf(`{ known: vertex/claude-opus-4-8, routes: ${routes} }`)).toEqual([
      [5_000_000n, 5_000_000n, 500_000n],
      [5_500_000n, 5_500_000n, 550_000n],
    ]);
    expect(costsOf(`{ known: openai/gpt-5.5, routes: [{ upstream: eu, known: openai/gpt-5.5 }] }`)).toEqual([
      [5_500_000n, 5_500_000n, 550_000n],
    ]);
  });

  test("costs what the catalog has for its region of Bedrock", () => {
    const routes = "[{ upstream: virginia }, { upstream: london, priority: 2 }]";
    const costs = costsOf(`{ known: bedrock/meta.llama3-70b-instruct-v1:0, routes: ${routes} }`);
    expect(costs?.map(([cost]) => cost)).toEqual([2_650_000n, 3_450_000n]);
  });

  test("has its long price there, and the markup of its model", () => {
    const { models } = loadYaml(
      `${UPSTREAMS}\nmodels:\n  m: { known: openai/gpt-5.5, price: { markup: "2" }, routes: [{ upstream: eu }] }`,
    );
    expect(models[0]?.routes[0]).toMatchObject({
      cost: { input: 5_500_000n },
      price: { input: 11_000_000n },
      longCost: { input: 11_000_000n },
    });
  });

  test("keeps a cost that is written, and a model that costs the same everywhere", () => {
    const written = `{ known: vertex/claude-opus-4-8, cost: { input: "1" }, routes: [{ upstream: europe }] }`;
    expect(costsOf(written)?.[0]?.[0]).toBe(1_000_000n);
    expect(costsOf("{ known: vertex/gemini-2.5-pro, routes: [{ upstream: europe }] }")?.[0]?.[0]).toBe(
      1_250_000n,
    );
  });
});

describe("findKnownWarnings", () => {
  const filled: FilledIn = {
    place: ["models", "m", "routes", 0],
    known: "p/m",
    values: { model: "m", cost: { input: "1.00", output: "2.00" } },
    source: "https://prices.example",
    checked: "2026-01-01",
  };
  const on = (day: string, some: Partial<FilledIn> = {}) =>
    findKnownWarnings([{ ...filled, ...some }], Date.parse(day)).map(({ place, reason, text }) => [
      place,
      reason,
      text,
    ]);

  test("warns of a price that was last checked more than 90 days ago", () => {
    expect(on("2026-04-01")).toEqual([]);
    expect(on("2026-04-02")).toEqual([
      ["models.m.routes[0]", "old_price", "has a price of 2026-01-01, 91 days ago"],
    ]);
  });

  test("does not warn of a price that the file writes itself", () =>
    expect(on("2030-01-01", { values: { model: "m" } })).toEqual([]));

  test("warns of a model from its last day on", () => {
    expect(on("2026-02-01", { ends: "2026-02-02" })).not.toContainEqual(expect.arrayContaining(["ended"]));
    expect(on("2026-02-02", { ends: "2026-02-02" })).toEqual([
      ["models.m.routes[0]", "ended", "may no longer be served since 2026-02-02"],
    ]);
  });

  test("warns of an end within the next 30 days", () => {
    expect(on("2026-01-02", { ends: "2026-02-02" })).toEqual([]);
    expect(on("2026-01-03", { ends: "2026-02-02" })).toEqual([
      ["models.m.routes[0]", "ends_soon", "may no longer be served from 2026-02-02 on"],
    ]);
  });

  test("warns of a model of the responses format at an upstream without it, by any way to name it", () => {
    const { known: found } = loadYaml(`
upstreams:
  openai: { protocol: openai, api_key: k }
  able: { protocol: openai, api_key: k, responses: true }
models:
  own: { known: openai/gpt-5-codex }
  route: { known: openai/gpt-5-codex, routes: [{ upstream: able }, { upstream: openai, known: openai/gpt-5-codex }] }
  plain: { known: openai/gpt-5-codex, routes: [{ upstream: openai }, { upstream: openai, model: another, priority: 2 }] }
  chat: { known: openai/gpt-4.1-mini }`);
    const text = "needs responses: true at the upstream openai";
    const warnings = findKnownWarnings(found ?? [], Date.parse(known.source.checked));
    expect(warnings.filter(({ reason }) => reason === "needs_responses")).toEqual(
      ["models.own.routes[0]", "models.route.routes[1]", "models.plain.routes[0]"].map((place) => ({
        place,
        known: "openai/gpt-5-codex",
        reason: "needs_responses",
        text,
      })),
    );
  });

  test("describes what was filled in, with source and date", () => {
    expect(describeFilled(filled)).toBe(
      "models.m.routes[0]: p/m gives model m, cost {input 1.00, output 2.00} (https://prices.example, checked on 2026-01-01)",
    );
  });
});
