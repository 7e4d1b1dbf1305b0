import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readKnownModels } from "../../src/catalog/known-models.ts";
import { correctList } from "../../src/catalog/update/corrections.ts";
import { printScaled } from "../../src/catalog/update/decimals.ts";
import { readList } from "../../src/catalog/update/read-list.ts";
import { compareLists, readSecondList } from "../../src/catalog/update/second-list.ts";
import { tempFolder } from "../support/temp-folder.ts";

const SOURCE = { list: "a list", checked: "2026-11-22" };
const CHAT = {
  litellm_provider: "openai",
  mode: "chat",
  input_cost_per_token: 3e-6,
  output_cost_per_token: 1.5e-5,
  max_input_tokens: 200_000,
  max_output_tokens: 64_000,
};

const read = (entries: Record<string, unknown>) => readList(entries, SOURCE);
const readOne = (entry: object) => read({ m: entry }).models[0];

describe("printScaled", () => {
  test.each([
    [3e-6, "3.00"],
    [1.25e-7, "0.125"],
    [7.5e-8, "0.075"],
    [0, "0.00"],
    [1e-5, "10.00"],
    // Noise of binary arithmetic goes, and a rest beyond six decimals is rounded up.
    [1.6000000000000001e-6, "1.60"],
    [9.499999999999999e-7, "0.95"],
    [1.41953125e-13, "0.000001"],
  ])("converts %p USD per token to %s USD per million", (cost, text) => {
    expect(printScaled(cost, 1_000_000, 6)).toBe(text);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("throws RangeError for %p", (cost) => {
    expect(() => printScaled(cost, 1, 6)).toThrow(RangeError);
  });
});

describe("readList", () => {
  test("reads limits, costs, the cost of long requests, capabilities, traits and the end", () => {
    const model = readOne({
      ...CHAT,
      cache_read_input_token_cost: 3e-7,
      cache_creation_input_token_cost: 3.75e-6,
      cache_creation_input_token_cost_above_1hr: 6e-6,
      input_cost_per_token_above_128k_tokens: 6e-6,
      output_cost_per_token_above_128k_tokens: 2.25e-5,
      supports_function_calling: true,
      supports_vision: true,
      supports_pdf_input: false,
      supports_reasoning: true,
      supports_adaptive_thinking: true,
      supports_sampling_params: false,
      deprecation_date: "2027-01-31",
      source: "https://prices.example/page",
    });
    expect(model).toEqual({
      id: "openai/m",
      mode: "chat",
      context_window: 200_000,
      max_output_tokens: 64_000,
      cost: {
        input: "3.00",
        output: "15.00",
        cached_input: "0.30",
        cache_write: "3.75",
        cache_write_1h: "6.00",
      },
      long: { above_input_tokens: 128_000, cost: { input: "6.00", output: "22.50" } },
      can: ["tools", "images", "reasoning"],
      reasoning: "adaptive",
      sampling: false,
      ends: "2027-01-31",
      source: "https://prices.example/page",
      since: "2026-11-22",
    });
  });

  test("takes the dearest class where a long request has several thresholds", () => {
    const model = readOne({
      ...CHAT,
      input_cost_per_token_above_128k_tokens: 6e-6,
      input_cost_per_token_above_256k_tokens: 9e-6,
    });
    expect(model?.long).toEqual({ above_input_tokens: 128_000, cost: { input: "9.00", output: "15.00" } });
  });

  test.each([
    ["audio_speech", { input_cost_per_character: 1.5e-5 }, { unit_cost: { million_characters: "15.00" } }],
    ["audio_transcription", { input_cost_per_second: 0.0001 }, { unit_cost: { minute: "0.006" } }],
    ["rerank", { input_cost_per_query: 0.002, max_input_tokens: 4_096 }, { unit_cost: { search: "0.002" } }],
    ["image_generation", { output_cost_per_image: 0.04 }, { unit_cost: { image: "0.04" } }],
    [
      "image_generation",
      { input_cost_per_token: 5e-6, output_cost_per_image_token: 4e-5 },
      { cost: { input: "5.00", output: "40.00" } },
    ],
    [
      "audio_transcription",
      { input_cost_per_token: 2.5e-6, input_cost_per_audio_token: 6e-6, output_cost_per_token: 1e-5 },
      { cost: { input: "6.00", output: "10.00" } },
    ],
    [
      "embedding",
      { input_cost_per_token: 2e-8, max_input_tokens: 8_191 },
      { cost: { input: "0.02", output: "0.00" } },
    ],
    [
      "moderation",
      { input_cost_per_token: 0, output_cost_per_token: 0 },
      { cost: { input: "0.00", output: "0.00" } },
    ],
  ])("reads the cost of %s", (mode, costs, expected) => {
    expect(readOne({ litellm_provider: "openai", mode, ...costs })).toMatchObject(expected);
  });

  test("joins the costs of images by size and quality", () => {
    const image = { litellm_provider: "openai", mode: "image_generation" };
    const { models } = read({
      "dall-x": { ...image },
      "1024-x-1024/dall-x": { ...image, input_cost_per_image: 0.04 },
      "hd/1024-x-1792/dall-x": { ...image, input_cost_per_image: 0.12 },
      "flat-x": { ...image, output_cost_per_image: 0.01 },
    });
    expect(models.map(({ id, unit_cost: unit }) => [id, unit])).toEqual([
      ["openai/flat-x", { image: "0.01" }],
    ]);
  });

  test("knows costs that no price per token holds", () => {
    const audio = { input_cost_per_audio_token: 4e-5, output_cost_per_audio_token: 8e-5 };
    expect(readOne({ ...CHAT, ...audio })?.other_cost).toEqual({
      audio_input: "40.00",
      audio_output: "80.00",
    });
    const search = { search_context_cost_per_query: { search_context_size_high: 0.014 } };
    expect(readOne({ ...CHAT, ...search })?.other_cost).toBeUndefined();
    const always = read({ "perplexity/s": { ...CHAT, litellm_provider: "perplexity", ...search } });
    expect(always.models[0]).toMatchObject({ id: "perplexity/s", other_cost: { request: "0.014" } });
    const preview = read({ "gpt-x-search-preview": { ...CHAT, ...search } });
    expect(preview.models[0]).toMatchObject({ other_cost: { request: "0.014" } });
  });

  test("names models by provider, and keeps regions and data zones in the id", () => {
    const at = (litellm_provider: string) => ({ ...CHAT, litellm_provider });
    const { models } = read({
      "azure/eu/gpt-x": at("azure"),
      "bedrock/us-gov-west-1/a.claude-x": at("bedrock"),
      "us.a.claude-x": at("bedrock_converse"),
      "vertex_ai/claude-x": at("vertex_ai-anthropic_models"),
      "gemini/gemini-x": at("gemini"),
      "together_ai/org/llama-x": at("together_ai"),
    });
    expect(models.map(({ id, model }) => [id, model])).toEqual([
      ["azure/eu/gpt-x", "gpt-x"],
      ["bedrock/us-gov-west-1/a.claude-x", "a.claude-x"],
      ["bedrock/us.a.claude-x", undefined],
      ["vertex/claude-x", undefined],
      ["gemini/gemini-x", undefined],
      ["together/org/llama-x", undefined],
    ]);
  });

  test("gives a model of a data zone the limits of its model, and its own cost", () => {
    const { models } = read({
      "azure/gpt-x": {
        ...CHAT,
        litellm_provider: "azure",
        cache_read_input_token_cost: 3e-7,
        supports_vision: true,
      },
      "azure/eu/gpt-x": {
        litellm_provider: "azure",
        mode: "chat",
        input_cost_per_token: 3.3e-6,
        output_cost_per_token: 1.65e-5,
      },
    });
    expect(models[1]).toMatchObject({
      context_window: 200_000,
      can: ["images"],
      cost: { input: "3.30", output: "16.50" },
    });
    expect(models[1]?.cost).not.toHaveProperty("cached_input");
  });

  test("gives a bare id of Bedrock the cost of its geography, where only the global profile is cheaper", () => {
    const at = (input: number) => ({
      ...CHAT,
      litellm_provider: "bedrock_converse",
      input_cost_per_token: input,
    });
    const { models } = read({
      "a.claude-x": at(3e-6),
      "global.a.claude-x": at(3e-6),
      "us.a.claude-x": at(3.3e-6),
      "a.claude-y": at(2e-6),
      "us.a.claude-y": at(3.3e-6),
    });
    expect(models.map(({ id, cost }) => [id, cost?.input])).toEqual([
      ["bedrock/a.claude-x", "3.30"],
      ["bedrock/global.a.claude-x", "3.00"],
      ["bedrock/us.a.claude-x", "3.30"],
      ["bedrock/a.claude-y", "2.00"],
      ["bedrock/us.a.claude-y", "3.30"],
    ]);
  });

  test("reads the factor of regional endpoints", () => {
    expect(readOne({ ...CHAT, regional_processing_uplift_multiplier_eu: 1.1 })?.regional).toBe("1.10");
    expect(readOne({ ...CHAT, regional_endpoint_uplift_multiplier: 1 })).not.toHaveProperty("regional");
  });

  test.each([
    ["another provider", "m", { ...CHAT, litellm_provider: "somebody" }],
    ["another mode", "m", { ...CHAT, mode: "video_generation" }],
    ["a fine-tuned model", "ft:gpt-x", CHAT],
    ["a commitment", "bedrock/us-east-1/1-month-commitment/x", { ...CHAT, litellm_provider: "bedrock" }],
    ["a realtime model", "m", { ...CHAT, supported_endpoints: ["/v1/realtime"] }],
    ["a model that ended three years ago", "m", { ...CHAT, deprecation_date: "2023-11-01" }],
  ])("leaves out %s", (_, key, entry) => expect(read({ [key]: entry })).toEqual({ models: [], skipped: [] }));

  test.each([
    ["has no cost", { input_cost_per_token: undefined, output_cost_per_token: undefined }],
    ["costs nothing", { input_cost_per_token: 0, output_cost_per_token: 0 }],
    ["costs nothing", { output_cost_per_token: 0 }],
    ["Cannot read -0.000003 as a cost", { input_cost_per_token: -3e-6 }],
    ["has no context window", { max_input_tokens: undefined }],
    ["has no output limit", { max_output_tokens: undefined }],
    ["has an output limit above its window", { max_output_tokens: 300_000 }],
    ["has a context window that is no count", { max_input_tokens: 0.5 }],
    ["has cached input that costs more than input", { cache_read_input_token_cost: 1e-5 }],
    ["has long input that costs less than input", { input_cost_per_token_above_200k_tokens: 1e-6 }],
    ["has a cost above 10000 USD per million tokens", { output_cost_per_token: 3 }],
  ])("skips and reports an entry that %s", (wrong, change) => {
    expect(read({ m: { ...CHAT, ...change } })).toEqual({ models: [], skipped: [`m: ${wrong}`] });
  });
});

describe("correctList", () => {
  const correction = {
    ids: ["openai/m"],
    instead: { cost: { output: "15.00", cached_input: undefined } },
    facts: { cost: { output: "12.00", cached_input: "0.30" } },
    source: "https://prices.example/other",
  };
  const created = {
    ids: ["openai/new"],
    instead: undefined,
    facts: { context_window: 1_000, cost: { input: "1.00", output: "2.00" } },
    source: "https://prices.example/new",
  };
  const correct = (entry: object) =>
    correctList(read({ m: { ...CHAT, ...entry } }).models, SOURCE, [correction, created]);

  test("replaces what the list still has, and adds what it lacks", () => {
    const { models, overtaken } = correct({});
    expect(overtaken).toEqual([]);
    expect(models.map(({ id, cost, source }) => [id, cost, source])).toEqual([
      ["openai/m", { input: "3.00", output: "12.00", cached_input: "0.30" }, correction.source],
      ["openai/new", { input: "1.00", output: "2.00" }, created.source],
    ]);
  });

  test("leaves a list alone that has another fact by now, and reports the correction", () => {
    const { models, overtaken } = correct({ output_cost_per_token: 1.4e-5 });
    expect(models[0]?.cost?.output).toBe("14.00");
    expect(overtaken).toEqual(["openai/m"]);
  });
});

describe("compareLists", () => {
  const prices = (input_mtok: unknown, more: object = {}) => ({ input_mtok, output_mtok: 15, ...more });
  const SECOND = [
    {
      id: "openai",
      models: [
        { id: "same", match: { equals: "same" }, context_window: 204_800, prices: prices(3) },
        {
          id: "dear",
          match: { or: [{ starts_with: "dear" }, { regex: "^costly-\\d+$" }] },
          context_window: 1_000_000,
          prices: [
            { prices: prices(3) },
            {
              constraint: { start_date: "2026-11-01" },
              prices: prices({ base: 4, tiers: [] }, { cache_read_mtok: 0.4 }),
            },
            { constraint: { start_date: "2027-01-01" }, prices: prices(9) },
          ],
        },
        { id: "new", match: { or: [{ equals: "new" }, { equals: "new:free" }] }, prices: prices(1) },
      ],
    },
    { id: "nobody", models: [{ id: "x", match: { equals: "x" }, prices: prices(1) }] },
  ];

  test("names costs and windows that differ on the day, and models that only the second list has", () => {
    const { models } = read({ same: CHAT, "dear-1": CHAT, "costly-2": CHAT, alone: CHAT });
    const line =
      "input 3.00, there 4.00; cached_input 3.00, there 0.40; context_window 200000, there 1000000";
    expect(compareLists(models, readSecondList(SECOND, "2026-11-22"))).toEqual({
      differing: [`openai/dear-1: ${line}`, `openai/costly-2: ${line}`],
      missing: ["openai/new"],
    });
  });
});

describe("bun run catalog:update", () => {
  const SCRIPT = join(import.meta.dir, "../../src/catalog/update/update.ts");

  async function update(folder: string, list: object, date: string): Promise<string> {
    writeFileSync(join(folder, "list.json"), JSON.stringify(list));
    const line = [SCRIPT, "list.json", "--list", "a list", "--date", date, "--to", "known.jsonl"];
    const child = Bun.spawn([process.execPath, ...line], { cwd: folder, env: {}, stdout: "pipe" });
    const output = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    return output;
  }

  test("changes nothing when it runs again, and keeps the day of prices that did not change", async () => {
    const folder = tempFolder();
    const text = () => readFileSync(join(folder, "known.jsonl"), "utf8");
    const list = { "gpt-b": CHAT, "gpt-a": CHAT, "gpt-c": CHAT };
    await update(folder, list, "2026-01-01");
    const first = text();
    await update(folder, list, "2026-01-01");
    expect(text()).toBe(first);

    const changed = {
      "gpt-a": { ...CHAT, output_cost_per_token: 6e-5 },
      "gpt-b": { ...CHAT, supports_vision: true },
    };
    const output = await update(folder, changed, "2026-03-01");
    expect(output).toContain("! openai/gpt-a: output 15.00 → 60.00");
    expect(output).toContain("No longer in the list (1):\n  openai/gpt-c");
    const known = readKnownModels(text());
    const listed = known.list().filter(({ source }) => source === "a list");
    const days = listed.map((model) => [model.id, model.since, known.checkedOn(model)]);
    expect(days).toEqual([
      ["openai/gpt-a", "2026-03-01", "2026-03-01"],
      ["openai/gpt-b", "2026-01-01", "2026-03-01"],
      ["openai/gpt-c", "2026-01-01", "2026-01-01"],
    ]);
    await update(folder, changed, "2027-02-01");
    expect(readKnownModels(text()).find("openai/gpt-c")).toBeUndefined();
  });
});
