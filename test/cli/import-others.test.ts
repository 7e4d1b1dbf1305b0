import { beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { importConfig } from "../../src/cli/import/config.ts";
import { LITELLM_KEYS } from "../../src/cli/import/litellm-keys.ts";
import { readKey } from "../../src/cli/import/table.ts";
import { loadConfig } from "../../src/config/config.ts";
import { tempFolder } from "../support/temp-folder.ts";

const CANARY = "sk-inline-canary-of-a-provider";
let folder = "";
beforeEach(() => {
  folder = tempFolder();
});

type Imported = {
  readonly problems: readonly string[];
  readonly models: readonly string[];
  readonly upstreams: readonly string[];
  readonly money?: { readonly models: readonly Record<string, unknown>[]; readonly new_usd: string };
};

/** Imports a text, and loads the written file as a start would, with a value for every variable. */
function imported(source: Parameters<typeof importConfig>[0], text: string, more: object = {}) {
  const path = join(folder, "export");
  const to = join(folder, "tollgate.yaml");
  writeFileSync(path, text);
  const result = importConfig(source, path, { to, ...more });
  expect(result.text + JSON.stringify(result.json)).not.toContain(CANARY);
  // Safe because the command prints these members.
  const json = result.json as unknown as Imported;
  if (json.models.length === 0) return { json, models: [], result };
  const keys = ["OPENAI", "ANTHROPIC", "OPENROUTER", "GEMINI", "OWN", "IMPORTED_OPENAI"];
  const environment = Object.fromEntries(keys.map((name) => [`${name}_API_KEY`, "k"]));
  const azure = {
    AZURE_API_BASE: "https://own.example.com",
    AZURE_API_KEY: "k",
    IMPORTED_AZURE_API_KEY_1: "k",
  };
  const config = loadConfig({ ...environment, ...azure, IMPORTED_OPENAI_API_KEY_1: "k" }, { folder });
  return { json, models: config.models, result };
}

const HEAD =
  "generation_id,created_at,cost_total,cost_web_search,cost_cache,byok_usage_inference,tokens_prompt,tokens_completion,tokens_reasoning,tokens_cached,model_permaslug,provider_name,variant";
const ACTIVITY = `${HEAD}
gen-1,2026-11-01 10:00:00.000,0.9,0,0,0,100000,50000,0,40000,openai/gpt-4.1-2025-04-14,OpenAI,standard
gen-2,2026-11-02 10:00:00.000,0.000001,0,0,0,100,1,0,0,openai/gpt-4.1-2025-04-14,OpenAI,standard
gen-3,2026-11-02 10:00:00.000,0.15,0,0,0,10000,8000,0,0,anthropic/claude-4.5-sonnet-20250929,Anthropic,standard
gen-4,2026-11-02 10:00:00.000,0.5,0,0,0,10000,8000,0,0,unknown/model,Other,standard
gen-5,2026-11-02 10:00:00.000,0,0,0,0,10000,8000,0,0,openai/gpt-4.1-mini,OpenAI,free
`;

describe("import openrouter", () => {
  test("compares old and new money by the activity, and prices nothing that the catalog lacks", () => {
    const { json, models } = imported("openrouter", ACTIVITY);
    expect(models.map(({ id }) => id)).toEqual(["openai/gpt-4.1", "anthropic/claude-4.5-sonnet"]);
    expect(models[0]?.routes[0]).toMatchObject({ upstream: "openrouter", upstreamModel: "openai/gpt-4.1" });
    expect(json.problems.join("\n")).toContain("unknown/model: is not in the catalog");
    const money = json.money?.models ?? [];
    // 60,100 × 2.00 + 40,000 × 0.50 + 50,001 × 8.00 per million.
    expect(money[0]).toMatchObject({
      requests: 2,
      old_usd: "0.900001",
      new_usd: "0.540208",
      difference_usd: "-0.359793",
    });
    // 10,000 × 3.00 + 8,000 × 15.00 per million.
    expect(money.find(({ model }) => String(model).startsWith("anthropic"))).toMatchObject({
      new_usd: "0.15",
      difference_usd: "0.00",
    });
    expect(money.filter(({ new_usd }) => new_usd === null).map(({ model }) => model)).toEqual([
      "unknown/model",
      "openai/gpt-4.1-mini:free",
    ]);
    expect(json.money?.new_usd).toBe("0.690208");
  });

  test("sends requests to the providers themselves with --direct, and reads the JSON of the API", () => {
    const data = [
      {
        date: "2026-11-01",
        model: "openai/gpt-4.1",
        usage: 0.02,
        requests: 5,
        prompt_tokens: 50,
        completion_tokens: 125,
      },
      {
        date: "2026-11-02",
        model: "openai/gpt-4.1",
        usage: 0.01,
        requests: 1,
        prompt_tokens: 50,
        completion_tokens: 5,
      },
    ];
    const { json, models } = imported("openrouter", JSON.stringify({ data }), { direct: true });
    expect(models[0]).toMatchObject({
      id: "openai/gpt-4.1",
      routes: [{ upstream: "openai", upstreamModel: "gpt-4.1" }],
    });
    expect(json.money?.models[0]).toMatchObject({ requests: 6, old_usd: "0.03" });
    expect(json.problems).toEqual([]);
  });
});

test("import portkey makes priorities of a fallback, and lists what it cannot carry over", () => {
  const config = {
    strategy: { mode: "fallback" },
    cache: { mode: "simple" },
    targets: [
      { provider: "openai", api_key: CANARY, override_params: { model: "gpt-4.1" } },
      {
        provider: "anthropic",
        override_params: { model: "claude-sonnet-4-5" },
        input_guardrails: [{ deny: true }],
      },
      { virtual_key: "vk-1", override_params: { model: "gpt-4.1" } },
      { provider: "openai" },
    ],
  };
  const log = JSON.stringify({
    ai_org: "openai",
    ai_model: "gpt-4.1",
    req_units: 1000,
    res_units: 100,
    cost: 0.5,
  });
  writeFileSync(join(folder, "logs.jsonl"), `${log}\n${log}\n`);
  const { json, models } = imported("portkey", JSON.stringify(config), { usage: join(folder, "logs.jsonl") });
  expect(
    models.map(({ id, routes }) => [id, routes.map(({ upstream, priority }) => [upstream, priority])]),
  ).toEqual([
    [
      "gpt-4.1",
      [
        ["openai", 1],
        ["anthropic", 2],
      ],
    ],
  ]);
  expect(json.problems).toEqual([
    "config.targets[1].input_guardrails: has no counterpart here",
    "config.targets[2]: names no provider, as virtual keys do not",
    "config.targets[3]: names no model, which override_params.model does",
  ]);
  // Portkey's costs are cents: 2 × 0.5 cents.
  expect(json.money?.models[0]).toMatchObject({ old_usd: "0.01", new_usd: "0.0056" });
});

test("import bifrost makes weighted routes of its keys, and asks for the models of a key that serves all", () => {
  const config = {
    providers: {
      openai: {
        keys: [
          { value: "env.OPENAI_API_KEY", models: ["gpt-4.1", "not-known"], weight: 0.7 },
          { value: CANARY, models: ["gpt-4.1"], weight: 0.3 },
        ],
        network_config: { base_url: "https://eu.example.com" },
      },
      anthropic: { keys: [{ value: "env.ANTHROPIC_API_KEY", models: ["*"] }] },
    },
    governance: { virtual_keys: [{ id: "vk" }], budgets: [{ id: "b" }] },
  };
  const { json, models } = imported("bifrost", JSON.stringify(config));
  expect(
    models.map(({ id, routes }) => [id, routes.map(({ upstream, weight }) => [upstream, weight])]),
  ).toEqual([
    [
      "openai/gpt-4.1",
      [
        ["openai", 700],
        ["openai-2", 300],
      ],
    ],
  ]);
  expect(json.problems.map((problem) => problem.replace(/:.*/, ""))).toEqual([
    "providers.anthropic.keys[0]",
    "governance.virtual_keys",
    "governance.budgets",
    "providers.openai.keys[0] not-known",
  ]);
});

test("import bifrost reads the answer of its API, deployments of clouds, and no key that is switched off", () => {
  const cloud = { endpoint: { env_var: "env.AZURE_API_BASE" }, deployments: { "gpt-4.1": "own-4.1" } };
  const providers = [
    { name: "azure", keys: [{ value: { value: CANARY }, models: ["*"], azure_key_config: cloud }] },
    {
      name: "vertex",
      keys: [
        { models: ["google/gemini-2.5-pro"], vertex_key_config: { project_id: "p-1", region: "us-east1" } },
      ],
    },
    {
      name: "openai",
      keys: [
        { value: "env.OPENAI_API_KEY", models: ["best", "gpt-4o"], aliases: { best: "gpt-4.1-mini" } },
        { value: CANARY, models: ["best"], enabled: false },
      ],
    },
  ];
  const { json, models } = imported("bifrost", JSON.stringify({ providers }));
  expect(models.map(({ id, routes: [route] }) => [id, route?.upstream, route?.upstreamModel])).toEqual([
    ["azure/gpt-4.1", "azure", "own-4.1"],
    ["vertex/google/gemini-2.5-pro", "vertex", "gemini-2.5-pro"],
    ["openai/best", "openai", "gpt-4.1-mini"],
    ["openai/gpt-4o", "openai", "gpt-4o"],
  ]);
  expect(json.problems).toEqual([
    "providers.azure.keys[0]: serves every model: add those in use with bun tollgate models add, beside its aliases",
  ]);
});

test("import portkey reads exports of its API, and refuses names of its own catalog", () => {
  const one = { provider: "openai", override_params: { model: "gpt-4.1" } };
  const data = { config: { mode: "fallback", options: [one, { ...one, provider: "@prod" }] } };
  const { json, models } = imported("portkey", JSON.stringify({ success: true, data }));
  expect(models.map(({ id }) => id)).toEqual(["gpt-4.1"]);
  expect(json.problems.join()).toContain("config.targets[1]: names a provider of Portkey's catalog");
  folder = tempFolder();
  expect(imported("portkey", JSON.stringify({ config: JSON.stringify(one) })).models).toHaveLength(1);
});

test("a placeholder inside of an address or a name is refused: a start would send the variable there", () => {
  const target = (more: object) =>
    JSON.stringify({ provider: "openai", override_params: { model: "gpt-4.1" }, ...more });
  const embedded = target({ custom_host: `https://other.example/\${DATABASE_URL}/v1` });
  expect(() => imported("portkey", embedded)).toThrow('has "${" inside of a text');
  const entry = { model_name: "gpt-4.1", litellm_params: { model: `openai/\${SECRET}` } };
  const facts = { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6, max_tokens: 1000 };
  const list = JSON.stringify({ model_list: [{ ...entry, model_info: facts }] });
  expect(() => imported("litellm", list)).toThrow('has "${" inside of a text');
  expect(imported("portkey", target({ api_key: `\${OWN_API_KEY}` })).models).toHaveLength(1);
});

test("a list or a switch of a key that is an object is no error of the program", () => {
  const odd = { toString: 1 };
  const row = { token: "a".repeat(64), models: [odd, "demo"], blocked: odd, max_budget: odd };
  expect(readKey(LITELLM_KEYS, row, 0).key).toEqual({ problem: "has a budget that is no amount" });
  const { max_budget: _, ...rest } = row;
  expect(readKey(LITELLM_KEYS, rest, 0).key).toMatchObject({ models: ['{"toString":1}', "demo"] });
});

describe("a table that a spreadsheet has written", () => {
  const rows = ACTIVITY.split("\n").slice(0, 2);
  const european = rows.map((row) => row.replaceAll(",", ";").replace(";0.9;", ";0,9;")).join("\r\n");

  test("is read with semicolons, decimal commas, and in UTF-16", () => {
    const { json } = imported("openrouter", european);
    expect(json.money?.models[0]).toMatchObject({ old_usd: "0.90", input_tokens: 100000 });
    const path = join(folder, "utf-16.csv");
    writeFileSync(path, Buffer.from(`\uFEFF${european}`, "utf16le"));
    expect(importConfig("openrouter", path, { dryRun: true }).json).toMatchObject({ models: json.models });
  });

  test.each([
    ["gen-1,2026-11-01", "has 2 cells in row 2, and 13 in its head"],
    [`"gen-1,${rows[1]}`, "has a quotation mark that does not end a cell"],
    [`gen-1${",".repeat(12)}`, "names no model of a request"],
    [rows[1]?.replace(",0.9,", ",$0.90,") ?? "", "Entry 1 of .* has a cost that is no amount"],
    [rows[1]?.replace(",0.9,", ",1e400,") ?? "", "has a cost that is no amount"],
    [rows[1]?.replace(",100000,", ",-5,") ?? "", "has tokens or requests that are no count"],
  ])("is refused for the row %p", (row, problem) => {
    expect(() => imported("openrouter", `${HEAD}\n${row}\n`)).toThrow(new RegExp(problem));
  });

  test("is refused for two columns of one name, but not for empty columns at its end", () => {
    const repeated = ACTIVITY.replace("cost_web_search", "cost_total");
    expect(() => imported("openrouter", repeated)).toThrow('has two columns of the name "cost_total"');
    const padded = rows.map((row) => `${row},,`).join("\n");
    expect(imported("openrouter", padded).models).toHaveLength(1);
  });

  test("takes a cost below zero off the sum", () => {
    const [, first = ""] = rows;
    const refund = first.replace(",0.9,", ",-0.4,");
    expect(imported("openrouter", [HEAD, first, refund].join("\n")).json.money?.models[0]).toMatchObject({
      old_usd: "0.50",
    });
  });
});

test.each(["0", "-1", "NaN", "1e400", "5000", "much"])("a weight of %p is refused by name", (weight) => {
  const target = { provider: "openai", override_params: { model: "gpt-4.1" } };
  const targets = [{ ...target, weight }, target];
  const { json, models } = imported(
    "portkey",
    JSON.stringify({ strategy: { mode: "loadbalance" }, targets }),
  );
  expect(json.problems.join()).toContain("config.targets[0]: has the weight");
  expect(models[0]?.routes).toHaveLength(1);
});

test("import helicone makes a model of a router over models, and of each model that a provider lists", () => {
  const config = `
providers:
  openai: { models: [gpt-4.1-mini] }
routers:
  production:
    load-balance: { chat: { strategy: model-weighted, models: [{ model: openai/gpt-4.1, weight: "0.9" }, { model: anthropic/claude-sonnet-4-5, weight: "0.1" }] } }
    rate-limit: { per-api-key: { capacity: 10 } }
  fast: { load-balance: { chat: { strategy: provider-latency, providers: [openai, anthropic] } } }
`;
  const { json, models } = imported("helicone", config);
  expect(models.map(({ id, routes }) => [id, routes.map(({ upstream }) => upstream)])).toEqual([
    ["openai/gpt-4.1-mini", ["openai"]],
    ["production", ["openai", "anthropic"]],
  ]);
  expect(json.problems.map((problem) => problem.replace(/:.*/, ""))).toEqual([
    "routers.production.rate-limit",
    "routers.fast",
  ]);
});
