import { describe, expect, test } from "bun:test";
import { claude, converse, converseText } from "../support/bedrock/answers.ts";
import { CHAT, MESSAGES, objectOf, post, type RESPONSES } from "../support/client.ts";
import {
  CLAUDE,
  expectOwnError,
  GPT_OSS,
  NOVA,
  PROFILE,
  startBedrockFixture,
} from "./conformance/bedrock-fixture.ts";

const fixture = startBedrockFixture();
const PNG = "iVBORw0KGgo=";
const PDF = "JVBERi0xLjQ=";
const user = (content: unknown) => ({ role: "user", content });

/** Answers every model, sends a request and returns the body that Bedrock accepted. */
async function sendTo(surface: typeof CHAT | typeof MESSAGES | typeof RESPONSES, body: object) {
  const { bedrock, gateway } = fixture;
  bedrock().on(CLAUDE, ({ api, ...call }) =>
    (api.startsWith("invoke") ? claude([{ type: "text", text: "Hi" }]) : converseText("Hi"))({
      api,
      ...call,
    }),
  );
  for (const model of [NOVA, GPT_OSS, PROFILE]) bedrock().on(model, converseText("Hello."));
  const response = await post(gateway(), surface, { ...body });
  const text = await response.text();
  if (response.status !== 200)
    throw new Error(`${response.status} ${text}: ${bedrock().complaints.join("; ")}`);
  return fixture.sent();
}

describe("a request to Bedrock", () => {
  test("case 140: of InvokeModel has the version in place of the model and the stream flag", async () => {
    const sent = await sendTo(MESSAGES, {
      model: "claude",
      stream: true,
      max_tokens: 99,
      metadata: { user_id: "u" },
    });
    expect(Object.keys(sent).sort()).toEqual(["anthropic_version", "max_tokens", "messages", "metadata"]);
    expect(fixture.call()).toMatchObject({ api: "invoke-with-response-stream", model: CLAUDE });
  });

  test("case 141: names a model by an ARN, whose slashes and colons are signed as they are encoded", async () => {
    await sendTo(CHAT, { model: "profile" });
    expect(fixture.call()).toMatchObject({ api: "converse", model: PROFILE });
  });

  test("case 142: with an API key is not signed", async () => {
    await sendTo(CHAT, { model: "by-key" });
    expect(String(fixture.call().headers.authorization)).toStartWith("Bearer bedrock-api-key-");
    expect(fixture.call().headers).not.toHaveProperty("x-amz-date");
  });

  test("case 143: has the betas of header and body that Bedrock knows and the operator allows", async () => {
    const headers = {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,context-1m-2025-08-07",
    };
    const betas = ["fine-grained-tool-streaming-2025-05-14", "files-api-2025-04-14"];
    const sent = await sendTo(MESSAGES, { model: "claude", max_tokens: 99, betas, headers });
    expect(sent.anthropic_beta).toEqual([
      "interleaved-thinking-2025-05-14",
      "fine-grained-tool-streaming-2025-05-14",
    ]);
    expect(fixture.call().headers).not.toHaveProperty("anthropic-beta");
  });

  test("names the search among tools as Bedrock does, and loads tools at once without its beta", async () => {
    const tools = [
      { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
      { name: "f", input_schema: { type: "object" }, defer_loading: true },
    ];
    const headers = { "anthropic-beta": "advanced-tool-use-2025-11-20" };
    const searched = await sendTo(MESSAGES, { model: "claude", max_tokens: 99, tools, headers });
    expect(searched).toMatchObject({ anthropic_beta: ["tool-search-tool-2025-10-19"], tools });
    const plain = await sendTo(MESSAGES, { model: "claude", max_tokens: 99, tools });
    expect(plain.tools).toEqual([{ name: "f", input_schema: { type: "object" } }]);
  });

  test("case 144: of Claude Code loses what Bedrock refuses, and keeps the rest", async () => {
    const scoped = { type: "text", text: "Long.", cache_control: { type: "ephemeral", scope: "global" } };
    const sent = await sendTo(MESSAGES, {
      model: "claude",
      max_tokens: 2_000,
      system: [scoped],
      cache_control: { type: "ephemeral" },
      service_tier: "auto",
      context_management: { edits: [{ type: "clear_thinking_20251015" }] },
      thinking: { type: "enabled", budget_tokens: 1_024 },
    });
    expect(sent).toMatchObject({ system: [{ ...scoped, cache_control: { type: "ephemeral" } }] });
    for (const name of ["service_tier", "cache_control", "context_management"])
      expect(sent).not.toHaveProperty(name);
    expect(sent.thinking).toEqual({ type: "enabled", budget_tokens: 1_024 });
  });

  test("case 145: that only Anthropic's own API can serve is refused by name, or takes the next route", async () => {
    const asked = { max_tokens: 99, mcp_servers: [{ type: "url", url: "https://mcp.example", name: "m" }] };
    const error = await expectOwnError(
      await post(fixture.gateway(), MESSAGES, { model: "claude", ...asked }),
      400,
    );
    expect(error.message).toContain("mcp_servers");
    const response = await post(fixture.gateway(), MESSAGES, { model: "spare", ...asked });
    expect(response.status).toBe(200);
    expect((await fixture.gateway().receiptOf(response)).outcome?.upstream).toBe("scripted-anthropic");
  });

  test("case 146: of Converse has its system text, turns, limits and settings", async () => {
    const sent = await sendTo(CHAT, {
      model: "nova",
      messages: [
        { role: "system", content: "Be brief." },
        user("One."),
        user("Two."),
        { role: "assistant", content: "Three." },
        user("Four."),
      ],
      max_tokens: 77,
      temperature: 1.5,
      top_p: 0.9,
      stop: ["END", " "],
      user: "someone",
      parallel_tool_calls: true,
    });
    expect(sent).toEqual({
      system: [{ text: "Be brief." }],
      messages: [
        user([{ text: "One." }, { text: "Two." }]),
        { role: "assistant", content: [{ text: "Three." }] },
        user([{ text: "Four." }]),
      ],
      inferenceConfig: { maxTokens: 77, temperature: 1, topP: 0.9, stopSequences: ["END"] },
    });
  });

  test("case 147: of Converse has tools, the choice, calls and their results", async () => {
    const name = "get_weather";
    const call = (id: string) => ({
      id,
      type: "function",
      function: { name, arguments: '{"n":7}' },
    });
    const sent = await sendTo(CHAT, {
      model: "nova",
      tools: [
        {
          type: "function",
          function: { name, description: "", parameters: { type: "object", properties: {} } },
        },
      ],
      tool_choice: "required",
      messages: [
        user("Weather?"),
        { role: "assistant", content: null, tool_calls: [call("a"), call("b")] },
        { role: "tool", tool_call_id: "b", content: "" },
        { role: "tool", tool_call_id: "a", content: "Rain." },
      ],
    });
    expect(sent.toolConfig).toEqual({
      tools: [{ toolSpec: { name, inputSchema: { json: { type: "object", properties: {} } } } }],
      toolChoice: { any: {} },
    });
    expect(sent.messages).toEqual([
      user([{ text: "Weather?" }]),
      {
        role: "assistant",
        content: ["a", "b"].map((toolUseId) => ({
          toolUse: { toolUseId, name, input: { n: 7 } },
        })),
      },
      user([
        { toolResult: { toolUseId: "b", content: [{ text: "(no output)" }] } },
        { toolResult: { toolUseId: "a", content: [{ text: "Rain." }] } },
      ]),
    ]);
  });

  test("case 148: of Converse declares the tools of earlier calls when it no longer offers any", async () => {
    const sent = await sendTo(MESSAGES, {
      model: "nova",
      max_tokens: 99,
      messages: [
        user("Go."),
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "act", input: {} }] },
        user([{ type: "tool_result", tool_use_id: "t", is_error: true, content: "failed" }]),
      ],
    });
    expect(sent.toolConfig).toEqual({
      tools: [{ toolSpec: { name: "act", inputSchema: { json: { type: "object" } } } }],
    });
    expect(sent.messages).toContainEqual(
      user([{ toolResult: { toolUseId: "t", content: [{ text: "failed" }], status: "error" } }]),
    );
  });

  test("case 149: of Converse has images and documents, whose names are clean and differ", async () => {
    const file = { filename: "My report_v2.pdf", file_data: `data:application/pdf;base64,${PDF}` };
    const sent = await sendTo(CHAT, {
      model: "nova",
      messages: [
        user([
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: "file", file },
          { type: "file", file },
        ]),
      ],
    });
    const source = { bytes: PDF };
    expect(sent.messages).toEqual([
      user([
        { image: { format: "png", source: { bytes: PNG } } },
        { document: { format: "pdf", name: "My report v2", source } },
        { document: { format: "pdf", name: "My report v2 2", source } },
        { text: "The documents are attached." },
      ]),
    ]);
  });

  test("case 150: of Converse with a file that Bedrock cannot fetch is refused by name", async () => {
    const content = [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }];
    const response = await post(fixture.gateway(), CHAT, { model: "nova", messages: [user(content)] });
    expect((await expectOwnError(response, 422)).message).toContain("messages[0].content[0]");
  });

  test("case 151: of Converse marks the cache for models that have one", async () => {
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const body = {
      max_tokens: 99,
      system: [{ type: "text", text: "Long.", cache_control }],
      messages: [user([{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }])],
    };
    const point = { cachePoint: { type: "default" } };
    expect(await sendTo(MESSAGES, { model: "nova", ...body })).toMatchObject({
      system: [{ text: "Long." }, point],
      messages: [user([{ text: "Hi" }, point])],
    });
    expect(await sendTo(MESSAGES, { model: "claude-converse", ...body })).toMatchObject({
      system: [{ text: "Long." }, { cachePoint: { type: "default", ttl: "1h" } }],
    });
    expect(JSON.stringify(await sendTo(MESSAGES, { model: "gpt-oss", ...body }))).not.toContain("cachePoint");
  });

  test("case 152: of Converse asks for reasoning as the model's vendor does", async () => {
    const asked = { reasoning_effort: "high", max_tokens: 5_000 };
    expect((await sendTo(CHAT, { model: "nova", ...asked })).additionalModelRequestFields).toEqual({
      reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" },
    });
    expect((await sendTo(CHAT, { model: "gpt-oss", ...asked })).additionalModelRequestFields).toEqual({
      reasoning_effort: "high",
    });
    expect(await sendTo(CHAT, { model: "claude-converse", ...asked, temperature: 0.5 })).toMatchObject({
      additionalModelRequestFields: { thinking: { type: "adaptive" } },
      outputConfig: { effort: "high" },
      inferenceConfig: { maxTokens: 5_000 },
    });
  });

  test("case 153: of Converse has the schema of its answer, or the instruction to follow it", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    };
    const response_format = { type: "json_schema", json_schema: { name: "n", schema } };
    const { outputConfig } = await sendTo(CHAT, { model: "gpt-oss", response_format });
    expect(outputConfig).toMatchObject({ textFormat: { type: "json_schema" } });
    const { outputConfig: none, system } = await sendTo(CHAT, { model: "nova", response_format });
    expect(none).toBeUndefined();
    expect(JSON.stringify(system)).toContain("It follows this JSON schema");
  });

  test("case 154: gives reasoning back to the model that signed it, and to no other", async () => {
    const thought = { reasoningText: { text: "Hm.", signature: "b3Nz" } };
    fixture
      .bedrock()
      .on(
        NOVA,
        converse(
          [
            { reasoningContent: thought },
            { reasoningContent: { redactedContent: "c2VjcmV0" } },
            { text: "Hi." },
          ],
          "end_turn",
        ),
      );
    const first = { model: "nova", max_tokens: 2_000, thinking: { type: "enabled", budget_tokens: 1_024 } };
    const { content } = await objectOf(await post(fixture.gateway(), MESSAGES, first));
    expect(content).toMatchObject([
      { type: "thinking", thinking: "Hm." },
      { type: "redacted_thinking" },
      { type: "text" },
    ]);
    expect(JSON.stringify(content)).not.toMatch(/b3Nz|c2VjcmV0/);
    const messages = [user("One."), { role: "assistant", content }, user("Two.")];
    expect((await sendTo(MESSAGES, { ...first, messages })).messages).toContainEqual({
      role: "assistant",
      content: [
        { reasoningContent: thought },
        { reasoningContent: { redactedContent: "c2VjcmV0" } },
        { text: "Hi." },
      ],
    });
    for (const model of ["claude", "gpt-oss"]) {
      const { messages: sent } = await sendTo(MESSAGES, { ...first, model, messages });
      expect(JSON.stringify(sent)).not.toMatch(/reasoningContent|thinking/);
    }
  });
});
