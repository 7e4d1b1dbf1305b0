import { describe, expect, test } from "bun:test";
import { WIRES } from "../../src/wire/registry.ts";
import { errorOf } from "./play.ts";

const ASK = {
  model: "m",
  max_tokens: 100,
  messages: [{ role: "user", content: "hi" }],
  input: "hi",
  query: "hi",
  documents: ["hello"],
};
const askOf = (format: keyof typeof WIRES) => {
  if (format === "gemini") return { ...ASK, contents: [{ parts: [{ text: "hi" }] }] };
  return format === "images" ? { ...ASK, prompt: "a cat" } : ASK;
};
/** Every format whose requests are JSON. In speech, `speed` is that of the voice. */
const FORMATS = (Object.keys(WIRES) as (keyof typeof WIRES)[]).filter(
  (each) => WIRES[each].form === undefined && each !== "speech",
);

/** Fields that every format rejects, by the path in the error. */
const EVERYWHERE: readonly (readonly [path: string, members: object])[] = [
  ["service_tier", { service_tier: "platinum" }],
  ["service_tier", { service_tier: ["priority"] }],
  ["speed", { speed: "faster" }],
  ["extra_body.service_tier", { extra_body: { service_tier: "priority" } }],
  ["extra_body.Speed", { extra_body: { Speed: "fast" } }],
  ["fallbacks", { fallbacks: [{ model: "dear" }] }],
  ["fallbacks", { fallbacks: "default" }],
  ["fallback_model", { fallback_model: "dear" }],
  ["fallback_models", { fallback_models: ["dear"] }],
  ["context_window_fallbacks", { context_window_fallbacks: [{ m: ["dear"] }] }],
  ["content_policy_fallbacks", { content_policy_fallbacks: [{ m: ["dear"] }] }],
  ["models", { models: ["dear"] }],
  ["models", { models: "dear" }],
  ["route", { route: "fallback" }],
  ["provider", { provider: { order: ["dear"] } }],
  ["preset", { preset: "dear" }],
  ["model_list", { model_list: [{ model_name: "m" }] }],
  ["user_config", { user_config: { model_list: [] } }],
  ["custom_llm_provider", { custom_llm_provider: "dear" }],
  ["providerOptions.gateway", { providerOptions: { gateway: { models: ["dear"] } } }],
  ["providerOptions.gateway", { providerOptions: { Gateway: { models: ["dear"] } } }],
  ["provideroptions.gateway", { provideroptions: { gateway: { models: ["dear"] } } }],
  ["best_of", { best_of: 20 }],
  ["best_of", { best_of: "20" }],
  ["use_beam_search", { use_beam_search: true }],
  ["beam_width", { beam_width: 4 }],
  ["num_beams", { num_beams: 4 }],
  ["num_return_sequences", { num_return_sequences: 4 }],
  ["lora_path", { lora_path: "dear" }],
  ["lora_id", { lora_id: "dear" }],
  ["modalities", { modalities: ["text", "video"] }],
  ["modalities", { modalities: "audio" }],
  ["compound_custom.models", { compound_custom: { models: { answering_model: "dear" } } }],
  ["safety_model", { safety_model: "guard" }],
  ["inference_geo", { inference_geo: "eu" }],
  ["billing_policy.bill_to", { billing_policy: { bill_to: "user_profile" } }],
  ["extra_headers.anthropic-beta", { extra_headers: { "anthropic-beta": "fast-mode-2026-02-01" } }],
  ["extra_headers.anthropic-beta", { extra_headers: { "Anthropic-Beta": "fast-mode-2026-02-01" } }],
  ["extra_body.betas", { extra_body: { betas: ["fast-mode-2026-02-01"] } }],
  ["extra_body.anthropic_beta", { extra_body: { anthropic_beta: ["fast-mode-2026-02-01"] } }],
  ["extra_body.extra_headers", { extra_body: { extra_headers: {} } }],
  ["extra_body.inference_geo", { extra_body: { inference_geo: "us" } }],
  ["extra_body.fallbacks", { extra_body: { fallbacks: ["dear"] } }],
  ["extra_body.model", { extra_body: { model: "dear" } }],
  ["extra_body.n", { extra_body: { n: 9 } }],
  ["extra_body.max_tokens", { extra_body: { max_tokens: 1e6 } }],
  ["extra_body.Max_Tokens", { extra_body: { Max_Tokens: 1e6 } }],
  ["extra_body.extra_body", { extra_body: { extra_body: { model: "dear" } } }],
];

/** Fields that a single format rejects. */
const OF_FORMAT: readonly (readonly [format: keyof typeof WIRES, path: string, members: object])[] = [
  ["chat", "plugins[0].id", { plugins: [{ id: "fusion" }] }],
  [
    "chat",
    "plugins[1].id",
    { plugins: [{ id: "moderation" }, { id: "auto-router", allowed_models: ["*"] }] },
  ],
  ["chat", "plugins[0].id", { plugins: [{ id: "web" }] }],
  ["chat", "plugins[0].id", { plugins: [{ id: "file-parser" }] }],
  ["chat", "plugins[0].id", { plugins: [{ id: "file-parser", pdf: { engine: "mistral-ocr" } }] }],
  ["chat", "tools[0].type", { tools: [{ type: "web_search", web_search: { enable: true } }] }],
  ["chat", "tools[0].type", { tools: [{ type: "builtin_function", function: { name: "$web_search" } }] }],
  ["chat", "tools[1].type", { tools: [{ type: "function" }, { type: "browser_search" }] }],
  ["chat", "tools[0].type", { tools: [{ type: "openrouter:web_search" }] }],
  ["chat", "plugins[0].id", { plugins: ["fusion"] }],
  ["chat", "tools[0].type", { tools: [{ type: "openrouter:advisor" }] }],
  ["chat", "tools[0].type", { tools: [{ type: "OpenRouter:SubAgent" }] }],
  ["chat", "tools[0].parameters.model", { tools: [{ type: "openrouter:x", parameters: { model: "dear" } }] }],
  ["messages", "tools[0].type", { tools: [{ type: "advisor_20260301", name: "advisor", model: "dear" }] }],
  ["messages", "tools[1].model", { tools: [{ name: "f" }, { type: "x_20270101", model: "dear" }] }],
  ["messages", "plugins[0].id", { plugins: [{ id: "fusion" }] }],
  [
    "messages",
    "messages[1].content[0].tool.definition.type",
    {
      messages: [
        ...ASK.messages,
        {
          role: "system",
          content: [
            {
              type: "tool_addition",
              tool: { type: "tool_definition", definition: { type: "advisor_20260301", model: "dear" } },
            },
          ],
        },
      ],
    },
  ],
  ["responses", "tools[0].model", { tools: [{ type: "image_generation", model: "dear" }] }],
  ["responses", "tools[0].svg.model", { tools: [{ type: "image_generation", svg: { model: "dear" } }] }],
  ["responses", "tools[0].model", { tools: [{ type: "image_generation", Model: "dear" }] }],
  [
    "responses",
    "input[0].tools[0].model",
    { input: [{ type: "additional_tools", tools: [{ type: "image_generation", model: "dear" }] }] },
  ],
  [
    "responses",
    "tools[0].tools[0].model",
    { tools: [{ type: "namespace", name: "n", tools: [{ type: "image_generation", model: "dear" }] }] },
  ],
];

/** Fields that enable searches at the provider, by the path in the error. */
const SEARCHES: readonly (readonly [path: string, members: object])[] = [
  ["search_parameters", { search_parameters: {} }],
  ["search_parameters", { search_parameters: { mode: "auto" } }],
  ["search_parameters", { search_parameters: { Mode: "off" } }],
  ["enable_search", { enable_search: true }],
  ["compound_custom", { compound_custom: { tools: { enabled_tools: ["web_search"] } } }],
  ["extra_body.enable_search", { extra_body: { enable_search: true } }],
  ["extra_body.web_search_options", { extra_body: { web_search_options: {} } }],
];

describe.each(["chat", "messages", "responses"] as const)("a body of %s with a search", (format) => {
  test.each(SEARCHES)("is rejected with the path %s: %j", (path, members) => {
    const error = errorOf(WIRES[format], { ...ASK, ...members });
    expect(error.kind).toBe("unpriced_field");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test("is rejected for another spelling of the field, and for a repeated one", () => {
    const miscased = errorOf(WIRES[format], { ...ASK, Web_Search_Options: {} });
    expect(miscased.kind).toBe("wrong_shape");
    const twice = `{"web_search_options":{},${JSON.stringify(ASK).slice(1, -1)},"web_search_options":{"a":1}}`;
    expect(() => WIRES[format].parseRequest(twice)).toThrow();
  });

  test("is accepted with a search that is switched off", () => {
    const off = { web_search_options: null, search_parameters: { mode: "off" }, enable_search: false };
    expect(() => WIRES[format].parseRequest(JSON.stringify({ ...ASK, ...off }))).not.toThrow();
  });
});

describe.each(FORMATS)("a body of %s", (format) => {
  const wire = WIRES[format];

  test.each(EVERYWHERE)("is rejected with the path %s: %j", (path, members) => {
    const error = errorOf(wire, { ...askOf(format), ...members });
    expect(error.kind).toBe("unpriced_field");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test("is rejected for a field that differs only in case", () => {
    for (const name of ["Fallbacks", "BEST_OF", "Models", "PROVIDEROPTIONS", "Extra_Body"]) {
      const error = errorOf(wire, { ...askOf(format), [name]: ["dear"] });
      expect([name, error.kind]).toEqual([name, "wrong_shape"]);
    }
  });

  test("is rejected for a repeated field, whichever value is the last", () => {
    const rest = JSON.stringify(ASK).slice(1);
    for (const twice of [
      '"fallbacks":[{"model":"dear"}],"fallbacks":null',
      '"best_of":9,"best_of":1',
      '"extra_body":{"model":"dear"},"extra_body":{}',
      '"providerOptions":{"gateway":{"models":["dear"]}},"providerOptions":{}',
      '"providerOptions":{"gateway":{"models":["dear"]},"gateway":null}',
    ]) {
      expect(() => wire.parseRequest(`{${twice},${rest}`)).toThrow();
    }
  });

  test("is accepted with values that change neither the model nor the price", () => {
    const harmless = {
      service_tier: "auto",
      speed: "standard",
      fallbacks: [],
      models: [],
      provider: {},
      route: null,
      best_of: 1,
      use_beam_search: false,
      providerOptions: { openai: { a: 1 }, gateway: null },
      extra_body: { google: { thinking_config: {} }, chat_template_kwargs: { model: "text" } },
      plugins: [],
      modalities: ["text"],
      inference_geo: "global",
      extra_headers: { "x-trace": "1" },
    };
    expect(() => wire.parseRequest(JSON.stringify({ ...askOf(format), ...harmless }))).not.toThrow();
  });
});

describe("a body with fields of a single format", () => {
  test.each(OF_FORMAT)("is rejected in %s with the path %s: %j", (format, path, members) => {
    const error = errorOf(WIRES[format], { ...ASK, ...members });
    expect(error.kind).toBe("unpriced_field");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test("is accepted with free tools and plug-ins, and with tools whose answers report their use", () => {
    const schema = { type: "object", properties: { model: { type: "string" } }, model: "text" };
    const chat = {
      plugins: [{ id: "response-healing" }, { id: "file-parser", pdf: { engine: "native" } }],
      tools: [{ type: "function", function: { name: "advisor", parameters: schema } }, { type: "mcp" }],
    };
    expect(() => WIRES.chat.parseRequest(JSON.stringify({ ...ASK, ...chat }))).not.toThrow();
    const responses = [
      { type: "function", name: "f", parameters: schema },
      { type: "web_search" },
      { type: "image_generation", quality: "high" },
      { type: "code_interpreter", container: { type: "auto" } },
    ];
    expect(() => WIRES.responses.parseRequest(JSON.stringify({ ...ASK, tools: responses }))).not.toThrow();
    const messages = [
      { name: "advisor", input_schema: schema, model: "text" },
      { type: "web_search_20250305", name: "web_search", max_uses: 3 },
      { type: "code_execution_20260521", name: "code_execution" },
    ];
    const system = { role: "system", content: [{ type: "tool_addition", tool: { type: "tool_reference" } }] };
    const ask = { ...ASK, messages: [...ASK.messages, system], tools: messages };
    expect(() => WIRES.messages.parseRequest(JSON.stringify(ask))).not.toThrow();
  });

  test("is rejected in chat if it asks for a deferred answer", () => {
    const error = errorOf(WIRES.chat, { ...ASK, deferred: true });
    expect(error.kind).toBe("untranslatable");
    expect(error.publicMessage).toEndWith(": deferred");
  });
});
