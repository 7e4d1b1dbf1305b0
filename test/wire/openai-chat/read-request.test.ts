import { describe, expect, test } from "bun:test";
import type { ChatRequest, Turn } from "../../../src/domain/chat-request.ts";
import { GatewayError } from "../../../src/errors.ts";
import { readChatRequest } from "../../../src/wire/openai-chat/ingress/read-request.ts";

const HI = { role: "user", content: "hi" };
const PNG = "data:image/png;base64,aGk=";
/** One character above the limit of a name. */
const LONG_NAME = "n".repeat(257);
const WEATHER = { type: "function", function: { name: "weather", description: "Looks out", strict: true } };

function read(members: object): ChatRequest {
  return readChatRequest({ model: "m", messages: [HI], ...members });
}

function turnsOf(...messages: object[]): readonly Turn[] {
  return read({ messages }).turns;
}

/** Returns the error and the path of a rejected body. Fails if the body is accepted. */
function errorOf(members: object): string {
  try {
    read(members);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.kind} ${error.publicMessage.split(": ")[1]}`;
    throw error;
  }
  throw new Error("The body was taken");
}

function errorOfMessages(...messages: object[]): string {
  return errorOf({ messages });
}

const text = (value: string, cache?: object) => ({ kind: "text", text: value, cache }) as const;
const callPart = (id: string, name: string, input: string) =>
  ({ kind: "tool_call", id, name, input, cache: undefined }) as const;
const resultPart = (callId: string, ...parts: object[]) =>
  ({ kind: "tool_result", callId, parts, isError: false, cache: undefined }) as const;

describe("readTurns", () => {
  test("keeps the client's order, with system and developer messages in place", () => {
    const turns = turnsOf(
      { role: "system", content: "Be brief." },
      HI,
      { role: "developer", content: [{ type: "text", text: "Now long." }] },
      { role: "assistant", content: "ok" },
    );
    expect(turns as unknown).toEqual([
      { role: "system", parts: [text("Be brief.")] },
      { role: "user", parts: [text("hi")] },
      { role: "system", parts: [text("Now long.")] },
      { role: "assistant", parts: [text("ok")] },
    ]);
  });

  test("case 51: joins tool messages after one assistant message into one user turn", () => {
    const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: '{"a":1}' } });
    const turns = turnsOf(
      HI,
      { role: "assistant", content: null, tool_calls: [call("a"), call("b")] },
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "2" }] },
      HI,
    );
    expect(turns as unknown).toEqual([
      { role: "user", parts: [text("hi")] },
      { role: "assistant", parts: [callPart("a", "f", '{"a":1}'), callPart("b", "f", '{"a":1}')] },
      { role: "user", parts: [resultPart("a", text("1")), resultPart("b", text("2"))] },
      { role: "user", parts: [text("hi")] },
    ]);
  });

  test.each([[""], [undefined], [null], [" \n"], ["{}"]])(
    "case 53: reads the arguments %j as an empty object",
    (input) => {
      const call = { id: "a", type: "function", function: { name: "f", arguments: input } };
      const [, turn] = turnsOf(HI, { role: "assistant", tool_calls: [call] });
      expect(turn?.parts as unknown).toEqual([callPart("a", "f", "{}")]);
    },
  );

  test.each([
    ["[]"],
    ["{"],
    ["7"],
    ["null"],
    ['"x"'],
    [7],
    [[]],
    [`${'{"a":'.repeat(600)}1${"}".repeat(600)}`],
  ])("case 53: rejects arguments that are not an object, such as %.20j", (input) => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: input } };
    expect(errorOfMessages(HI, { role: "assistant", tool_calls: [call] })).toBe(
      "wrong_shape messages[1].tool_calls[0].function.arguments",
    );
  });

  test.each([["[]"], ["{"], ["7"], ['"x"']])(
    "wraps the arguments %j of an answered call in an object",
    (input) => {
      const call = { id: "a", type: "function", function: { name: "f", arguments: input } };
      const result = { role: "tool", tool_call_id: "a", content: "no" };
      const [, turn] = turnsOf(HI, { role: "assistant", tool_calls: [call] }, result);
      const wrapped = JSON.stringify({ unreadable_arguments: input });
      expect(turn?.parts as unknown).toEqual([callPart("a", "f", wrapped)]);
    },
  );

  test("rejects such arguments if only a user message has the id of the call", () => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{" } };
    const named = { role: "user", tool_call_id: "a", content: "no" };
    expect(errorOfMessages(HI, { role: "assistant", tool_calls: [call] }, named)).toStartWith("wrong_shape");
  });

  test("reads arguments that are sent as an object", () => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: { a: [1] } } };
    const [turn] = turnsOf({ role: "assistant", tool_calls: [call] });
    expect(turn?.parts as unknown).toEqual([callPart("a", "f", '{"a":[1]}')]);
  });

  test("counts the values of all arguments against the bound of the body", () => {
    const call = { id: "a", function: { name: "f", arguments: `{"a":[${"0,".repeat(40_000)}0]}` } };
    const userMessage = { role: "user", content: Array(30_000).fill(0) };
    expect(errorOfMessages({ role: "assistant", tool_calls: [call, call, call] })).toBe(
      "wrong_shape messages[0].tool_calls[2].function.arguments",
    );
    expect(errorOfMessages({ role: "assistant", tool_calls: [call, call] }, userMessage)).toBe(
      "wrong_shape messages[0].tool_calls[1].function.arguments",
    );
  });

  test("rejects a body of more than 100,000 values at any place", () => {
    const many = Array(100_001).fill(0);
    expect(errorOf({ metadata: { many } })).toBe("wrong_shape undefined");
    expect(errorOf({ tools: Array(50_001).fill({ a: 1 }) })).toBe("wrong_shape undefined");
    expect(() => read({ metadata: { many: many.slice(0, 90_000) } })).not.toThrow();
  });

  test.each([[null], [""], [undefined], [[]], [[{ type: "text", text: "" }]]])(
    "case 54: reads the content %j beside calls as no text",
    (content) => {
      const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
      const [turn] = turnsOf({ role: "assistant", content, tool_calls: [call] });
      expect(turn?.parts as unknown).toEqual([callPart("a", "f", "{}")]);
    },
  );

  test("reads a refusal as text of the assistant", () => {
    const [turn] = turnsOf({
      role: "assistant",
      content: [{ type: "refusal", refusal: "No" }],
      refusal: ".",
    });
    expect(turn?.parts as unknown).toEqual([text("No"), text(".")]);
  });

  test.each<[object, string]>([
    [{ role: "oracle", content: "x" }, "untranslatable messages[0].role"],
    [{ role: "tool", content: "x" }, "wrong_shape messages[0].tool_call_id"],
    [{ role: "tool", content: "x", tool_call_id: 7 }, "wrong_shape messages[0].tool_call_id"],
    [{ role: "assistant", audio: { id: "x" } }, "untranslatable messages[0].audio"],
    [{ role: "assistant", tool_calls: {} }, "wrong_shape messages[0].tool_calls"],
    [{ role: "assistant", tool_calls: [null] }, "wrong_shape messages[0].tool_calls[0]"],
    [{ role: "assistant", tool_calls: [{ id: "a" }] }, "wrong_shape messages[0].tool_calls[0].function"],
    [
      { role: "assistant", tool_calls: [{ function: { name: "f" } }] },
      "wrong_shape messages[0].tool_calls[0].id",
    ],
    [
      { role: "assistant", tool_calls: [{ id: "a", function: { name: "" } }] },
      "wrong_shape messages[0].tool_calls[0].function.name",
    ],
    [
      { role: "assistant", tool_calls: [{ id: "a", type: "custom", custom: { name: "f", input: "x" } }] },
      "untranslatable messages[0].tool_calls[0].type",
    ],
    [{ role: "assistant", function_call: { name: "f" } }, "untranslatable messages[0].function_call"],
    [{ role: "function", name: "f", content: "1" }, "untranslatable messages[0].role"],
    [
      { role: "assistant", tool_calls: [{ id: "a", function: { name: LONG_NAME } }] },
      "wrong_shape messages[0].tool_calls[0].function.name",
    ],
    [{ role: "user", content: ["x"] }, "wrong_shape messages[0].content[0]"],
    [{ role: "user", content: [{ type: "text" }] }, "wrong_shape messages[0].content[0].text"],
    [{ role: "user", content: [{ type: "__proto__" }] }, "untranslatable messages[0].content[0].type"],
    [
      { role: "user", content: [{ type: "input_audio", input_audio: { data: "" } }] },
      "wrong_shape messages[0].content[0].input_audio.format",
    ],
    [
      { role: "user", content: [{ type: "input_audio", input_audio: { data: "", format: "a/b" } }] },
      "wrong_shape messages[0].content[0].input_audio.format",
    ],
    [{ role: "user", content: [{ type: "video_url" }] }, "untranslatable messages[0].content[0].type"],
    [
      { role: "assistant", content: [{ type: "image_url", image_url: { url: PNG } }] },
      "untranslatable messages[0].content[0].type",
    ],
    [
      { role: "system", content: [{ type: "image_url", image_url: { url: PNG } }] },
      "untranslatable messages[0].content[0].type",
    ],
  ])("rejects %j with %s", (message, error) => expect(errorOfMessages(message)).toBe(error));
});

describe("reasoning that a client sends back", () => {
  const reasoningPart = (value: string, signature: object = {}) => ({
    kind: "reasoning",
    text: value,
    signature: undefined,
    redacted: undefined,
    ...signature,
  });

  test.each<[string, object, object[]]>([
    ["from reasoning_content", { reasoning_content: "hm" }, [reasoningPart("hm")]],
    ["from reasoning", { reasoning: "hm" }, [reasoningPart("hm")]],
    [
      "from parts",
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
      [reasoningPart("hm")],
    ],
    [
      "with its signatures",
      {
        reasoning: "hmhm",
        reasoning_details: [
          { type: "reasoning.text", text: "hm", signature: "s1", format: "anthropic-claude-v1", index: 0 },
          { type: "reasoning.encrypted", data: "xyz", index: 1 },
          { type: "reasoning.text", text: "hm", signature: "s2", index: 2 },
        ],
      },
      [
        reasoningPart("hm", { signature: "s1" }),
        reasoningPart("", { redacted: "xyz" }),
        reasoningPart("hm", { signature: "s2" }),
      ],
    ],
    [
      "from the pieces of a stream",
      {
        reasoning_details: [
          { type: "reasoning.text", text: "h", index: 0 },
          { type: "reasoning.text", text: "m", index: 0 },
          { type: "reasoning.text", signature: "s", index: 0 },
          { type: "reasoning.text", text: "so", index: 1 },
        ],
      },
      [reasoningPart("hm", { signature: "s" }), reasoningPart("so")],
    ],
    [
      "without signatures of other providers",
      {
        reasoning_details: [
          { type: "reasoning.text", text: "hm", signature: "s", format: "google-gemini-v1" },
          { type: "reasoning.encrypted", data: "xyz", format: "openai-responses-v1" },
        ],
      },
      [reasoningPart("hm")],
    ],
    ["as nothing if its type is wrong", { reasoning: 7, reasoning_details: [7, null, {}] }, []],
  ])("is read %s", (_, members, expected) => {
    const [turn] = turnsOf({ role: "assistant", content: "", ...members });
    expect(turn?.parts as unknown).toEqual(expected);
  });
});

describe("a media part", () => {
  const partOf = (part: object, role = "user") =>
    turnsOf({ role, tool_call_id: "a", content: [part] })[0]?.parts[0] as unknown;
  const image = { kind: "image", detail: undefined, cache: undefined, path: "messages[0].content[0]" };
  const document = { kind: "document", name: undefined, cache: undefined, path: "messages[0].content[0]" };
  const inline = (mediaType: string, data = "aGk=") => ({ kind: "inline", mediaType, data });

  test.each<[object, object]>([
    [{ image_url: { url: PNG, detail: "low" } }, { ...image, detail: "low", source: inline("image/png") }],
    [{ image_url: PNG }, { ...image, source: inline("image/png") }],
    [{ image_url: { url: "data:IMAGE/JPG;base64,aGk=" } }, { ...image, source: inline("image/jpeg") }],
    [{ image_url: { url: "data:image/svg+xml;base64,aGk=" } }, { ...image, source: inline("image/svg+xml") }],
    [
      { image_url: { url: "https://a.example/b" } },
      { ...image, source: { kind: "url", url: "https://a.example/b" } },
    ],
    [
      { image_url: { url: PNG }, cache_control: { type: "ephemeral", ttl: "1h" } },
      { ...image, source: inline("image/png"), cache: { ttl: "1h" } },
    ],
  ])("case 65: is read as an image: %j", (members, expected) => {
    expect(partOf({ type: "image_url", ...members })).toEqual(expected);
  });

  test("is read as part of the result of a tool", () => {
    const result = resultPart("a", { ...image, source: inline("image/png") });
    expect(partOf({ type: "image_url", image_url: { url: PNG } }, "tool")).toEqual(result);
  });

  test.each<[object, object]>([
    [
      { file_data: "data:application/pdf;base64,aGk=", filename: "a.pdf" },
      { ...document, name: "a.pdf", source: inline("application/pdf") },
    ],
    [{ file_data: "JVBERi0x" }, { ...document, source: inline("application/pdf", "JVBERi0x") }],
    [
      { file_data: "data:text/markdown;charset=utf-8;base64,aGk=" },
      { ...document, source: { kind: "text", text: "hi" } },
    ],
    [
      { file_data: "aGk=", filename: "a.txt" },
      { ...document, name: "a.txt", source: { kind: "text", text: "hi" } },
    ],
    [
      { file_data: "https://a.example/b.pdf" },
      { ...document, source: { kind: "url", url: "https://a.example/b.pdf" } },
    ],
    [
      { file_data: PNG, filename: "a.png" },
      { ...image, source: inline("image/png") },
    ],
  ])("is read as a document: %j", (file, expected) => {
    expect(partOf({ type: "file", file })).toEqual(expected);
  });

  test.each<[object, string]>([
    [{ type: "image_url" }, "wrong_shape messages[0].content[0].image_url"],
    [{ type: "image_url", image_url: { url: 7 } }, "wrong_shape messages[0].content[0].image_url.url"],
    [
      { type: "image_url", image_url: { url: PNG, detail: 7 } },
      "wrong_shape messages[0].content[0].image_url.detail",
    ],
    [
      { type: "image_url", image_url: "file:///etc/passwd" },
      "untranslatable messages[0].content[0].image_url.url",
    ],
    [
      { type: "image_url", image_url: "data:image/svg+xml,<svg/>" },
      "untranslatable messages[0].content[0].image_url.url",
    ],
    [
      { type: "image_url", image_url: `data:${";".repeat(1_000_000)}` },
      "untranslatable messages[0].content[0].image_url.url",
    ],
    [{ type: "file", file: { file_id: "f" } }, "untranslatable messages[0].content[0].file.file_id"],
    [{ type: "file", file: {} }, "wrong_shape messages[0].content[0].file.file_data"],
    [{ type: "file" }, "wrong_shape messages[0].content[0].file"],
    [{ type: "file", file: { file_data: "aGk=" } }, "untranslatable messages[0].content[0].file.file_data"],
  ])("is rejected: %.90j", (part, error) => {
    expect(errorOfMessages({ role: "user", content: [part] })).toBe(error);
  });
});

describe("readTools", () => {
  test("reads tools, with an empty schema if there is none", () => {
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const other = { type: "function", function: { name: "b", parameters: schema } };
    const { tools } = read({ tools: [{ ...WEATHER, cache_control: { type: "ephemeral" } }, other] });
    const empty = { type: "object", properties: {} };
    expect(tools as unknown).toEqual([
      {
        name: "weather",
        description: "Looks out",
        schema: empty,
        strict: true,
        isFreeForm: false,
        cache: { ttl: undefined },
      },
      { name: "b", description: undefined, schema, strict: undefined, isFreeForm: false, cache: undefined },
    ]);
  });

  test.each<[unknown, ChatRequest["toolChoice"]]>([
    [undefined, undefined],
    [null, undefined],
    ["auto", { kind: "auto" }],
    ["none", { kind: "none" }],
    ["required", { kind: "required" }],
    ["any", { kind: "required" }],
    [
      { type: "function", function: { name: "weather" } },
      { kind: "tool", name: "weather" },
    ],
  ])("reads the tool choice %j", (choice, expected) => {
    expect(read({ tools: [WEATHER], tool_choice: choice }).toolChoice).toEqual(expected);
  });

  test("drops the tools that allowed_tools does not name", () => {
    const tools = ["a", "b", "c"].map((name) => ({ type: "function", function: { name } }));
    const allowed = { mode: "required", tools: [tools[1], { type: "function", name: "c" }] };
    const chat = read({ tools, tool_choice: { type: "allowed_tools", allowed_tools: allowed } });
    expect(chat.tools.map(({ name }) => name)).toEqual(["b", "c"]);
    expect(chat.toolChoice).toEqual({ kind: "required" });
  });

  test("drops the tool choice without tools", () => {
    const chat = read({ tools: [], tool_choice: "none", parallel_tool_calls: false });
    expect(chat).toMatchObject({ tools: [], toolChoice: undefined, parallelToolCalls: undefined });
  });

  test("case 55: keeps parallel_tool_calls", () => {
    expect(read({ tools: [WEATHER], parallel_tool_calls: false }).parallelToolCalls).toBe(false);
    expect(read({ tools: [WEATHER] }).parallelToolCalls).toBeUndefined();
  });

  test.each<[string, object, string]>([
    ["a custom tool", { tools: [{ type: "custom", custom: { name: "f" } }] }, "untranslatable tools[0].type"],
    ["a host's tool", { tools: [{ type: "web_search" }] }, "untranslatable tools[0].type"],
    ["a string", { tools: ["f"] }, "wrong_shape tools[0]"],
    ["a tool without a function", { tools: [{ type: "function" }] }, "wrong_shape tools[0].function"],
    [
      "a function without a name",
      { tools: [{ function: { name: 7 } }] },
      "wrong_shape tools[0].function.name",
    ],
    [
      "parameters that are a list",
      { tools: [{ function: { name: "f", parameters: [] } }] },
      "wrong_shape tools[0].function.parameters",
    ],
    [
      "a name above 256 characters",
      { tools: [{ function: { name: LONG_NAME } }] },
      "wrong_shape tools[0].function.name",
    ],
    [
      "a choice above 256 characters",
      { tools: [WEATHER], tool_choice: { type: "function", function: { name: LONG_NAME } } },
      "wrong_shape tool_choice.function.name",
    ],
    [
      "an allowed name above 256 characters",
      { tool_choice: { type: "allowed_tools", allowed_tools: { tools: [{ name: LONG_NAME }] } } },
      "wrong_shape tool_choice.allowed_tools.tools[0].name",
    ],
    ["an unknown choice", { tools: [WEATHER], tool_choice: "maybe" }, "wrong_shape tool_choice"],
    [
      "a custom choice",
      { tools: [WEATHER], tool_choice: { type: "custom" } },
      "untranslatable tool_choice.type",
    ],
    [
      "a choice without a mode",
      { tool_choice: { type: "allowed_tools", allowed_tools: { tools: [] } } },
      "wrong_shape tool_choice.allowed_tools.mode",
    ],
    ["a string as a boolean", { parallel_tool_calls: "no" }, "wrong_shape parallel_tool_calls"],
  ])("rejects %s", (_, members, error) => expect(errorOf(members)).toBe(error));

  test("rejects a schema that nests too deep", () => {
    const prefix = '{"model":"m","messages":[{"role":"user"}],"tools":[{"function":{"name":"f","parameters":';
    const nested = `${'{"items":'.repeat(20_000)}{}${"}".repeat(20_000)}`;
    expect(() => readChatRequest(JSON.parse(`${prefix}${nested}}}]}`))).toThrow(GatewayError);
  });
});

describe("readChatRequest", () => {
  test.each<[object, Partial<ChatRequest["reasoning"]>]>([
    [{}, {}],
    [{ reasoning_effort: "low" }, { effort: "low" }],
    [{ reasoning_effort: "none" }, { effort: "none" }],
    [{ reasoning: { effort: "high" } }, { effort: "high" }],
    [{ reasoning: { max_tokens: 2000 } }, { thinking: "enabled", budgetTokens: 2000 }],
    [{ reasoning: { enabled: true } }, { thinking: "adaptive" }],
    [{ reasoning: { enabled: false, max_tokens: 5 } }, { thinking: "disabled" }],
    [{ reasoning: { exclude: true } }, { isShown: false }],
    [{ thinking: { type: "enabled", budget_tokens: 3000 } }, { thinking: "enabled", budgetTokens: 3000 }],
    [{ thinking: { type: "enabled" } }, { thinking: "adaptive" }],
    [{ thinking: { type: "disabled" } }, { thinking: "disabled" }],
  ])("reads reasoning from %j", (members, expected) => {
    const none = { effort: undefined, thinking: undefined, budgetTokens: undefined, isShown: true };
    expect(read(members).reasoning).toEqual({ ...none, ...expected });
  });

  test("reads the schema of the answer, and a missing schema as any object", () => {
    const schema = { type: "object" };
    const json_schema = { name: "a", description: "b", schema, strict: true };
    expect(read({ response_format: { type: "json_schema", json_schema } }).format).toEqual({
      kind: "schema",
      name: "a",
      description: "b",
      schema,
      strict: true,
    });
    const any = { kind: "json" } as const;
    expect(read({ response_format: { type: "json_schema", json_schema: { name: "a" } } }).format).toEqual(
      any,
    );
    expect(read({ response_format: { type: "json_object" } }).format).toEqual(any);
    expect(read({ response_format: { type: "text" } }).format).toBeUndefined();
  });

  test("case 67: reads stop sequences from a string or a list", () => {
    expect(read({ stop: "\n" }).stopSequences).toEqual(["\n"]);
    expect(read({ stop: ["a", "", "b"] }).stopSequences).toEqual(["a", "b"]);
    expect(read({ stop: null }).stopSequences).toEqual([]);
  });

  test("reads sampling parameters and the end user", () => {
    const chat = read({ temperature: 1.7, top_p: 0.5, top_k: 40, user: "u", safety_identifier: "s" });
    expect(chat).toMatchObject({ temperature: 1.7, topP: 0.5, topK: 40, endUser: "s" });
    expect(read({ top_k: -1, user: 7 })).toMatchObject({ topK: undefined, endUser: undefined });
  });

  test.each<[object, string]>([
    [{ n: 2 }, "untranslatable n"],
    [{ logprobs: true }, "untranslatable logprobs"],
    [{ top_logprobs: 3 }, "untranslatable top_logprobs"],
    [{ audio: { voice: "alloy" } }, "untranslatable audio"],
    [{ plugins: [{ id: "moderation" }] }, "untranslatable plugins"],
    [{ functions: [{ name: "f" }], function_call: "auto" }, "untranslatable functions"],
    [{ function_call: { name: "f" } }, "untranslatable function_call"],
    [{ response_format: { type: "grammar" } }, "untranslatable response_format.type"],
    [{ response_format: "json" }, "wrong_shape response_format"],
    [{ response_format: { type: "json_schema" } }, "wrong_shape response_format.json_schema"],
    [
      { response_format: { type: "json_schema", json_schema: { schema: [] } } },
      "wrong_shape response_format.json_schema.schema",
    ],
    [{ reasoning_effort: "very" }, "wrong_shape reasoning_effort"],
    [{ reasoning: { effort: 7 } }, "wrong_shape reasoning.effort"],
    [{ reasoning: "high" }, "wrong_shape reasoning"],
    [{ thinking: [] }, "wrong_shape thinking"],
    [{ stop: 7 }, "wrong_shape stop"],
    [{ stop: [7] }, "wrong_shape stop"],
    [{ temperature: "1" }, "wrong_shape temperature"],
    [{ temperature: 2.1 }, "wrong_shape temperature"],
    [{ top_p: -1 }, "wrong_shape top_p"],
    [{ top_k: 1.5 }, "wrong_shape top_k"],
  ])("case 66: rejects %j with its path", (members, error) => expect(errorOf(members)).toBe(error));

  test("case 66: drops fields whose loss no client notices", () => {
    const dropped = {
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      seed: "seven",
      frequency_penalty: null,
      logit_bias: { 1: 2 },
      store: true,
      metadata: { a: "b" },
      verbosity: "low",
      service_tier: "auto",
      prompt_cache_key: "k",
      prediction: { type: "content", content: "x" },
      plugins: [],
      functions: [],
      function_call: "none",
      modalities: ["text"],
      audio: null,
      made_up: { a: 1 },
    };
    expect(read(dropped)).toEqual(read({}));
  });

  test("reads a seed and penalties for the hosts that have them", () => {
    expect(read({ seed: 7, frequency_penalty: 1, presence_penalty: -0.5 })).toMatchObject({
      seed: 7,
      frequencyPenalty: 1,
      presencePenalty: -0.5,
    });
  });

  test("reads a recording as a file of its format", () => {
    const content = [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }];
    expect(read({ messages: [{ role: "user", content }] }).turns[0]?.parts).toMatchObject([
      { kind: "document", source: { kind: "inline", mediaType: "audio/wav", data: "UklGRg==" } },
    ]);
  });

  test("case 59: reads a body without an output limit", () => expect(read({}).turns).toHaveLength(1));
});
