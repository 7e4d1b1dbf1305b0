import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ClientFacts } from "../../src/clients/client.ts";
import { CLIENTS, printSnippets } from "../../src/clients/clients.ts";
import { printTaskSnippet } from "../../src/clients/tasks.ts";
import { createPaidKey } from "../start/paid-key.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runTollgate } from "./run-tollgate.ts";

const LIMITS = { contextWindow: 100_000, outputTokensMax: 8_000 };
const FACTS: ClientFacts = {
  url: "https://ai.example.com",
  models: [
    { id: 'it\'s "new"', ...LIMITS },
    { id: "second", ...LIMITS },
  ],
  secret: "sk-tg-secret",
};

function codeOf(id: string, facts: ClientFacts = FACTS): string {
  return printSnippets(facts).find((snippet) => snippet.id === id)?.code ?? "";
}

describe("the settings of clients", () => {
  test("have the gateway's address and the first model", () => {
    for (const { code } of printSnippets({ ...FACTS, models: [{ id: "first", ...LIMITS }] })) {
      expect(code).toContain("https://ai.example.com");
      expect(code).toContain("first");
    }
  });

  test("have the secret in lines of a shell only", () => {
    const having = printSnippets(FACTS).filter(({ code }) => code.includes("sk-tg-secret"));
    expect(having.map(({ id }) => id)).toEqual(["curl", "claude-code", "gemini-cli", "cline"]);
    for (const { id, code, note } of printSnippets({ ...FACTS, secret: undefined })) {
      expect(code + note, id).toMatch(/TOLLGATE_KEY|TOLLGATE_API_KEY|CODEX_API_KEY/);
    }
  });

  test("quote a model's name for the shell", async () => {
    const facts = { ...FACTS, secret: undefined };
    const arguments_ = await shellArguments(codeOf("curl", facts), "curl");
    expect(JSON.parse(arguments_.at(-1) ?? "").model).toBe(FACTS.models[0].id);
    expect(await shellArguments(codeOf("cline", facts), "cline")).toContain(FACTS.models[0].id);
    const [model] = facts.models;
    const small = { ...facts, models: [model, { ...model, id: "claude-haiku-5-5" }] as const };
    expect(codeOf("claude-code", small)).toContain("ANTHROPIC_DEFAULT_HAIKU_MODEL=claude-haiku-5-5\n");
    const claude = codeOf("claude-code", facts).replace(/claude$/, "printf '%s' \"$ANTHROPIC_MODEL\"");
    expect((await runShell(claude)).trim()).toBe(FACTS.models[0].id);
  });

  test("of files are read by the parser of their file", () => {
    const ids = FACTS.models.map(({ id }) => id);
    const json = (id: string) => JSON.parse(codeOf(id));
    expect(Object.keys(json("opencode").provider.tollgate.models)).toEqual(ids);
    expect(json("qwen-code").modelProviders.openai.map(({ id }: { id: string }) => id)).toEqual(ids);
    const zed = json("zed").language_models.openai_compatible.Tollgate.available_models;
    expect(zed.map(({ name }: { name: string }) => name)).toEqual(ids);
    const { models } = Bun.YAML.parse(codeOf("continue")) as { models: { model: string; apiKey: string }[] };
    expect(models.map(({ model }) => model)).toEqual(ids);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Continue's own placeholder.
    expect(models[0]?.apiKey).toBe("${{ secrets.TOLLGATE_KEY }}");
    for (const id of ["codex", "codex-websocket", "codex-base-url"]) {
      expect(Bun.TOML.parse(codeOf(id))).toMatchObject({ model: ids[0] });
    }
  });
});

test("a model that answers no chats is called by one line of its API, quoted for the shell", async () => {
  const print = (surface: string) => printTaskSnippet({ url: FACTS.url, model: 'it\'s "new"', surface });
  const words = await shellArguments(print("embeddings")?.code ?? "", "curl");
  expect(words[0]).toBe("https://ai.example.com/v1/embeddings");
  expect(JSON.parse(words.at(-1) ?? "")).toEqual({ model: 'it\'s "new"', input: "Hello, Tollgate!" });
  expect(await shellArguments(print("transcriptions")?.code ?? "", "curl")).toContain('model=it\'s "new"');
  expect(print("chat")).toBeUndefined();
});

async function shellArguments(code: string, program: string): Promise<readonly string[]> {
  return (await runShell(code.replace(program, "printf '%s\\n'"))).trim().split("\n");
}

async function runShell(code: string): Promise<string> {
  const shell = Bun.spawn(["sh", "-c", code], { env: {}, stdout: "pipe" });
  return await new Response(shell.stdout).text();
}

describe("bun tollgate clients", () => {
  const folder = tempFolder();
  let gateway: ServedProcess;
  let key: string;
  beforeAll(async () => {
    await Bun.write(`${folder}/tollgate.yaml`, JSON.stringify(CONFIG));
    key = await createPaidKey(folder);
    gateway = await startServedProcess({ folder });
  });
  afterAll(async () => {
    gateway.signal("SIGKILL");
    await gateway.exitCode;
  });

  test("prints every client with the models of the key, and never the secret", async () => {
    const { exitCode, stdout, stderr } = await runTollgate(folder, ["clients", "--url", gateway.url], {
      TOLLGATE_KEY: key,
    });
    expect([exitCode, stderr]).toEqual([0, ""]);
    for (const { id, title } of CLIENTS) expect(stdout).toContain(`# ${title} (${id})`);
    expect(stdout).toContain(gateway.url);
    expect(stdout).not.toContain(key);
    expect(stdout).not.toContain("an-embedding");
  });

  test("prints one client as JSON with the wanted model first", async () => {
    const words = ["clients", "codex", "--url", gateway.url, "--model", "small", "--json"];
    const printed = await runTollgate(folder, words, { TOLLGATE_KEY: key });
    const { url, models, clients } = printed.json();
    expect({ url, models }).toEqual({ url: gateway.url, models: ["small", "large"] });
    expect(clients).toMatchObject([{ id: "codex", code: expect.stringContaining('model = "small"') }]);
  });

  test("reads the models of the file without a key, and the address of PUBLIC_URL", async () => {
    const PUBLIC_URL = "https://ai.example.com";
    const { stdout } = await runTollgate(folder, ["clients", "codex"], { PUBLIC_URL });
    expect(stdout).toContain(`base_url = "${PUBLIC_URL}/v1"`);
    expect(stdout).toContain('model = "large"');
  });

  test("fails for an unknown client, an unknown model, a wrong key and another server", async () => {
    const run = (words: readonly string[], secret = key) =>
      runTollgate(folder, ["clients", ...words], { TOLLGATE_KEY: secret });
    expect(await run(["emacs"])).toMatchObject({ exitCode: 2, stdout: "" });
    const unknown = await run(["codex", "--url", gateway.url, "--model", "none"]);
    expect(unknown.stderr).toBe("The key has no model none.\n");
    const wrong = await run(["--url", gateway.url], "sk-tg-wrong");
    expect(wrong).toMatchObject({
      exitCode: 1,
      stderr: `The gateway at ${gateway.url} does not know the key.\n`,
    });
    using other = Bun.serve({ port: 0, fetch: () => Response.redirect(gateway.url) });
    const redirected = await run(["--url", other.url.origin]);
    expect(redirected).toMatchObject({ exitCode: 1, stdout: "" });
    expect(redirected.stderr).not.toContain(key);
  });
});

const MODEL = { context_window: 50_000, max_output_tokens: 4_000, price: { input: "1.00", output: "2.00" } };
const CONFIG = {
  upstreams: { host: { protocol: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "provider-secret" } },
  models: {
    large: { ...MODEL, routes: [{ upstream: "host", model: "large" }] },
    small: { ...MODEL, routes: [{ upstream: "host", model: "small" }] },
    "an-embedding": {
      context_window: 8_000,
      max_output_tokens: 0,
      price: { input: "1.00", output: "0.00" },
      routes: [{ upstream: "host", model: "embedding" }],
    },
  },
};
