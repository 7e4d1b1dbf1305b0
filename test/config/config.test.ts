import { describe, expect, test } from "bun:test";
import { mkdirSync, utimesSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { loadConfig, loadLedgerConfig, loadStorageConfig } from "../../src/config/config.ts";
import { ConfigFileSchema } from "../../src/config/schema.ts";
import { describeLocation } from "../../src/db/location.ts";
import { parsePrice } from "../../src/domain/money.ts";
import { configFolder, loadYaml, placesOf, problemsOf } from "./temp-config.ts";

const EXAMPLE = resolve(import.meta.dir, "../../tollgate.example.yaml");

const MINIMAL = `
upstreams: { up: { protocol: openai, base_url: https://up.example/v1/, api_key: k } }
models:
  m:
    routes: [{ upstream: up, model: um }]
    context_window: 100000
    max_output_tokens: 8000
    price: { input: "0.000001", output: "2" }
`;

/** Returns a value with every key of a schema, with "*" for names and elements. */
function readSample(schema: TSchema): unknown {
  const properties: Record<string, TSchema> = schema.properties ?? schema.patternProperties ?? {};
  if (schema.items) return [readSample(schema.items)];
  if (Object.keys(properties).length === 0) return "";
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, readSample(value)]));
}

/** Returns the keys of a document at any depth, each with its section. */
function keysOf(node: unknown, section = ""): readonly string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    const isName =
      [
        "upstreams",
        "keys",
        "models",
        "plans",
        "exports",
        "callers",
        "oidc",
        "headers",
        "tools",
        "anthropic_beta_names",
        "tiers",
      ].includes(section) || Array.isArray(node);
    const place = isName ? `${section}.*` : key;
    return isName ? keysOf(value, place) : [`${section} ${key}`, ...keysOf(value, key)];
  });
}

describe("loadConfig", () => {
  test("without a file has the defaults and the demo model alone", () => {
    const folder = configFolder();
    const config = loadConfig({}, { folder });
    expect(config).toMatchObject({ host: "127.0.0.1", port: 8080, logLevel: "info", isDemoOnly: true });
    expect(config.database).toEqual({ dialect: "sqlite", path: join(folder, "data/tollgate.db") });
    expect(config.dataFolder).toBe(join(folder, "data"));
    expect(config.ledger).toMatchObject({ listen: { host: "127.0.0.1", port: 50051 }, remote: undefined });
    expect(config.models.map(({ id }) => id)).toEqual(["demo"]);
    expect(config.keyLimits).toEqual({
      requestsPerMinute: 600,
      tokensPerMinute: 2_000_000,
      concurrentRequests: 50,
    });
    expect(config).toMatchObject({ holdTtlMs: 60_000, drainMs: 20_000, bodyBytesInFlightMax: 134_217_728 });
  });

  test("a model with only its required keys gets the defaults", () => {
    const [model] = loadYaml(MINIMAL).models;
    expect(model).toMatchObject({
      id: "m",
      outputTokensMax: 8_000,
      outputTokensDefault: 4_096,
      imageTokens: 2_000,
    });
    expect(model?.price).toEqual({
      input: 1n,
      output: 2_000_000n,
      cachedInput: 1n,
      cacheWrite: 2n,
      cacheWrite1h: 2n,
    });
    expect(model?.routes).toEqual([
      {
        upstream: "up",
        upstreamModel: "um",
        priority: 1,
        weight: 1,
        price: model?.price ?? expect.anything(),
        traits: { reasoning: "none", sampling: true },
      },
    ]);
  });

  test("the default output limit is at most the model's maximum", () => {
    const yaml = MINIMAL.replace("max_output_tokens: 8000", "max_output_tokens: 300");
    expect(loadYaml(yaml).models[0]?.outputTokensDefault).toBe(300);
  });

  test("a model that only embeds has no output tokens and no default of them", () => {
    const yaml = MINIMAL.replace("max_output_tokens: 8000", "max_output_tokens: 0");
    expect(loadYaml(yaml).models[0]).toMatchObject({ outputTokensMax: 0, outputTokensDefault: 0 });
    const usual = yaml.replace(
      "max_output_tokens: 0",
      "max_output_tokens: 0\n    default_max_output_tokens: 1",
    );
    expect(problemsOf(usual)).toEqual([
      "models.m.default_max_output_tokens: is above max_output_tokens, expected no such key, for a model without output",
    ]);
    const none = yaml.replace("max_output_tokens: 0", "max_output_tokens: -1");
    expect(placesOf(problemsOf(none))).toEqual(["models.m.max_output_tokens"]);
  });

  test("routes are sorted by priority and keep the order of the file within a priority", () => {
    const routes = `routes: [{ upstream: up, model: c, priority: 2 }, { upstream: up, model: a }, { upstream: demo, model: b }]`;
    const yaml = MINIMAL.replace("routes: [{ upstream: up, model: um }]", routes);
    expect(loadYaml(yaml).models[0]?.routes.map(({ upstreamModel }) => upstreamModel)).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  const LONG = `long_context: { price: { input: "6", output: "7" } }`;

  test("a route allows the betas of its model and of its upstream", () => {
    const yaml = MINIMAL.replace("protocol: openai", "protocol: anthropic, anthropic_betas: [fast-mode-*]");
    expect(loadYaml(yaml).models[0]?.routes[0]?.betas).toEqual(["fast-mode-*"]);
    const both = yaml.replace(
      "context_window",
      "anthropic_betas: [context-1m-2025-08-07]\n    context_window",
    );
    expect(loadYaml(both).models[0]?.routes[0]?.betas).toEqual(["context-1m-2025-08-07", "fast-mode-*"]);
    expect(loadYaml(MINIMAL).models[0]?.routes[0]?.betas).toBeUndefined();
  });

  test("a long context has a price of its own, and the price of the route takes precedence", () => {
    const yaml = MINIMAL.replace("price:", `${LONG}\n    price:`);
    const [model] = loadYaml(yaml).models;
    expect(model?.longContext).toEqual({ contextWindow: undefined, aboveInputTokens: 100_000 });
    expect(model?.routes[0]?.longPrice).toMatchObject({ input: 6_000_000n, cacheWrite1h: 12_000_000n });
    const own = yaml.replace("model: um", 'model: um, long_context_price: { input: "8", output: "9" }');
    expect(loadYaml(own).models[0]?.routes[0]?.longPrice?.output).toBe(9_000_000n);
  });

  test("default models of routes are models of the file that the routes can be answered by", () => {
    const withDefaults = (defaults: string) => `${MINIMAL}\ndefault_models: ${defaults}\n`;
    expect(loadYaml(withDefaults("{ moderations: m, images: m }")).defaultModels).toEqual({
      moderations: "m",
      images: "m",
    });
    expect(() => loadYaml(withDefaults("{ images: other }"))).toThrow("default_models.images");
    const anthropic = withDefaults("{ images: m }").replace("protocol: openai", "protocol: anthropic");
    expect(() => loadYaml(anthropic)).toThrow("default_models.images");
  });

  test.each([
    ["protocol: openai", "protocol: openai, anthropic_betas: [a]", "upstreams.up.anthropic_betas"],
    [
      "protocol: openai",
      "protocol: openai, anthropic_beta_names: { a: b }",
      "upstreams.up.anthropic_beta_names",
    ],
    ["price:", "anthropic_betas: [a b]\n    price:", "models.m.anthropic_betas[0]"],
    ["price:", "anthropic_betas: a\n    price:", "models.m.anthropic_betas"],
    ["price:", "long_context: { context_window: 99999 }\n    price:", "models.m.long_context.context_window"],
    [
      "price:",
      "long_context: { above_input_tokens: 100001 }\n    price:",
      "models.m.long_context.above_input_tokens",
    ],
    [
      "model: um",
      'model: um, long_context_price: { input: "8", output: "9" }',
      "models.m.routes[0].long_context_price",
    ],
    ["models:", "billing: { client_disconnect: refund }\nmodels:", "billing.client_disconnect"],
  ])("%j changed to %j is a problem", (usual, wrong, place) => {
    expect(placesOf(problemsOf(MINIMAL.replace(usual, wrong)))).toEqual([place]);
  });

  test("a client that disconnects is charged its input by default", () => {
    expect(loadYaml(MINIMAL).clientDisconnect).toBe("charge_input");
    expect(loadYaml(`${MINIMAL}\nbilling: { client_disconnect: free }`).clientDisconnect).toBe("free");
  });

  test("a refund to a credit that has ended has the days of the file, at most a year", () => {
    expect(loadYaml(MINIMAL).refundCreditDays).toBeUndefined();
    expect(loadYaml(`${MINIMAL}\nbilling: { refund_credit_days: 30 }`).refundCreditDays).toBe(30);
    const problems = problemsOf(`${MINIMAL}\nbilling: { refund_credit_days: 366 }`);
    expect(placesOf(problems)).toEqual(["billing.refund_credit_days"]);
  });

  test("a route may have a price of its own beside the price of its model", () => {
    const route = `routes: [{ upstream: up, model: um, price: { input: "7", output: "8" } }]`;
    const [model] = loadYaml(MINIMAL.replace("routes: [{ upstream: up, model: um }]", route)).models;
    expect(model?.routes[0]?.price.input).toBe(parsePrice("7"));
    expect(model?.routes[0]?.price.cacheWrite1h).toBe(parsePrice("14"));
    expect(model?.price.input).toBe(1n);
  });

  test("the slash at the end of a base URL is removed", () =>
    expect(loadYaml(MINIMAL).upstreams[0]?.baseUrl).toBe("https://up.example/v1"));

  test("the example file loads without problems and has the default values", () => {
    const environment = {
      TOLLGATE_CONFIG: EXAMPLE,
      OPENAI_API_KEY: "sk-o",
      ANTHROPIC_API_KEY: "sk-a",
      AZURE_OPENAI_API_KEY: "azure-k",
      GEMINI_API_KEY: "gemini-k",
      GOOGLE_CREDENTIALS: '{ "type": "service_account" }',
      EXPORT_SECRET: "sixteen-characters",
      KEYCLOAK_CLIENT_SECRET: "keycloak-k",
      SHOP_SECRET: `whsec_${"a".repeat(32)}`,
      SHOP_OLD_SECRET: `whsec_${"b".repeat(32)}`,
      EXPORT_TOKEN: "t",
    };
    const config = loadConfig(environment, { folder: configFolder() });
    expect(config.isDemoOnly).toBe(false);
    expect(config.upstreams.map(({ name, apiKey }) => [name, apiKey])).toEqual([
      ["openai", "sk-o"],
      ["anthropic", "sk-a"],
      ["azure", "azure-k"],
      ["azure-entra", ""],
      ["bedrock", ""],
      ["gemini", "gemini-k"],
      ["vertex", ""],
      ["openai-pool", ""],
    ]);
    const { keyLimits, accountLimits, holdTtlMs, drainMs, bodyBytesInFlightMax } = loadConfig(
      {},
      { folder: "/" },
    );
    expect(config).toMatchObject({ keyLimits, holdTtlMs, drainMs, bodyBytesInFlightMax });
    expect(config.accountLimits).toEqual({ ...accountLimits, tokensPerMinute: 20_000_000 });
  });

  test("the example file contains every key of the schema", async () => {
    const text = await Bun.file(EXAMPLE).text();
    const shown = keysOf(Bun.YAML.parse(text.replace(/\$\{\w+\}/g, "k")));
    const missing = keysOf(readSample(ConfigFileSchema)).filter((key) => !shown.includes(key));
    expect(missing).toEqual([]);
  });

  test("the modification time of the file is the creation time of its models", () => {
    const folder = configFolder(MINIMAL);
    utimesSync(join(folder, "tollgate.yaml"), 1_700_000_000, 1_700_000_000);
    expect(loadConfig({}, { folder }).models[0]?.createdAtS).toBe(1_700_000_000);
  });

  test("the configuration is deeply frozen", () => {
    const config = loadYaml(MINIMAL);
    const isFrozen = (value: unknown): boolean =>
      typeof value !== "object" ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(isFrozen));
    expect(isFrozen(config)).toBe(true);
    expect(isFrozen(loadConfig({}, { folder: configFolder() }))).toBe(true);
  });

  test("a key without a value counts as missing", () => {
    expect(loadYaml("models:\nlimits:\n  requests_per_minute:\n").isDemoOnly).toBe(true);
    expect(loadYaml("# nothing\n").isDemoOnly).toBe(true);
  });

  test("an empty variable counts as not set", () => {
    const folder = configFolder();
    const environment = {
      PORT: "",
      HOST: "",
      DATABASE_URL: "",
      LOG_LEVEL: "",
      TOLLGATE_CONFIG: "",
      REDIS_URL: "",
      REDIS_TLS_CA: "",
      METRICS_LISTEN: "",
    };
    expect(loadConfig(environment, { folder })).toEqual(loadConfig({}, { folder }));
  });
});

describe("http.cors_origins", () => {
  const originsOf = (yaml: string) => loadYaml(`${MINIMAL}\nhttp: { cors_origins: ${yaml} }`).corsOrigins;

  test("is empty by default, and may be a list or all origins", () => {
    expect(loadYaml(MINIMAL).corsOrigins).toBeUndefined();
    expect(originsOf("'*'")).toBe("*");
    const some = [
      "https://app.example.com",
      "http://localhost:3000",
      "http://[::1]:81",
      "chrome-extension://abc",
    ];
    expect(originsOf(JSON.stringify(some))).toEqual(some);
    expect(originsOf("[]")).toEqual([]);
  });

  test.each([
    ...["https://app.example.com/", "https://app.example.com/x", "app.example.com", "*", "null", ""],
    ...[
      "https://App.example.com",
      "https://app.example.com:443",
      "http://a:80",
      "https://u@a",
      "https://a b",
    ],
  ])("reports %p, which is not an origin, by its place", (origin) => {
    const yaml = `http: { cors_origins: [https://good.example, ${JSON.stringify(origin)}] }`;
    expect(placesOf(problemsOf(yaml)).join()).toStartWith("http.cors_origins");
  });

  test.each(["true", "7", "{}", "anything", "[[]]"])(
    'reports %s, which is neither a list nor "*"',
    (value) => {
      expect(problemsOf(`http: { cors_origins: ${value} }`).join()).toContain('"*" or a list of origins');
    },
  );
});

describe("the problems of loadConfig", () => {
  test("are reported together for environment, schema and rules", () => {
    const yaml = `
upstreams:
  demo: { protocol: openai, base_url: https://x.example, api_key: k }
  a: { protocol: grpc, base_url: http://8.8.8.8/v1, api_key: "\${MISSING_KEY}", extra: 1 }
models:
  gpt-4.1:
    routes: [{ upstream: nowhere, model: x, weight: 0 }]
    context_window: 10
    max_output_tokens: 20
    default_max_output_tokens: 30
    price: { input: "1.2345678", output: 3.00, cached_input: "-1" }
limits: { requests_per_minute: -1, tokens_per_minute: 1.5 }
limiter: { on_failure: allow, replicas: 0 }
ledger: { wallets_per_batch: 0 }
colour: red
`;
    const environment = {
      PORT: "65536",
      HOST: "http://x",
      LOG_LEVEL: "loud",
      DATABASE_URL: "mysql://u:p@h/d",
      REDIS_URL: "redis://h/name",
      REDIS_TLS_CA: "ca.pem",
      LEDGER_URL: "http://h:1",
      LEDGER_LISTEN: "127.0.0.1",
      LEDGER_TOKEN: "short",
      LEDGER_TLS_CERT: "./nowhere.pem",
      METRICS_LISTEN: "9464",
    };
    expect([...placesOf(problemsOf(yaml, environment))].sort()).toEqual(
      [
        "PORT",
        "HOST",
        "LOG_LEVEL",
        "DATABASE_URL",
        "REDIS_URL",
        "REDIS_TLS_CA",
        "LEDGER_URL",
        "LEDGER_LISTEN",
        "LEDGER_TOKEN",
        "LEDGER_TLS_CERT",
        "LEDGER_TLS_KEY",
        "METRICS_LISTEN",
        "upstreams.demo",
        "upstreams.a.protocol",
        "upstreams.a.base_url",
        "upstreams.a.api_key",
        "upstreams.a.extra",
        'models["gpt-4.1"].routes[0].upstream',
        'models["gpt-4.1"].routes[0].weight',
        'models["gpt-4.1"].max_output_tokens',
        'models["gpt-4.1"].default_max_output_tokens',
        'models["gpt-4.1"].price.input',
        'models["gpt-4.1"].price.output',
        'models["gpt-4.1"].price.cached_input',
        "limits.requests_per_minute",
        "limits.tokens_per_minute",
        "limiter.on_failure",
        "limiter.replicas",
        "ledger.wallets_per_batch",
        "colour",
      ].sort(),
    );
  });

  test("name what is wrong and what is expected", () => {
    expect(problemsOf("drain_s: soon", { PORT: "80.5" })).toEqual([
      "PORT: is not a port, expected a whole number from 0 to 65535",
      "drain_s: has a wrong value, expected a whole number from 0 to 3600",
    ]);
    expect(problemsOf(undefined, { DATABASE_URL: "mysql://h/d" })).toEqual([
      "DATABASE_URL: is not the URL of a supported database, expected sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME",
    ]);
  });

  test.each([
    ["longer than 256 characters", "x".repeat(257)],
    ["with a control character", '"a\\tb"'],
  ])("contain an upstream model name %s", (_, name) => {
    const yaml = MINIMAL.replace("model: um", `model: ${name}`);
    expect(placesOf(problemsOf(yaml))).toEqual(["models.m.routes[0].model"]);
  });

  test("never quote the value of a variable or a secret of the file", () => {
    const secret = "s3cr3t-canary";
    const yaml = `
upstreams:
  a: { protocol: "\${S}", base_url: "\${S}", api_key: "\${S} \${S}", output_limit_field: "\${S}" }
  b: { protocol: openai, base_url: "http://\${S}@8.8.8.8/\${S}", api_key: ["\${S}"] }
models:
  m:
    routes: [{ upstream: "\${S}", model: "\${S}", priority: "\${S}" }, "\${S}"]
    context_window: "\${S}"
    max_output_tokens: "\${S}"
    price: "\${S}"
limits: "\${S}"
limiter: { on_failure: "\${S}", replicas: "\${S}" }
"\${S}": 1
`;
    const environment = {
      S: secret,
      PORT: secret,
      HOST: `http://${secret}`,
      LOG_LEVEL: secret,
      DATABASE_URL: `mysql://${secret}`,
      REDIS_URL: `rediss://:${secret}@h/${secret}`,
      REDIS_TLS_CA: secret,
      METRICS_LISTEN: secret,
      LEDGER_URL: secret,
      LEDGER_LISTEN: secret,
      LEDGER_TOKEN: `${secret} too`,
      LEDGER_TLS_CA: secret,
    };
    const problems = problemsOf(yaml, environment);
    expect(problems.length).toBeGreaterThan(18);
    expect(problems.join("\n")).not.toContain(secret);
    expect(problemsOf(undefined, { TOLLGATE_CONFIG: secret, PORT: secret }).join()).not.toContain(secret);
    expect(problemsOf(`a: [${secret}\n`).join()).not.toContain(secret);
  });

  test.each([
    ["a missing file", undefined, { TOLLGATE_CONFIG: "./nowhere.yaml" }, "TOLLGATE_CONFIG"],
    ["a file that is not UTF-8", new Uint8Array([0x61, 0x3a, 0x20, 0xff]), {}, "tollgate.yaml"],
    ["a list", "- a\n- b\n", {}, "tollgate.yaml"],
    ["a text", "hello", {}, "tollgate.yaml"],
    ["two documents", "a: 1\n---\nb: 2\n", {}, "tollgate.yaml"],
  ])("contain the place of %s", (_, yaml, environment, place) => {
    expect(placesOf(problemsOf(yaml, environment))).toEqual([place]);
  });

  test("contain a folder in place of a file", () => {
    const folder = configFolder();
    mkdirSync(join(folder, "tollgate.yaml"));
    expect(() => loadConfig({}, { folder })).toThrow("tollgate.yaml: is a folder, expected a YAML file");
  });
});

describe("DATABASE_URL", () => {
  test.each([
    ["sqlite:x.db", "/base/x.db"],
    ["sqlite:./data/x.db", "/base/data/x.db"],
    ["sqlite:/var/x.db", "/var/x.db"],
    ["sqlite:///var/x.db", "/var/x.db"],
  ])("%p is the SQLite file %p", (url, path) => {
    const { database, dataFolder } = loadStorageConfig({ DATABASE_URL: url }, { folder: "/base" });
    expect(database).toEqual({ dialect: "sqlite", path });
    expect(dataFolder).toBe(dirname(path));
  });

  test.each([
    "postgres://h",
    "postgresql://u:p@h:5433/d?sslmode=require",
    "postgres://u@[::1]/d",
    "postgres:///d?host=/run/postgresql",
  ])("%p is a PostgreSQL database", (url) => {
    const { database, dataFolder } = loadStorageConfig({ DATABASE_URL: url }, { folder: "/base" });
    expect(database).toEqual({ dialect: "postgres", url });
    expect(dataFolder).toBe("/base/data");
  });

  test.each([
    "sqlite:",
    "sqlite::memory:",
    "sqlite://host/x.db",
    "mysql://h/d",
    "./x.db",
    "postgres://",
    "postgres:",
    "postgres://h:port/d",
  ])("%p is rejected", (url) => {
    expect(() => loadStorageConfig({ DATABASE_URL: url })).toThrow("DATABASE_URL: ");
  });

  test("is displayed without user, password and parameters", () => {
    const url = "postgres://user-canary:pass-canary@h:5433/d?sslmode=require&password=canary";
    expect(describeLocation({ dialect: "postgres", url })).toBe("postgres://h:5433/d");
    const socket = "postgres://user-canary@localhost/d?host=/run/postgresql";
    expect(describeLocation({ dialect: "postgres", url: socket })).toBe("postgres:///run/postgresql/d");
  });
});

describe("TOLLGATE_DATA", () => {
  test("sets the folder of the ledger token and the settlement outbox", () => {
    const { dataFolder } = loadStorageConfig({ TOLLGATE_DATA: "./state" }, { folder: "/base" });
    expect(dataFolder).toBe("/base/state");
  });
});

describe("loadLedgerConfig", () => {
  test("reads only the settings of the ledger, so that other variables need not be set", () => {
    const yaml = `${MINIMAL.replace("api_key: k", `api_key: \${UNSET}`)}ledger: { wallets_per_batch: 1 }\ndrain_s: 7\n`;
    const { config } = loadLedgerConfig({ LOG_LEVEL: "warn" }, { folder: configFolder(yaml) });
    expect(config).toMatchObject({ walletsPerBatch: 1, drainMs: 7_000, logLevel: "warn" });
  });

  test("reads ledger.wallets_per_batch like loadConfig", () => {
    expect(loadYaml("ledger: { wallets_per_batch: 5 }").walletsPerBatch).toBe(5);
    expect(loadYaml("drain_s: 1").walletsPerBatch).toBeUndefined();
  });

  test("throws every problem of environment and file", () => {
    const folder = configFolder("ledger: { wallets_per_batch: many }\n");
    expect(() => loadLedgerConfig({ LOG_LEVEL: "loud" }, { folder })).toThrow(
      /LOG_LEVEL: .*\n.*ledger\.wallets_per_batch: /,
    );
    expect(() => loadLedgerConfig({}, { folder: configFolder("- a\n") })).toThrow("tollgate.yaml: ");
  });
});

describe("PORT", () => {
  test.each(["0", "1", "65535"])("accepts %p", (port) => {
    expect(problemsOf(undefined, { PORT: port })).toEqual([]);
  });

  test.each(["-1", "65536", "80.5", "8080 ", "0x50", "1e3", "http", "٨٠"])("rejects %p", (port) => {
    expect(placesOf(problemsOf(undefined, { PORT: port }))).toEqual(["PORT"]);
  });
});
