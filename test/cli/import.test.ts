import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listAuditEntries } from "../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../src/accounts/authenticate.ts";
import { digestOf } from "../../src/accounts/key.ts";
import { loadConfig } from "../../src/config/config.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runTollgate } from "./run-tollgate.ts";

let folder: string;
beforeEach(() => {
  folder = tempFolder();
});

const run = (...line: string[]) => runTollgate(folder, line);
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

const INLINE = "sk-inline-canary-of-a-provider";
const CONFIG = `
model_list:
  - model_name: gpt
    litellm_params: { model: openai/gpt-4.1-mini, api_key: os.environ/OPENAI_KEY, rpm: 300 }
    model_info: { input_cost_per_token: 4e-07, output_cost_per_token: 0.0000016, max_input_tokens: 1047576, max_output_tokens: 32768 }
  - model_name: gpt
    litellm_params: { model: openai/gpt-4.1-mini, api_base: https://eu.example.com/v1, api_key: ${INLINE}, rpm: 100 }
    model_info: { input_cost_per_token: 5e-07, output_cost_per_token: 0.000002, max_input_tokens: 1047576, max_output_tokens: 32768 }
  - model_name: claude
    litellm_params: { model: claude-sonnet-4-5 }
  - model_name: priceless
    litellm_params: { model: openai/unknown-model, api_key: ${INLINE} }
  - model_name: cloud
    litellm_params: { model: sagemaker/some-endpoint }
  - model_name: "openai/*"
    litellm_params: { model: "openai/*" }
  - model_name: plain
    litellm_params: { model: openai/x, api_base: "http://public.example.com/v1" }
    model_info: { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6, max_tokens: 1000 }
litellm_settings:
  fallbacks: [{ gpt: [claude] }]
general_settings: { master_key: ${INLINE} }
`;
const PRICES = JSON.stringify({
  "claude-sonnet-4-5": {
    input_cost_per_token: 3e-6,
    output_cost_per_token: 1.5e-5,
    cache_read_input_token_cost: 3e-7,
    cache_creation_input_token_cost: 3.75e-6,
    max_input_tokens: 200_000,
    max_output_tokens: 64_000,
  },
});

describe("import litellm", () => {
  beforeEach(() => {
    write("config.yaml", CONFIG);
    write("prices.json", PRICES);
  });

  test("writes models, routes, weights, fallbacks and prices, and names all that it leaves out", async () => {
    const ended = await run("import", "litellm", "config.yaml", "--prices", "prices.json", "--json");
    expect(ended.exitCode).toBe(1);
    const { problems, ...rest } = ended.json();
    expect(rest).toMatchObject({ models: ["gpt", "claude"], upstreams: ["openai", "openai-2", "anthropic"] });
    expect(problems).toEqual([
      "model_list[3] priceless: has no price: input_cost_per_token is missing",
      "model_list[4] cloud: has the provider sagemaker, which speaks no format of an upstream",
      "model_list[5] openai/*: is a pattern, name each model",
      expect.stringMatching(/^model_list\[6\] plain: its api_base is not encrypted/),
    ]);
    const environment = { OPENAI_KEY: "k-1", IMPORTED_OPENAI_API_KEY_1: "k-2", ANTHROPIC_API_KEY: "k-3" };
    const { upstreams, models } = loadConfig(environment, { folder });
    expect(upstreams.map(({ name, baseUrl, apiKey }) => [name, baseUrl, apiKey])).toEqual([
      ["openai", "https://api.openai.com/v1", "k-1"],
      ["openai-2", "https://eu.example.com/v1", "k-2"],
      ["anthropic", "https://api.anthropic.com", "k-3"],
    ]);
    const [gpt, claude] = models;
    const routes = gpt?.routes.map(({ upstream, priority, weight }) => [upstream, priority, weight]);
    expect(routes).toEqual([
      ["openai", 1, 300],
      ["openai-2", 1, 100],
      ["anthropic", 101, 1],
    ]);
    expect(gpt?.price).toMatchObject({ input: 400_000n, output: 1_600_000n });
    expect(gpt?.routes.map(({ price }) => price.input)).toEqual([400_000n, 500_000n, 3_000_000n]);
    expect(claude?.price).toMatchObject({ cachedInput: 300_000n, cacheWrite: 3_750_000n });
    expect(claude).toMatchObject({ contextWindow: 200_000, outputTokensMax: 64_000 });
  });

  test("imports an alias as a model with the routes behind it, and names one whose model is missing", async () => {
    const aliases = "{ gpt-4: gpt, hidden: { model: claude, hidden: true }, lost: cloud }";
    write("config.yaml", `${CONFIG}router_settings: { model_group_alias: ${aliases} }\n`);
    const ended = await run("import", "litellm", "config.yaml", "--prices", "prices.json", "--json");
    const { models, problems, notes } = ended.json();
    expect(models).toEqual(["gpt", "claude", "gpt-4", "hidden"]);
    const lines = notes as readonly string[];
    expect(problems).toContain("model_group_alias lost: its model is not imported");
    expect(new Set(lines).size).toBe(lines.length);
    const environment = { OPENAI_KEY: "k-1", IMPORTED_OPENAI_API_KEY_1: "k-2", ANTHROPIC_API_KEY: "k-3" };
    const [gpt, , alias] = loadConfig(environment, { folder }).models;
    expect(alias?.routes).toEqual(gpt?.routes ?? []);
  });

  test("imports Azure, Bedrock, Vertex AI and Gemini as the protocols of these names", async () => {
    const facts = "model_info: { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6, max_tokens: 1000 }";
    const entries = {
      azure: "model: azure/my-deployment, api_base: https://acme.openai.azure.com, api_version: 2024-02-01",
      entra: "model: azure/two, api_base: https://acme.openai.azure.com, tenant_id: t-canary",
      bedrock: "model: bedrock/converse/us.amazon.nova-pro-v1:0, aws_region_name: us-west-2",
      vertex:
        "model: vertex_ai/gemini-2.5-pro, vertex_project: os.environ/PROJECT, vertex_location: europe-west4",
      gemini: "model: gemini/gemini-2.5-pro",
    };
    const list = Object.entries(entries).map(
      ([name, params]) => `  - { model_name: ${name}, litellm_params: { ${params} }, ${facts} }`,
    );
    const named = `  - { model_name: named, litellm_params: { model: azure/own, api_base: https://acme.openai.azure.com }, model_info: { base_model: azure/gpt-4.1-mini } }`;
    write("config.yaml", `model_list:\n${[...list, named].join("\n")}\n`);
    const ended = await run("import", "litellm", "config.yaml", "--json");
    expect(ended.json()).toMatchObject({ problems: [], models: [...Object.keys(entries), "named"] });
    expect(ended.stdout).not.toContain("canary");
    const environment = { AZURE_API_KEY: "k-1", GEMINI_API_KEY: "k-2", PROJECT: "acme-1" };
    const { upstreams, models } = loadConfig(environment, { folder });
    expect(upstreams.map(({ name, protocol, baseUrl }) => [name, protocol, baseUrl])).toEqual([
      ["azure", "azure", "https://acme.openai.azure.com"],
      ["azure-2", "azure", "https://acme.openai.azure.com"],
      ["bedrock", "bedrock", "https://bedrock-runtime.us-west-2.amazonaws.com"],
      ["vertex_ai", "vertex", "https://europe-west4-aiplatform.googleapis.com"],
      ["gemini", "gemini", "https://generativelanguage.googleapis.com/v1beta"],
    ]);
    expect(models.map(({ routes }) => routes[0]?.upstreamModel)).toEqual([
      "my-deployment",
      "two",
      "us.amazon.nova-pro-v1:0",
      "gemini-2.5-pro",
      "gemini-2.5-pro",
      "own",
    ]);
  });

  test("names the fallbacks that have no counterpart, and limits that a fallback lowered", async () => {
    const settings =
      "{ default_fallbacks: [claude], context_window_fallbacks: [{ gpt: [claude] }], fallbacks: [] }";
    write("config.yaml", `${CONFIG}router_settings: ${settings}\n`);
    const ended = await run("import", "litellm", "config.yaml", "--prices", "prices.json", "--json");
    const { problems, notes } = ended.json();
    expect(problems).toContain("default_fallbacks: has no counterpart, write routes for it");
    expect(problems).toContain("context_window_fallbacks: has no counterpart, write routes for it");
    expect(notes).toContain(
      "gpt: a fallback lowered its limits to a window of 200000 and 32768 output tokens.",
    );
  });

  test("never prints or writes an inline key", async () => {
    const ended = await run("import", "litellm", "config.yaml", "--prices", "prices.json");
    expect(ended.stdout).toContain("set IMPORTED_OPENAI_API_KEY_1 to it");
    expect(ended.stdout + ended.stderr + readFileSync(join(folder, "tollgate.yaml"), "utf8")).not.toContain(
      "canary",
    );
    const dry = await run("import", "litellm", "config.yaml", "--prices", "prices.json", "--dry-run");
    expect(dry.stdout + dry.stderr).not.toContain("canary");
  });

  test("twice writes one file, and another file is not overwritten", async () => {
    const line = ["import", "litellm", "config.yaml", "--prices", "prices.json", "--json"];
    expect((await run(...line)).json()).toMatchObject({ written: true });
    expect((await run(...line)).json()).toMatchObject({ written: false });
    write("tollgate.yaml", "models: {}\n");
    const refused = await run(...line);
    expect(refused.stderr).toBe("tollgate.yaml exists with other content: name another file with --to.\n");
    expect(readFileSync(join(folder, "tollgate.yaml"), "utf8")).toBe("models: {}\n");
  });

  test("with --dry-run prints the file and writes none, also without any price", async () => {
    const ended = await run("import", "litellm", "config.yaml", "--dry-run");
    expect(ended.stdout).toContain('"gpt": {');
    expect(ended.stdout).toContain('"claude": {"known":"anthropic/claude-sonnet-4-5"');
    expect(ended.stdout).toContain("model_list[3] priceless: has no price");
    expect(existsSync(join(folder, "tollgate.yaml"))).toBe(false);
  });

  test.each([
    ["a list", "- a\n"],
    ["broken YAML", "model_list: [\n"],
  ])("of %s fails in one sentence", async (_, text) => {
    write("config.yaml", text);
    const ended = await run("import", "litellm", "config.yaml");
    expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^[^\n]+\n$/);
  });
});

describe("an import of keys", () => {
  const SECRET = "sk-abcdefghij_KLMNOPQR-12";
  const row = {
    token: digestOf(SECRET),
    key_name: "sk-...R-12",
    key_alias: "laptop",
    spend: 2.5,
    max_budget: 10,
    rpm_limit: 60,
    models: ["demo"],
    expires: "2099-01-01 00:00:00+00",
  };
  let database: Awaited<ReturnType<typeof connectDatabase>> | undefined;
  afterEach(() => database?.close());
  beforeEach(async () => {
    await run("account", "create", "--name", "acme");
  });

  async function openDatabase() {
    database = await connectDatabase({ dialect: "sqlite", path: join(folder, "data/tollgate.db") });
    return database;
  }

  test("of LiteLLM lets callers keep their secrets, with limits, models and what is left of a budget", async () => {
    const others = [
      { ...row, token: digestOf("a"), key_alias: "blocked", blocked: true },
      { ...row, token: digestOf("b"), key_alias: "old", expires: "2020-01-01T00:00:00Z" },
      { ...row, token: digestOf("c"), key_alias: "hourly", budget_duration: "1h" },
      { ...row, token: "plain-secret-canary", key_alias: "no digest" },
      { ...row, token: digestOf("d"), key_alias: "monthly", budget_duration: "30d", models: [] },
    ];
    write("keys.json", JSON.stringify({ keys: [row, ...others] }));
    const dry = await run("import", "litellm-keys", "keys.json", "--account", "acme", "--dry-run", "--json");
    expect(dry.json()).toMatchObject({ imported: ["laptop", "monthly"], dry_run: true });
    const first = await run("import", "litellm-keys", "keys.json", "--account", "acme", "--json");
    expect(first.json()).toMatchObject({
      imported: ["laptop", "monthly"],
      known: 0,
      problems: [
        "blocked: is blocked",
        "old: has expired, or its expiry is no time",
        "hourly: has the budget period 1h, which is no day, week or month",
        "no digest: its token is no SHA-256 digest",
      ],
    });
    expect(first.stdout + first.stderr).not.toContain("canary");
    const again = await run("import", "litellm-keys", "keys.json", "--account", "acme", "--json");
    expect(again.json()).toMatchObject({ imported: [], known: 2 });
    const { keys } = (await run("key", "list", "--json")).json() as { keys: object[] };
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatchObject({
      name: "laptop",
      hint: "sk-...R-12",
      models: ["demo"],
      spending_limit: { amount_usd: "7.50", reset: "total" },
    });
    expect(keys[1]).toMatchObject({ spending_limit: { amount_usd: "10.00", reset: "month" } });
    const opened = await openDatabase();
    const caller = await createAuthenticate({ database: opened })(SECRET);
    expect(caller.key).toMatchObject({ name: "laptop", limits: { requestsPerMinute: 60 } });
    const entries = await listAuditEntries(opened, { action: "key.imported" }, { size: 9, after: undefined });
    expect(entries).toHaveLength(2);
  });

  test("of LiteLLM is read from CSV as well", async () => {
    const head = "token,key_alias,max_budget,budget_duration,models,expires,blocked,tpm_limit";
    write("keys.csv", `${head}\r\n${row.token},"lap, ""top""",5,1d,"{demo,other}",,f,1000\r\n`);
    const ended = await run("import", "litellm-keys", "keys.csv", "--account", "acme", "--json");
    expect(ended.json()).toMatchObject({
      imported: ['lap, "top"'],
      problems: [],
    });
    const { keys } = (await run("key", "list", "--json")).json() as { keys: object[] };
    expect(keys[0]).toMatchObject({ models: ["demo", "other"], spending_limit: { reset: "day" } });
  });

  test("of one-api converts the quota, and callers keep their secrets", async () => {
    const key = "a".repeat(48);
    const rows = [
      {
        id: 1,
        key,
        name: "phone",
        status: 1,
        remain_quota: 750_000,
        unlimited_quota: 0,
        expired_time: -1,
        models: "demo",
      },
      {
        id: 2,
        key: "b".repeat(48),
        name: "free",
        status: 1,
        remain_quota: 0,
        unlimited_quota: 1,
        expired_time: -1,
      },
      {
        id: 3,
        key: "c".repeat(48),
        name: "off",
        status: 2,
        remain_quota: 1,
        unlimited_quota: 0,
        expired_time: -1,
      },
      {
        id: 4,
        key: "d".repeat(48),
        name: "old",
        status: 1,
        remain_quota: 1,
        unlimited_quota: 0,
        expired_time: 1,
      },
    ];
    write("tokens.json", JSON.stringify(rows));
    const ended = await run("import", "oneapi", "tokens.json", "--account", "acme", "--json");
    expect(ended.json()).toMatchObject({
      imported: ["phone", "free"],
      problems: ["off: is not enabled", "old: has expired"],
    });
    expect(ended.stdout).not.toContain(key);
    const { keys } = (await run("key", "list", "--json")).json() as { keys: object[] };
    expect(keys[0]).toMatchObject({ models: ["demo"], spending_limit: { amount_usd: "1.50" } });
    expect(keys[1]).toMatchObject({ spending_limit: null });
    const caller = await createAuthenticate({ database: await openDatabase() })(`sk-${key}`);
    expect(caller.key.name).toBe("phone");
  });
});
