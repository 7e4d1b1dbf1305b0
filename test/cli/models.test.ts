import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runTollgate } from "./run-tollgate.ts";

const SONNET = "anthropic/claude-sonnet-4-5";
const KEYS = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" };

let folder: string;
let file: string;
beforeEach(() => {
  folder = tempFolder();
  file = join(folder, "tollgate.yaml");
});

const run = (...line: string[]) => runTollgate(folder, ["models", ...line]);

describe("tollgate models", () => {
  test("lists the models that have every word, every ability and at most that cost", async () => {
    const line = [
      "claude",
      "sonnet",
      "--provider",
      "anthropic",
      "--can",
      "tools,images",
      "--max-input-cost",
      "3",
    ];
    const { models } = (await run(...line, "--json")).json();
    expect(models).toContainEqual(
      expect.objectContaining({
        id: SONNET,
        provider: "anthropic",
        cost: expect.objectContaining({ input: "3.00" }),
        checked: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      }),
    );
    const table = await run(...line);
    expect(table.stdout).toMatch(/^ID +CONTEXT +OUTPUT +INPUT USD\/M/);
    const others = (await run("whisper", "--mode", "transcription")).stdout;
    expect(others).toContain("0.006 per minute");
  });

  test.each([
    [["--can", "fly"], "Expected some of tools, images"],
    [["--max-input-cost", "cheap"], "Expected USD per million tokens"],
    [["--mode", "dance"], "Allowed choices are chat"],
  ])("refuses %p", async (line, message) => {
    const ended = await run(...line);
    expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
    expect(ended.stderr).toContain(message);
  });

  test("shows one model, and ids like an unknown one", async () => {
    expect((await run("show", SONNET, "--json")).json()).toMatchObject({
      id: SONNET,
      context_window: 200_000,
    });
    expect((await run("show", SONNET)).stdout).toContain(`bun tollgate models add ${SONNET}`);
    const unknown = await run("show", "openai/gpt5");
    expect(unknown.exitCode).toBe(1);
    expect(unknown.stderr).toMatch(/^openai\/gpt5 is not a known model: see openai\/gpt-5, .*\.\n$/);
  });
});

describe("tollgate models add", () => {
  test("makes a file that has no problem and differs nowhere from the catalog", async () => {
    const added = await run("add", SONNET, "openai/gpt-5", "openai/text-embedding-3-small", "--json");
    expect(added.json()).toMatchObject({
      models: ["claude-sonnet-4-5", "gpt-5", "text-embedding-3-small"],
      upstreams: ["anthropic", "openai"],
      variables: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
    });
    const compared = await runTollgate(folder, ["models", "diff", "--json"], KEYS);
    expect(compared.json()).toMatchObject({ ok: true, differences: [], unknown: [] });
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test("keeps comments, order, rights and the link of a file, and uses its upstreams", async () => {
    const text =
      "# ours\nmodels: # all\n  m: { known: openai/gpt-5, routes: [{ upstream: mine }] } # one\n\n# keys\nupstreams:\n  mine: { protocol: anthropic, api_key: k }\n";
    writeFileSync(join(folder, "real.yaml"), text);
    chmodSync(join(folder, "real.yaml"), 0o600);
    symlinkSync("real.yaml", file);
    expect((await run("add", SONNET, "--as", "claude")).exitCode).toBe(0);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const line = "  claude: { known: anthropic/claude-sonnet-4-5, routes: [{ upstream: mine }] }\n";
    expect(readFileSync(file, "utf8")).toBe(text.replace("# one\n", `# one\n${line}`));
  });

  test("names a new upstream as it is told, and another one beside a name that is taken", async () => {
    writeFileSync(file, "upstreams: { anthropic: { protocol: openai, base_url: https://x.example } }\n");
    await run("add", SONNET);
    await run("add", "openai/gpt-5", "--upstream", "backup");
    const text = readFileSync(file, "utf8");
    expect(text).toContain("anthropic-2: { protocol: anthropic,");
    expect(text).toContain("backup: { protocol: openai,");
  });

  test.each([
    [
      ["add", SONNET, "openai/gpt-5", "--as", "x"],
      "Name one model with --as, --context-window or --max-output-tokens, not several.",
    ],
    [["add", SONNET, "bedrock/anthropic.nothing"], "is not a known model"],
    [["add", "azure/gpt-image-1"], "is of mode image, which upstreams of protocol azure do not serve."],
    [["add", "bedrock/amazon.rerank-v1:0"], "which upstreams of protocol bedrock do not serve."],
    [["add", "azure_ai/claude-opus-4-8"], "is served in Anthropic's format alone: name an upstream"],
    [["add", SONNET, SONNET], "Two of these models are named claude-sonnet-4-5"],
  ])("writes nothing for %p", async (line, message) => {
    const ended = await run(...line);
    expect(ended.stderr).toContain(message);
    expect(existsSync(file)).toBe(false);
  });

  test("asks for the limits that the catalog does not have, and writes them", async () => {
    const refused = await run("add", "openai/gpt-image-1");
    expect(refused.stderr).toBe(
      "The catalog has no such limit of openai/gpt-image-1: give models add --context-window and --max-output-tokens. Nothing was written.\n",
    );
    expect(existsSync(file)).toBe(false);
    const limits = ["--context-window", "32000", "--max-output-tokens", "8000"];
    expect((await run("add", "openai/gpt-image-1", ...limits)).exitCode).toBe(0);
    const [model] = loadConfig(KEYS, { folder }).models;
    expect(model).toMatchObject({ id: "gpt-image-1", contextWindow: 32_000, outputTokensMax: 8_000 });
  });

  test("adds Cohere's rerank models at the address that serves them, beside its chat models", async () => {
    await run("add", "cohere/command-a-03-2025", "cohere/rerank-v3.5");
    const config = loadConfig({ COHERE_API_KEY: "k" }, { folder });
    expect(config.upstreams.map(({ name, baseUrl }) => [name, baseUrl])).toEqual([
      ["cohere", "https://api.cohere.ai/compatibility/v1"],
      ["cohere-rerank", "https://api.cohere.com/v1"],
    ]);
    const again = await run("add", "cohere/rerank-english-v3.0", "cohere/command-r-plus-08-2024", "--json");
    expect(again.json()).toMatchObject({ upstreams: [] });
    const [, , rerank, chat] = loadConfig({ COHERE_API_KEY: "k" }, { folder }).models;
    expect([rerank?.routes[0]?.upstream, chat?.routes[0]?.upstream]).toEqual(["cohere-rerank", "cohere"]);
    const wrong = await run("add", "cohere/rerank-multilingual-v3.0", "--upstream", "cohere");
    expect(wrong.stderr).toContain("needs an upstream with base_url: https://api.cohere.com/v1.");
  });

  test("warns of a model past its end", async () => {
    const added = await run("add", "openai/gpt-4o-search-preview-2025-03-11");
    expect(added.stdout).toContain(
      "Warning: openai/gpt-4o-search-preview-2025-03-11 may no longer be served since 2026-07-23.",
    );
  });

  test("refuses a model that the file has", async () => {
    await run("add", SONNET);
    const before = readFileSync(file, "utf8");
    const again = await run("add", "openai/gpt-5", SONNET);
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: "models has claude-sonnet-4-5 already. Nothing was written.\n",
    });
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("fails in one sentence where the folder is gone", async () => {
    const elsewhere = { TOLLGATE_CONFIG: join(folder, "none/tollgate.yaml") };
    const ended = await runTollgate(folder, ["models", "add", SONNET], elsewhere);
    const stderr = `${join(folder, "none")} cannot be written. Nothing was written.\n`;
    expect(ended).toMatchObject({ exitCode: 1, stderr });
  });
});

describe("tollgate models diff", () => {
  test("shows costs and limits that differ, of models that are known by name or by their upstream", async () => {
    writeFileSync(
      file,
      `
upstreams: { anthropic: { protocol: anthropic, api_key: k }, other: { protocol: openai, base_url: https://o.example, api_key: k } }
models:
  claude-sonnet-4-5: { routes: [{ upstream: anthropic, model: claude-sonnet-4-5 }], context_window: 200000, max_output_tokens: 64000, price: { input: "2.50", output: "15.00", cached_input: "0.30" } }
  gpt: { known: openai/gpt-5, cost: { output: "9" }, max_output_tokens: 1000, routes: [{ upstream: other }] }
  mine: { routes: [{ upstream: other, model: mine }], context_window: 1000, max_output_tokens: 100, price: { input: "1", output: "1" } }
`,
    );
    const ended = await run("diff", "--json");
    expect(ended.exitCode).toBe(1);
    const { differences, unknown } = ended.json();
    const shown = (differences as Record<string, string>[]).map(({ model, key, configured, catalog }) => [
      model,
      key,
      configured,
      catalog,
    ]);
    expect(shown).toEqual(
      expect.arrayContaining([
        ["claude-sonnet-4-5", "price.input", "2.50", "3.00"],
        ["gpt", "cost.output", "9.00", "10.00"],
        ["gpt", "max_output_tokens", "1000", "128000"],
      ]),
    );
    expect(unknown).toEqual(["mine at other"]);
    expect((await run("diff")).stdout).toMatch(/^MODEL +UPSTREAM +KNOWN +KEY +HERE +CATALOG\n/);
  });
});

describe("tollgate check", () => {
  test("prints what was filled in with source and date, and warns of a model past its end", async () => {
    writeFileSync(
      file,
      "upstreams: { o: { protocol: openai, base_url: http://127.0.0.1:9, api_key: k } }\nmodels: { old: { known: openai/gpt-4o-search-preview-2025-03-11, routes: [{ upstream: o }] } }\n",
    );
    const { known, warnings } = (await runTollgate(folder, ["check", "--json"])).json();
    expect(known).toMatchObject([
      {
        place: "models.old",
        values: { context_window: 128_000 },
        source: expect.any(String),
        checked: expect.any(String),
      },
    ]);
    expect(warnings).toEqual(
      expect.arrayContaining([
        expect.stringContaining("models.old: openai/gpt-4o-search-preview-2025-03-11"),
      ]),
    );
  });

  test("prints what was filled in also when an upstream cannot be used", async () => {
    writeFileSync(
      file,
      "upstreams: { openai: { protocol: openai, base_url: http://127.0.0.1:9/v1, api_key: k } }\nmodels: { mini: { known: openai/gpt-4.1-mini } }\n",
    );
    const ended = await runTollgate(folder, ["check"]);
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr + ended.stdout).toContain("upstreams.openai.base_url: does not answer");
    expect(ended.stderr + ended.stdout).toContain("models.mini: openai/gpt-4.1-mini gives context_window");
  });
});
