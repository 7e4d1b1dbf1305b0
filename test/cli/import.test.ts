import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listAuditEntries } from "../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../src/accounts/keys/authenticate.ts";
import { digestOf } from "../../src/accounts/keys/key.ts";
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

  test("refuses entries with a bound or a price that has no counterpart, and names other members", async () => {
    const facts = "input_cost_per_token: 1e-6, output_cost_per_token: 2e-6, max_tokens: 1000";
    const entry = (name: string, params: string, info: string) =>
      `  - { model_name: ${name}, litellm_params: { model: openai/x${params} }, model_info: { ${facts}${info} } }`;
    const list = [
      entry("team", "", ", team_id: growth"),
      entry("grouped", "", ", access_groups: [beta]"),
      entry("tiered", ", output_cost_per_reasoning_token: 3e-6", ""),
      entry("budget", ", max_budget: 5, budget_duration: 1d", ""),
      entry("slow", ", timeout: 600, drop_params: false, extra_headers: { a: b }", ", supports_vision: true"),
    ];
    write("config.yaml", `model_list:\n${list.join("\n")}\n`);
    const ended = await run("import", "litellm", "config.yaml", "--json");
    expect(ended.exitCode).toBe(1);
    expect(ended.json()).toMatchObject({
      models: ["slow"],
      problems: [
        "model_list[0] team: has no counterpart here for team_id",
        "model_list[1] grouped: has no counterpart here for access_groups",
        "model_list[2] tiered: has no counterpart here for output_cost_per_reasoning_token",
        "model_list[3] budget: has no counterpart here for max_budget, budget_duration",
        "model_list[4] slow: is imported without timeout, extra_headers",
      ],
    });
  });

  test("names the settings of the whole proxy that bound its callers", async () => {
    const more = `
guardrails: [{ guardrail_name: pii }]
router_settings: { enable_tag_filtering: true }
`;
    const text = CONFIG.replace(
      "master_key:",
      "allowed_ips: [10.0.0.1], allowed_routes: [], master_key:",
    ).replace("litellm_settings:", "litellm_settings:\n  max_budget: 100");
    write("config.yaml", `${text}${more}`);
    const ended = await run("import", "litellm", "config.yaml", "--prices", "prices.json", "--json");
    expect(ended.exitCode).toBe(1);
    const problems = ended.json().problems as readonly string[];
    expect(problems.filter((problem) => problem.endsWith("has no counterpart here"))).toEqual([
      "general_settings.allowed_ips: has no counterpart here",
      "litellm_settings.max_budget: has no counterpart here",
      "router_settings.enable_tag_filtering: has no counterpart here",
      "guardrails: has no counterpart here",
    ]);
  });

  test("keeps a model with a price of its own whose limits only the catalog knows", async () => {
    const price = "model_info: { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 }";
    write(
      "config.yaml",
      `model_list:\n  - { model_name: gpt, litellm_params: { model: openai/gpt-4.1-mini }, ${price} }\n`,
    );
    const ended = await run("import", "litellm", "config.yaml", "--json");
    expect(ended.json()).toMatchObject({ models: ["gpt"], problems: [] });
    const [gpt] = loadConfig({ OPENAI_API_KEY: "k-1" }, { folder }).models;
    expect(gpt).toMatchObject({ contextWindow: 1_047_576, outputTokensMax: 32_768 });
    expect(gpt?.price).toMatchObject({ input: 1_000_000n, output: 2_000_000n });
  });

  test("replaces no price or limit that is written wrong by that of a table or the catalog", async () => {
    const own = { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 };
    const wrong = {
      negative: { ...own, output_cost_per_token: -2e-6 },
      text: { ...own, input_cost_per_token: "3,0" },
      object: { ...own, input_cost_per_token: { usd: 1e-6 } },
      endless: { ...own, output_cost_per_token: "1e400" },
      huge: { ...own, output_cost_per_token: 1e9 },
      cached: { ...own, cache_read_input_token_cost: "NaN" },
      half: { input_cost_per_token: 1e-6 },
      window: { ...own, max_input_tokens: 0.5 },
    };
    const limits = { max_input_tokens: 1_000, max_output_tokens: 100 };
    const entries = Object.entries(wrong).map(([model_name, info]) => ({
      model_name,
      litellm_params: { model: "openai/own" },
      model_info: { ...limits, ...info },
    }));
    const tiny = {
      model_name: "tiny",
      litellm_params: { model: "openai/own" },
      model_info: { ...limits, ...own },
    };
    Object.assign(tiny.model_info, { input_cost_per_token: 1e-15 });
    write("config.json", JSON.stringify({ model_list: [...entries, tiny] }));
    const ended = await run("import", "litellm", "config.json", "--json");
    const amount = "has a price that is no amount:";
    expect(ended.json()).toMatchObject({
      models: ["tiny"],
      problems: [
        `model_list[0] negative: ${amount} output_cost_per_token`,
        `model_list[1] text: ${amount} input_cost_per_token`,
        `model_list[2] object: ${amount} input_cost_per_token`,
        `model_list[3] endless: ${amount} output_cost_per_token`,
        `model_list[4] huge: ${amount} output_cost_per_token`,
        `model_list[5] cached: ${amount} cache_read_input_token_cost`,
        "model_list[6] half: has no price: output_cost_per_token is missing",
        expect.stringContaining("model_list[7] window: has token limits that are no whole numbers"),
      ],
    });
    // What has more decimals than a price is rounded up, as in the catalog: it is never free.
    const [model] = loadConfig({ OPENAI_API_KEY: "k-1" }, { folder }).models;
    expect(model?.price.input).toBe(1n);
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
  beforeEach(() => run("account", "create", "--name", "acme"));

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

  test("of LiteLLM keeps a name of any script, without the characters that show nothing", async () => {
    const names = {
      "하\u3164\u115fn": "하  n",
      "\uffa0\u1160": "imported",
      "किरण — 👨‍👩‍👧": "किरण — 👨‍👩‍👧",
    };
    const keys = Object.keys(names).map((alias) => ({ ...row, token: digestOf(alias), key_alias: alias }));
    write("keys.json", JSON.stringify({ keys }));
    const ended = await run("import", "litellm-keys", "keys.json", "--account", "acme", "--json");
    expect(ended.json()).toMatchObject({ imported: Object.values(names), problems: [] });
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
        cross_group_retry: 0,
        billing_type: 0,
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

  test("of one-api refuses deleted keys, and keys whose bounds have no counterpart, by name", async () => {
    const of = (name: string, more: object) => ({
      id: 1,
      user_id: 7,
      key: name.replaceAll(" ", "-").padEnd(48, "x"),
      name,
      status: 1,
      unlimited_quota: true,
      remain_quota: 0,
      expired_time: -1,
      created_time: 1_700_000_000,
      used_quota: 12,
      allow_ips: "",
      subnet: null,
      group: "default",
      deleted_at: null,
      ...more,
    });
    const rows = [
      of("plain", {}),
      of("deleted", { deleted_at: "2026-01-01 00:00:00+00" }),
      of("addresses", { allow_ips: "10.0.0.1" }),
      of("network", { subnet: "10.0.0.0/8" }),
      of("vip", { group: "vip" }),
      of("of a later version", { max_requests: 5 }),
      of("no model", { model_limits_enabled: true, model_limits: "" }),
      of("disabled user", { user_status: 2 }),
      of("no date", { expired_time: 9e12 }),
      of("half a second", { expired_time: 99_999_999_999.5 }),
      of("too much", { unlimited_quota: false, remain_quota: 9e15 }),
    ];
    write("tokens.json", JSON.stringify(rows));
    const line = ["import", "oneapi", "tokens.json", "--account", "acme", "--json"];
    const ended = await run(...line);
    expect(ended.exitCode).toBe(1);
    expect(ended.json()).toMatchObject({
      imported: ["plain"],
      problems: [
        "deleted: was deleted",
        "addresses: has no counterpart here for allow_ips, import it with --without allow_ips",
        "network: has no counterpart here for subnet, import it with --without subnet",
        "vip: has no counterpart here for group, import it with --without group",
        "of a later version: has no counterpart here for max_requests, import it with --without max_requests",
        "no model: may use no model",
        "disabled user: its user is not enabled",
        "no date: has an expiry that is no time",
        "half a second: has an expiry that is no time",
        "too much: has a quota that is no amount",
      ],
    });
    const more = await run(...line, "--without", "allow_ips,subnet");
    expect(more.json()).toMatchObject({
      imported: ["addresses", "network"],
      known: 1,
      without: ["addresses: allow_ips", "network: subnet"],
    });
  });

  test("of several users into one account is refused, until one is named or all are", async () => {
    const rows = [7, 7, 8].map((user_id, index) => ({
      id: index,
      user_id,
      key: String(index).repeat(48),
      name: `key ${index}`,
      status: 1,
      unlimited_quota: true,
    }));
    write("tokens.json", JSON.stringify(rows));
    const line = ["import", "oneapi", "tokens.json", "--account", "acme", "--json"];
    const refused = await run(...line);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("The keys belong to 2 owners: 7 (2), 8 (1).");
    expect((await run(...line, "--owner", "7")).json()).toMatchObject({ imported: ["key 0", "key 1"] });
    expect((await run(...line, "--all-owners")).json()).toMatchObject({ imported: ["key 2"], known: 2 });
  });

  test("of LiteLLM gives a key of a team the models of that team, and none beyond them", async () => {
    const of = (key_alias: string, more: object) => ({
      token: digestOf(key_alias),
      key_alias,
      team_id: "growth",
      spend: 0,
      metadata: "{}",
      permissions: {},
      created_at: "2026-01-01 00:00:00",
      ...more,
    });
    const rows = [
      of("bare", { models: ["all-team-models"] }),
      of("open", { models: [] }),
      of("of the team", { models: ["all-team-models"], team_models: "{gpt,claude}" }),
      of("both", { models: ["claude", "opus"], team_models: ["gpt", "claude"] }),
      of("neither", { models: ["opus"], team_models: ["gpt"] }),
      of("free team", { models: [], team_models: [] }),
      of("pattern", { models: ["openai/*"] }),
    ];
    write("keys.json", JSON.stringify(rows));
    const ended = await run("import", "litellm-keys", "keys.json", "--account", "acme", "--json");
    expect(ended.exitCode).toBe(1);
    expect(ended.json()).toMatchObject({
      imported: ["of the team", "both", "free team"],
      problems: [
        "bare: has no counterpart here for team_models, import it with --without team_models",
        "open: has no counterpart here for team_models, import it with --without team_models",
        "neither: may use no model",
        "pattern: has a pattern among its models: name each model",
      ],
    });
    const { keys } = (await run("key", "list", "--json")).json() as { keys: { models: unknown }[] };
    expect(keys.map(({ models }) => models)).toEqual([["gpt", "claude"], ["claude"], null]);
  });

  test("of LiteLLM refuses each bound that has no counterpart, by the name of its column", async () => {
    const bounds = {
      "a budget": { budget_id: "b-1" },
      "a budget per model": { model_max_budget: { gpt: 5 } },
      "tokens a day": { tpd_limit: 1000 },
      routes: { allowed_routes: ["/key/generate"] },
      tags: { metadata: { tags: ["a"], model_rpm_limit: { gpt: 1 }, guardrails: [] } },
      management: { key_type: "management" },
      "a blocked team": { team_blocked: true },
      "a user": { user_id: "dana", models: [] },
      "an alias": { aliases: '{"gpt": "dear"}' },
      plain: { allowed_routes: ["llm_api_routes"], key_type: "default", auto_rotate: false },
    };
    const rows = Object.entries(bounds).map(([key_alias, more]) => ({
      token: digestOf(key_alias),
      key_alias,
      models: ["demo"],
      ...more,
    }));
    write("keys.json", JSON.stringify(rows));
    const line = ["import", "litellm-keys", "keys.json", "--account", "acme", "--all-owners", "--json"];
    const ended = await run(...line);
    const problems = ended.json().problems as readonly string[];
    expect(ended.json()).toMatchObject({ imported: ["plain"] });
    expect(problems.map((problem) => problem.replace(/, import it.*/, ""))).toEqual([
      "a budget: has no counterpart here for budget_id",
      "a budget per model: has no counterpart here for model_max_budget",
      "tokens a day: has no counterpart here for tpd_limit",
      "routes: has no counterpart here for allowed_routes",
      "tags: has no counterpart here for metadata.tags,metadata.model_rpm_limit",
      "management: is of the type management",
      "a blocked team: its team is blocked",
      "a user: has no counterpart here for user_models",
      "an alias: has no counterpart here for aliases",
    ]);
    expect((await run(...line, "--without", "metadata")).json()).toMatchObject({ imported: ["tags"] });
  });
});
