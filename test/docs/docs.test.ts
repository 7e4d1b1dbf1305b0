import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";
import { scripts } from "../../package.json";
import { loadConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/problems.ts";
import { ERRORS } from "../../src/errors.ts";
import { freePort } from "../support/free-port.ts";
import { requirePythonPackages } from "../support/installed-programs.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { until } from "../support/until.ts";
import { ATTRIBUTION_BLOCKS } from "./attribution-blocks.ts";
import { PROGRAMS, WEBHOOK_BODY, WEBHOOK_CHECK } from "./console-blocks.ts";
import { EXPORT_YAML, EXPORTED_LINE, VERIFY_EXPORT } from "./export-blocks.ts";
import { GEMINI_BLOCKS } from "./gemini-blocks.ts";
import { KNOWN_YAML, MODEL_COMMANDS } from "./model-blocks.ts";
import { codesOf, REPOSITORY, readPage, readPages } from "./pages.ts";
import { PAYMENT_BLOCKS } from "./payment-blocks.ts";
import { PLAN_BLOCKS } from "./plan-blocks.ts";
import { PROJECT_BLOCKS } from "./project-blocks.ts";
import { PROVIDER_BLOCKS } from "./provider-blocks.ts";
import { AUDIO_YAML, FEES_YAML } from "./provider-tool-blocks.ts";
import { createReaderShell } from "./reader-shell.ts";
import { ABILITIES_YAML, POOL_YAML } from "./routing-blocks.ts";
import { PERSON_COMMANDS, SIGN_IN_YAML } from "./sign-in-blocks.ts";
import { TIERS_YAML } from "./tier-blocks.ts";
import { TUTORIAL_BLOCKS } from "./tutorial-blocks.ts";

const README = readPage("README.md");
const CLIENTS = readPage("docs/clients.md");
const CONFIGURATION = readPage("docs/configuration.md");
const ERROR_PAGE = readPage("docs/errors.md");
/** Loaded by the test of their configuration. */
const GOOGLE_YAML = readPage("docs/providers/google.md").snippets;
const LEDGER_API = readPage("docs/ledger-api.md");
/** Loaded by the test of its configuration. */
const PROMPT_CACHING = readPage("docs/prompt-caching.md").snippet("prompt_caching:");
const START = README.snippet("run start");
const TEST = README.snippet("run test");
const FIRST_REQUEST = README.snippet("curl -i");
const RECEIPT = README.snippet("/v1/receipts/");
const OPENAI = README.snippet('from "openai"');
const ANTHROPIC = README.snippet('from "@anthropic-ai/sdk"');
const CLAUDE_CODE = README.snippet("claude -p");
const CODEX = CLIENTS.snippet("wire_api");
const OPENCODE = CLIENTS.snippet("@ai-sdk/openai-compatible");
const YAML = CONFIGURATION.snippet("upstreams:");
const COMMANDS = readPage("docs/commands.md").snippet("bun tollgate account");
const PROTOC = LEDGER_API.snippet("grpc_tools.protoc");
const PYTHON = LEDGER_API.snippet("import grpc");
const SCOPES = LEDGER_API.snippet("SCOPE_KIND_END_USER");

const folder = mkdtempSync(join(tmpdir(), "tollgate-docs-"));
const shell = createReaderShell(folder);
const ledgerAddress = `127.0.0.1:${freePort()}`;
const LEDGER_TOKEN = "token-of-the-documentation";
let served: ServedProcess;
let key: string;

beforeAll(async () => {
  const ledger = { LEDGER_LISTEN: ledgerAddress, LEDGER_TOKEN };
  served = await startServedProcess({ folder, environment: { ...shell.environment, ...ledger } });
  key = await secretOf(served);
});

afterAll(async () => {
  served.signal("SIGTERM");
  await served.exitCode;
  rmSync(folder, { recursive: true });
});

/** Returns the key of the first start, which is printed after the port is open. */
async function secretOf({ stderr }: Pick<ServedProcess, "stderr">): Promise<string> {
  const find = () => /sk-tg-[\w-]{43}/.exec(stderr())?.[0];
  await until(() => find() !== undefined);
  return find() ?? "";
}

/** Replaces the default address of a block by that of the gateway under test. */
function here(text: string): string {
  return text.replaceAll("http://127.0.0.1:8080", served.url);
}

function firstRequest() {
  return shell.paste(here(FIRST_REQUEST.text), { TOLLGATE_KEY: key });
}

function requestIdIn(response: string): string {
  return /^x-request-id: (\S+)/m.exec(response)?.[1] ?? "";
}

test("every block of commands or code in the documentation is run by a test", () => {
  const run = [
    START,
    TEST,
    FIRST_REQUEST,
    RECEIPT,
    OPENAI,
    ANTHROPIC,
    CLAUDE_CODE,
    CODEX,
    OPENCODE,
    YAML,
    COMMANDS,
    PROTOC,
    PYTHON,
    SCOPES,
    PROGRAMS,
    WEBHOOK_BODY,
    WEBHOOK_CHECK,
    EXPORT_YAML,
    ABILITIES_YAML,
    POOL_YAML,
    TIERS_YAML,
    SIGN_IN_YAML,
    PERSON_COMMANDS,
    EXPORTED_LINE,
    VERIFY_EXPORT,
    ...ATTRIBUTION_BLOCKS,
    ...GEMINI_BLOCKS,
    ...PROVIDER_BLOCKS,
    ...GOOGLE_YAML,
    MODEL_COMMANDS,
    KNOWN_YAML,
    FEES_YAML,
    AUDIO_YAML,
    PROMPT_CACHING,
    ...PROJECT_BLOCKS,
    ...PAYMENT_BLOCKS,
    ...PLAN_BLOCKS,
    ...TUTORIAL_BLOCKS,
  ].map(({ text }) => text);
  const blocks = readPages().flatMap(({ snippets }) => snippets);
  const unrun = blocks.filter(({ language, text }) => language !== "text" && !run.includes(text));
  expect(unrun).toEqual([]);
});

describe("the two commands of the README", () => {
  test("start a gateway that prints a key and stops at Ctrl-C", async () => {
    const child = Bun.spawn(["sh", "-ec", START.text], {
      cwd: REPOSITORY,
      env: { ...shell.environment, DATABASE_URL: `sqlite:${join(folder, "start/tollgate.db")}` },
      stdout: "ignore",
      stderr: "pipe",
      detached: true,
    });
    let printed = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of child.stderr) printed += decoder.decode(chunk, { stream: true });
    })();
    try {
      await secretOf({ stderr: () => printed });
    } finally {
      if (child.exitCode === null) process.kill(-child.pid, "SIGINT");
      await Promise.all([reading, child.exited]);
    }
    expect(printed).toMatch(/^ {2}try it {3}curl -N http/m);
  });

  test("name scripts of package.json", () => {
    for (const { text } of [START, TEST]) {
      expect(Object.keys(scripts)).toContain(/^npx --yes bun@\S+ run (\w+)\n$/.exec(text)?.[1] ?? text);
    }
  });
});

describe("the first request of the README", () => {
  test("returns its id and its cost", async () => {
    const { stdout } = await firstRequest();
    expect(stdout).toStartWith("HTTP/1.1 200 OK");
    expect(stdout).toMatch(/^x-tollgate-cost-usd: 0\.\d+\r$/m);
    expect(stdout).toContain("You said: Hello, Tollgate!");
  });

  test("has a receipt under its id", async () => {
    const REQUEST_ID = requestIdIn((await firstRequest()).stdout);
    const { stdout } = await shell.paste(here(RECEIPT.text), { TOLLGATE_KEY: key, REQUEST_ID });
    expect(JSON.parse(stdout)).toMatchObject({ request_id: REQUEST_ID, state: "settled", outcome: "ok" });
  });

  test.each([
    ["openai", OPENAI],
    ["@anthropic-ai/sdk", ANTHROPIC],
  ])("is sent by the snippet for %s", async (_package, { text }) => {
    const { stdout, stderr } = await shell.run(here(text), { TOLLGATE_KEY: key });
    expect(stderr).toBe("");
    expect(stdout).toContain("You said: Hello, Tollgate!");
  });

  test("is sent by Claude Code to both of its models", async () => {
    const { stdout } = await shell.paste(here(CLAUDE_CODE.text), { TOLLGATE_KEY: key });
    expect(stdout.match(/You said: Hello, Tollgate!/g)).toHaveLength(2);
  });
});

describe("the agent configurations of the clients page", () => {
  test("direct Codex to the responses of its model", async () => {
    const { model, model_provider, model_providers } = Bun.TOML.parse(here(CODEX.text)) as CodexConfig;
    const provider = model_providers[model_provider];
    expect(provider?.env_key).toBe("TOLLGATE_KEY");
    const answer = await fetch(`${provider?.base_url}/${provider?.wire_api}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, input: "Hello, Tollgate!", stream: true }),
    });
    expect(await answer.text()).toContain("event: response.completed");
  });

  test("direct the package of opencode to its model", async () => {
    const { model, provider } = JSON.parse(here(OPENCODE.text));
    const [name, id] = model.split("/");
    const { options, models } = provider[name];
    expect(Object.keys(models)).toContain(id);
    expect(options.apiKey).toBe("{env:TOLLGATE_KEY}");
    const tollgate = createOpenAICompatible({ name, baseURL: options.baseURL, apiKey: key });
    const { text } = await generateText({ model: tollgate(id), prompt: "Hello, Tollgate!" });
    expect(text).toContain("You said: Hello, Tollgate!");
  });
});

interface CodexConfig {
  readonly model: string;
  readonly model_provider: string;
  readonly model_providers: Record<string, { base_url: string; env_key: string; wire_api: string }>;
}

describe("the command lines of the operations page", () => {
  test("succeed one after the other beside the running gateway", async () => {
    const REQUEST_ID = requestIdIn((await firstRequest()).stdout);
    let KEY_ID = "";
    for (const line of COMMANDS.text.trimEnd().split("\n")) {
      const { exitCode, stdout, stderr } = await shell.paste(line, { REQUEST_ID, KEY_ID });
      expect([line, exitCode], stderr).toEqual([line, 0]);
      if (line.includes("key create")) KEY_ID = /\(([\da-f-]{36})\)/.exec(stdout)?.[1] ?? "";
    }
  });
});

describe("the Python of the ledger page", () => {
  test("takes a hold, settles it, and is declined by the limit of an end user", async () => {
    const project = join(folder, "service");
    mkdirSync(project);
    symlinkSync(join(REPOSITORY, "proto"), join(project, "proto"));
    const packages = await requirePythonPackages(
      /`pip install ([^`]+)`/.exec(LEDGER_API.text)?.[1]?.split(" ") ?? [],
    );
    const { stdout: accounts } = await shell.paste("bun tollgate account list --json", {});
    const WALLET_ID = JSON.parse(accounts).accounts[0].id;
    const program = `${PYTHON.text}\n${SCOPES.text}`;
    await Bun.write(join(project, "service.py"), program.replaceAll("127.0.0.1:50051", ledgerAddress));

    const environment = { PYTHONPATH: packages, LEDGER_TOKEN, WALLET_ID };
    const { stdout, stderr } = await shell.paste(
      `cd ${project}\n${PROTOC.text}\npython3 service.py`,
      environment,
    );
    expect(stderr).toBe("");
    expect(stdout).toMatch(
      /^held 20000000\nsettled 12500000 available \d+\ndeclined by my-users of ann@example.com\n$/,
    );
  });
});

describe("the file of the configuration page", () => {
  const inFolder = join(folder, "config");
  const load = (environment: Record<string, string>) => loadConfig(environment, { folder: inFolder });
  beforeAll(() => Bun.write(join(inFolder, "tollgate.yaml"), YAML.text));

  test("loads when its variables are set", () => {
    const { models, upstreams } = load({ OPENAI_API_KEY: "a", ANTHROPIC_API_KEY: "b" });
    expect(models.map(({ id }) => id)).toEqual(["gpt-4.1-mini", "claude-sonnet-4-5"]);
    expect(upstreams.map(({ apiKey }) => apiKey)).toEqual(["a", "b"]);
  });

  test("is rejected without its variables, naming both", () =>
    expect(() => load({})).toThrow(/2 problems.*OPENAI_API_KEY.*ANTHROPIC_API_KEY/s));

  const variables = CONFIGURATION.table("environment").flatMap(([names, defaults]) => {
    const values = codesOf(defaults);
    return codesOf(names).map((name, index) => ({ name, value: values[index] ?? "" }));
  });

  test.each(variables)("$name is read from the environment", ({ name }) => {
    // Any other text could name a folder.
    const value = name === "TOLLGATE_DATA" ? "\0" : "no such thing";
    expect(problemsWith({ [name]: value })).toContainEqual(expect.stringContaining(name));
  });

  test("has a table with the true defaults of the environment", () => {
    // TOLLGATE_CONFIG is left out: its default names a file that an empty folder lacks.
    const shown = variables.filter(({ name }) => name !== "TOLLGATE_CONFIG");
    const emptyFolder = { folder: join(folder, "nothing") };
    const set = loadConfig(Object.fromEntries(shown.map(({ name, value }) => [name, value])), emptyFolder);
    expect(set).toEqual(loadConfig({}, emptyFolder));
  });
});

function problemsWith(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment, { folder });
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems;
    throw thrown;
  }
  return [];
}

describe("the routes of the clients page", () => {
  const routes = CLIENTS.table("route").flatMap(([paths]) => {
    const [method = "", first = ""] = codesOf(paths)[0]?.split(" ") ?? [];
    return [first, ...codesOf(paths).slice(1)].map((path) => [method, path] as const);
  });

  const UNIT_PATHS = new Set([
    "/v1/rerank",
    "/v2/rerank",
    "/v1/moderations",
    "/v1/images/generations",
    "/v1/images/edits",
    "/v1/images/variations",
    "/v1/audio/speech",
    "/v1/audio/transcriptions",
    "/v1/audio/translations",
  ]);

  test.each(routes)("%s %s exists", async (method, path) => {
    const requestId = path.includes("{request_id}") ? requestIdIn((await firstRequest()).stdout) : "";
    const filled = path.replace(/\{(?:id|model)\}/, "demo").replace("{request_id}", requestId);
    const response = await fetch(served.url + filled, {
      method,
      headers: { "x-api-key": key },
      ...(method === "POST" && {
        body: path.startsWith("/v1beta/")
          ? '{"contents": [{"parts": [{"text": "Hello"}]}]}'
          : '{"model": "demo", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}], "input": "Hello"}',
      }),
    });
    // The demo model answers conversations and embeddings; a path without a route is 404 for any model.
    // The key of the first start may make none.
    if (path === "/v1/key/children") expect(response.status).toBe(403);
    else if (UNIT_PATHS.has(path)) expect([400, 422, 501]).toContain(response.status);
    else expect(response.status).toBe(200);
  });
});

describe("the error table of the errors page", () => {
  const rows = ERROR_PAGE.table("code").flatMap(([codes, chat, messages, retry]) =>
    codesOf(codes).map((code) => ({
      code,
      chat: statusesAndTypes(chat),
      messages: statusesAndTypes(messages),
      retry,
    })),
  );
  const causes = Object.values(ERRORS);

  test("lists each code of the contract once", () => {
    const codes = rows.map(({ code }) => code).sort();
    expect(codes).toEqual([...new Set<string>(causes.map(({ code }) => code))].sort());
  });

  test.each(rows)("gives the statuses and types of $code on both surfaces", ({ code, chat, messages }) => {
    const own = causes.filter((cause) => cause.code === code);
    expect(chat).toEqual(
      statusesAndTypes(own.map((cause) => `${cause.chat[0]} \`${cause.chat[1]}\``).join()),
    );
    expect(messages).toEqual(
      statusesAndTypes(own.map((cause) => `${cause.messages[0]} \`${cause.messages[1]}\``).join()),
    );
  });

  test.each(rows)("gives the retry advice of $code", ({ code, retry }) => {
    const mayRetry = causes.some((cause) => cause.code === code && cause.retry);
    expect(retry).toMatch(mayRetry ? /^(yes|only if|after `retry-after`)/ : /^(no|after [^`]*)$/);
  });
});

/** The statuses and types that one cell of the error table names. */
function statusesAndTypes(cell = ""): { readonly statuses: string[]; readonly types: string[] } {
  return {
    statuses: [...new Set(cell.match(/\b[45]\d\d\b/g))].sort(),
    types: [...new Set(codesOf(cell))].sort(),
  };
}
