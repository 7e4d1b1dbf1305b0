import { describe, expect, test } from "bun:test";
import type { ChatRequest, Effort, Part, Reasoning, Tool, Turn } from "../../../src/domain/chat-request.ts";
import type { ModelTraits } from "../../../src/domain/model.ts";
import {
  findUntranslatable,
  printRequest,
} from "../../../src/wire/anthropic-messages/egress/print-request.ts";
import { callOf, chatOf, NO_REASONING, resultOf, textOf, turnOf } from "../chat-request.ts";

const EVERYTHING: ModelTraits = { reasoning: "adaptive", sampling: true };

function print(members: Partial<ChatRequest>, options: { traits?: ModelTraits; max?: number } = {}) {
  const { traits = EVERYTHING, max = 10_000 } = options;
  const printed = printRequest(chatOf(members), {
    model: "up",
    outputTokensMax: max,
    outputLimitField: "max_completion_tokens",
    stream: true,
    traits,
  });
  return JSON.parse(printed);
}

const text = (words: string) => textOf(words);
const turn = (role: Turn["role"], ...words: string[]) => turnOf(role, ...words.map(text));
const call = (id: string, input = "{}", name = "f") => callOf(id, name, input);
const result = (callId: string, ...words: string[]) => resultOf(callId, ...words.map(text));
const thought = (signature: string | undefined, redacted?: string): Part => ({
  kind: "reasoning",
  text: "hm",
  signature,
  redacted,
});
const tool = (members: Partial<Tool> = {}): Tool => ({
  name: "f",
  description: "does",
  schema: { type: "object", properties: {} },
  strict: undefined,
  isFreeForm: false,
  cache: undefined,
  ...members,
});
const block = (words: string) => ({ type: "text", text: words });

describe("a printed conversation", () => {
  test("contains the model, the output limit and the stream flag, and no field that was not requested", () => {
    expect(print({})).toEqual({
      model: "up",
      max_tokens: 10_000,
      stream: true,
      messages: [{ role: "user", content: [block("hi")] }],
    });
  });

  test("has leading system turns as its system prompt and later ones as user messages in place", () => {
    const { system, messages } = print({
      turns: [
        turn("system", "a"),
        turn("system", "b", " "),
        turn("user", "hi"),
        turn("system", "now"),
        turn("assistant", "yes"),
        turn("system", "then"),
      ],
    });
    expect(system).toEqual([block("a"), block("b")]);
    expect(messages).toEqual([
      { role: "user", content: [block("hi"), block("now")] },
      { role: "assistant", content: [block("yes")] },
      { role: "user", content: [block("then")] },
    ]);
  });

  test("begins with a user message, even with only a system prompt", () => {
    for (const turns of [[turn("system", "a")], [turn("assistant", "hello"), turn("user", "hi")]]) {
      expect(print({ turns }).messages[0]).toEqual({ role: "user", content: [block("Please begin.")] });
    }
  });

  test("case 51: joins the results of several tools into one user message, results first", () => {
    const { messages } = print({
      turns: [
        turn("user", "hi"),
        { role: "assistant", parts: [call("a"), call("b")] },
        { role: "user", parts: [result("a", "1")] },
        turn("system", "note"),
        { role: "user", parts: [text("and"), result("b", "2", "3")] },
      ],
    });
    expect(messages[2]).toEqual({
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: "1" },
        { type: "tool_result", tool_use_id: "b", content: [block("2"), block("3")] },
        block("note"),
        block("and"),
      ],
    });
  });

  test("case 53: contains the input of a call as an object with all its digits", () => {
    const printed = printRequest(
      chatOf({
        turns: [turn("user", "hi"), { role: "assistant", parts: [call("a", '{"n":12345678901234567890}')] }],
      }),
      { model: "up", outputTokensMax: 100, outputLimitField: undefined, stream: false, traits: EVERYTHING },
    );
    expect(printed).toContain('"input":{"n":12345678901234567890}');
    expect(
      print({ turns: [turn("user", "hi"), { role: "assistant", parts: [call("a")] }] }).messages[1]
        .content[0],
    ).toEqual({
      type: "tool_use",
      id: "a",
      name: "f",
      input: {},
    });
  });

  test("case 54: omits empty and blank texts", () => {
    const turns = [
      turn("user", "hi", "", " \n"),
      { role: "assistant", parts: [text(""), call("a")] } as const,
    ];
    const { messages } = print({ turns });
    expect(messages[0].content).toEqual([block("hi")]);
    expect(messages[1].content).toHaveLength(1);
  });

  test("ends with a user message when the last turn was an empty user turn", () => {
    for (const last of [turn("user", " "), turn("user"), turn("system", "")]) {
      const { messages } = print({ turns: [turn("user", "hi"), turn("assistant", "So "), last] });
      expect(messages.slice(1)).toEqual([
        { role: "assistant", content: [block("So ")] },
        { role: "user", content: [block("Please go on.")] },
      ]);
    }
  });

  test("trims trailing white space from an answer that shall be continued", () => {
    expect(print({ turns: [turn("user", "hi"), turn("assistant", "So \n")] }).messages[1].content).toEqual([
      block("So"),
    ]);
  });

  test("prints failed, empty and image results with their cache marks", () => {
    const image: Part = {
      kind: "image",
      source: { kind: "inline", mediaType: "image/jpeg", data: "AA==" },
      detail: "low",
      cache: undefined,
      path: "p",
    };
    const parts: Part[] = [
      { kind: "tool_result", callId: "a", parts: [], isError: true, cache: { ttl: "1h" } },
      { kind: "tool_result", callId: "b", parts: [image], isError: false, cache: undefined },
    ];
    expect(print({ turns: [{ role: "user", parts }] }).messages[0].content).toEqual([
      {
        type: "tool_result",
        tool_use_id: "a",
        is_error: true,
        cache_control: { type: "ephemeral", ttl: "1h" },
      },
      {
        type: "tool_result",
        tool_use_id: "b",
        content: [{ type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AA==" } }],
      },
    ]);
  });

  test("case 61: contains signed reasoning unchanged and no other reasoning", () => {
    const parts = [thought("c2ln"), thought(undefined, "eA=="), thought(undefined), thought(""), text("so")];
    const turns: Turn[] = [turn("user", "hi"), { role: "assistant", parts }, turn("user", "go")];
    expect(print({ turns }).messages[1].content).toEqual([
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "redacted_thinking", data: "eA==" },
      block("so"),
    ]);
    const traits = { reasoning: "none", sampling: true } as const;
    expect(print({ turns }, { traits }).messages[1].content).toEqual([block("so")]);
  });
});

describe("printed media", () => {
  const image = (source: object): Part => ({
    kind: "image",
    source: source as never,
    detail: undefined,
    cache: { ttl: undefined },
    path: "there",
  });
  const document = (source: object): Part => ({
    kind: "document",
    source: source as never,
    name: "a",
    cache: undefined,
    path: "there",
  });
  const inline = (mediaType: string) => ({ kind: "inline", mediaType, data: "AA==" });
  const remote = { kind: "url", url: "https://example.com/a" };
  const find = (...parts: Part[]) => findUntranslatable(chatOf({ turns: [{ role: "user", parts }] }));

  test("case 65: pass as inline data or as an address that is never fetched", () => {
    const parts = [image(inline("image/png")), image(remote)];
    expect(find(...parts)).toBeUndefined();
    const cache_control = { type: "ephemeral" };
    expect(print({ turns: [{ role: "user", parts }] }).messages[0].content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" }, cache_control },
      { type: "image", source: { type: "url", url: "https://example.com/a" }, cache_control },
    ]);
  });

  test("pass documents as PDF, as text or as an address", () => {
    const parts = [
      document(inline("application/pdf")),
      document({ kind: "text", text: "words" }),
      document(remote),
    ];
    expect(find(...parts)).toBeUndefined();
    const { content } = print({ turns: [{ role: "user", parts }] }).messages[0];
    expect(content.map((each: { source: object }) => each.source)).toEqual([
      { type: "base64", media_type: "application/pdf", data: "AA==" },
      { type: "text", media_type: "text/plain", data: "words" },
      { type: "url", url: "https://example.com/a" },
    ]);
    expect(content[0].title).toBe("a");
  });

  test.each<[string, Part]>([
    ["an image of another type", image(inline("image/svg+xml"))],
    ["a document of another type", document(inline("application/zip"))],
    ["an image in a result", { ...result("a"), parts: [image(inline("image/tiff"))] } as Part],
  ])("case 65: %s is untranslatable, and the error names its path", (_, part) => {
    expect(find(text("hi"), part)).toBe("there");
  });

  test("are untranslatable outside user messages", () => {
    for (const role of ["system", "assistant"] as const) {
      expect(findUntranslatable(chatOf({ turns: [{ role, parts: [image(remote)] }] }))).toBe("there");
    }
  });
});

describe("printed tools", () => {
  test("have object schemas and their cache marks", () => {
    const { tools } = print({
      tools: [tool({ cache: { ttl: "1h" } }), tool({ name: "g", description: undefined, schema: {} })],
    });
    expect(tools).toEqual([
      {
        name: "f",
        description: "does",
        input_schema: { type: "object", properties: {} },
        cache_control: { type: "ephemeral", ttl: "1h" },
      },
      { name: "g", input_schema: { type: "object" } },
    ]);
  });

  test("keep a strict tool strict, with a closed schema", () => {
    const schema = { type: "object", properties: { n: { type: "integer", minimum: 1 } } };
    expect(print({ tools: [tool({ strict: true, schema })] }).tools[0]).toMatchObject({
      strict: true,
      input_schema: { additionalProperties: false, properties: { n: { description: "{minimum: 1}" } } },
    });
    expect(print({ tools: [tool({ strict: false })] }).tools[0]).not.toHaveProperty("strict");
  });

  test("lose strictness when an object of the schema is open", () => {
    const schema = { type: "object", properties: { map: { additionalProperties: { type: "string" } } } };
    expect(print({ tools: [tool({ strict: true, schema })] }).tools[0]).toEqual({
      name: "f",
      description: "does",
      input_schema: schema,
    });
  });

  test("turn a union schema into an object with the members of all alternatives, described in words", () => {
    const cat = { properties: { kind: { const: "cat" }, lives: { type: "integer" } }, required: ["lives"] };
    const dog = { properties: { kind: { const: "dog" }, lives: { type: "integer" } } };
    const base = { properties: { name: { type: "string" } }, required: ["name"] };
    const schema = {
      anyOf: [cat, dog, { $ref: "#/$defs/x" }],
      allOf: [base],
      additionalProperties: false,
      $defs: {},
    };
    const [printed] = print({ tools: [tool({ strict: true, schema })] }).tools;
    expect(printed).toEqual({
      name: "f",
      description: expect.stringMatching(
        /^does\n\nIts input also follows this JSON schema: \{"anyOf":.*"allOf":/,
      ),
      input_schema: {
        type: "object",
        properties: {
          name: { type: "string" },
          kind: { anyOf: [{ const: "cat" }, { const: "dog" }] },
          lives: { type: "integer" },
        },
        required: ["name"],
        $defs: {},
      },
    });
  });

  test.each<[string, Partial<ChatRequest>, object | undefined]>([
    ["no choice", {}, undefined],
    ["auto", { toolChoice: { kind: "auto" } }, { type: "auto" }],
    ["required", { toolChoice: { kind: "required" } }, { type: "any" }],
    ["a tool", { toolChoice: { kind: "tool", name: "f" } }, { type: "tool", name: "f" }],
    ["none", { toolChoice: { kind: "none" } }, { type: "none" }],
    [
      "case 55: one call at a time",
      { parallelToolCalls: false },
      { type: "auto", disable_parallel_tool_use: true },
    ],
    [
      "case 55: one call at a time and a forced tool",
      { parallelToolCalls: false, toolChoice: { kind: "required" } },
      { type: "any", disable_parallel_tool_use: true },
    ],
    [
      "case 55: one call at a time and no permitted tool",
      { parallelToolCalls: false, toolChoice: { kind: "none" } },
      { type: "none" },
    ],
    ["many calls at a time", { parallelToolCalls: true }, undefined],
  ])("have the tool choice for %s", (_, members, expected) => {
    expect(print({ tools: [tool()], ...members }).tool_choice).toEqual(expected);
  });

  test("have no tool choice without tools", () => {
    const body = print({ toolChoice: { kind: "none" }, parallelToolCalls: false });
    expect(body).not.toHaveProperty("tools");
    expect(body).not.toHaveProperty("tool_choice");
  });

  test("declare called tools that are no longer offered, and forbid their use", () => {
    const parts = [call("a"), call("b", "{}", "g"), call("c")];
    const body = print({ turns: [turn("user", "hi"), { role: "assistant", parts }] });
    expect(body.tools).toEqual([
      { name: "f", input_schema: { type: "object" } },
      { name: "g", input_schema: { type: "object" } },
    ]);
    expect(body.tool_choice).toEqual({ type: "none" });
  });
});

describe("printed settings", () => {
  test("case 57: clamp the temperature to 1, and omit sampling for a model without it", () => {
    expect(print({ temperature: 1.7 }).temperature).toBe(1);
    expect(print({ temperature: 0 }).temperature).toBe(0);
    const traits = { reasoning: "none", sampling: false } as const;
    expect(print({ temperature: 1.7, topP: 0.5, topK: 3 }, { traits })).toEqual(print({}));
  });

  test("omit top_p beside a temperature, which newer models reject", () => {
    expect(print({ temperature: 0.5, topP: 1, topK: 3 })).toMatchObject({ temperature: 0.5, top_k: 3 });
    expect(print({ temperature: 0.5, topP: 1 })).not.toHaveProperty("top_p");
    expect(print({ topP: 0.5 }).top_p).toBe(0.5);
  });

  test("omit sampling for a model that thinks", () => {
    const body = print({ temperature: 0, topK: 3, reasoning: { ...NO_REASONING, effort: "low" } });
    expect(body).not.toHaveProperty("temperature");
    expect(body).not.toHaveProperty("top_k");
  });

  test("case 67: omit blank stop sequences", () => {
    expect(print({ stopSequences: ["\n", "END", ""] }).stop_sequences).toEqual(["END"]);
    expect(print({ stopSequences: ["\n"] })).not.toHaveProperty("stop_sequences");
  });

  test("case 74: contain an opaque user id unchanged, and any other one hashed", () => {
    expect(print({ endUser: "u-1" }).metadata).toEqual({ user_id: "u-1" });
    for (const endUser of ["a@example.com", "+49-170-1234567", "Jane Doe", "x".repeat(65)]) {
      expect(print({ endUser }).metadata.user_id).toMatch(/^[0-9a-f]{32}$/);
    }
  });
});

describe("printed reasoning", () => {
  const effort = (each: Effort): Reasoning => ({ ...NO_REASONING, effort: each });
  const budget = { traits: { reasoning: "budget", sampling: true } } as const;
  const budgetFor = (reasoning: Reasoning, max: number) => print({ reasoning }, { ...budget, max }).thinking;
  const enabled = (tokens: number) => ({ type: "enabled", budget_tokens: tokens });

  test.each<[Effort, number]>([
    ["minimal", 1024],
    ["low", 2000],
    ["medium", 5000],
    ["high", 8000],
    ["xhigh", 9500],
    ["max", 9500],
  ])("turns an effort of %s into a share of the output limit, at least 1,024 tokens", (each, tokens) => {
    expect(budgetFor(effort(each), 10_000)).toEqual(enabled(tokens));
  });

  test("case 58: is omitted when the output limit leaves no tokens for an answer", () => {
    expect(budgetFor(effort("low"), 500)).toBeUndefined();
    expect(budgetFor(effort("max"), 1279)).toBeUndefined();
    expect(budgetFor(effort("max"), 1280)).toEqual(enabled(1024));
    expect(budgetFor(effort("max"), 2000)).toEqual(enabled(1744));
    expect(budgetFor(effort("max"), 1_000_000)).toEqual(enabled(128_000));
  });

  test("clamps the client's own budget to the output limit", () => {
    const own = (budgetTokens: number): Reasoning => ({ ...NO_REASONING, thinking: "enabled", budgetTokens });
    expect(budgetFor(own(3000), 10_000)).toEqual(enabled(3000));
    expect(budgetFor(own(100), 10_000)).toEqual(enabled(1024));
    expect(budgetFor(own(20_000), 10_000)).toEqual(enabled(9744));
  });

  test.each<[Effort, string]>([
    ["minimal", "low"],
    ["low", "low"],
    ["high", "high"],
    ["xhigh", "xhigh"],
    ["max", "max"],
  ])("prints an effort of %s as %s for an adaptive model", (each, word) => {
    expect(print({ reasoning: effort(each) })).toMatchObject({
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: word },
    });
  });

  test("asks an adaptive model to omit thinking that is not shown", () => {
    const reasoning: Reasoning = { ...NO_REASONING, thinking: "adaptive", isShown: false };
    expect(print({ reasoning }).thinking).toEqual({ type: "adaptive", display: "omitted" });
    expect(print({ reasoning })).not.toHaveProperty("output_config");
  });

  test("is disabled for a model that thinks by default, and otherwise omitted", () => {
    for (const reasoning of [effort("none"), { ...NO_REASONING, thinking: "disabled" } as const]) {
      expect(print({ reasoning }).thinking).toEqual({ type: "disabled" });
      expect(print({ reasoning })).not.toHaveProperty("output_config");
      expect(print({ reasoning }, budget)).not.toHaveProperty("thinking");
    }
  });

  test("is omitted for a model without reasoning", () => {
    const body = print({ reasoning: effort("high") }, { traits: { reasoning: "none", sampling: true } });
    expect(body).toEqual(print({}));
  });

  test("case 56: omits thinking but keeps the effort when a tool is forced", () => {
    const forced: Partial<ChatRequest> = {
      tools: [tool()],
      toolChoice: { kind: "required" },
      reasoning: effort("high"),
      temperature: 0.5,
    };
    expect(print(forced)).not.toHaveProperty("thinking");
    expect(print(forced)).toMatchObject({ output_config: { effort: "high" }, temperature: 0.5 });
    expect(print(forced, budget)).not.toHaveProperty("thinking");
  });

  test("case 58: omits a budget when an answer shall be continued", () => {
    const turns = [turn("user", "hi"), turn("assistant", "So")];
    expect(print({ turns, reasoning: effort("high") }, budget)).not.toHaveProperty("thinking");
    const thought_ = { role: "assistant", parts: [thought("c2ln"), text("So")] } as const;
    expect(
      print({ turns: [turn("user", "hi"), thought_], reasoning: effort("high") }, budget),
    ).not.toHaveProperty("thinking");
    expect(print({ turns, reasoning: effort("high") }).thinking.type).toBe("adaptive");
  });

  test("omits a budget when the answered call did not begin with thinking", () => {
    const loop = (...parts: Part[]): Turn[] => [
      turn("user", "hi"),
      { role: "assistant", parts },
      { role: "user", parts: [result("a", "1")] },
    ];
    const thinkingFor = (turns: Turn[], how = {}) =>
      print({ turns, tools: [tool()], reasoning: effort("high") }, how).thinking;
    expect(thinkingFor(loop(call("a")), budget)).toBeUndefined();
    expect(thinkingFor(loop(thought(undefined), call("a")), budget)).toBeUndefined();
    expect(thinkingFor(loop(thought("c2ln"), call("a")), budget)).toEqual(enabled(8000));
    expect(thinkingFor(loop(call("a"))).type).toBe("adaptive");
    expect(thinkingFor([...loop(call("a")), turn("assistant", "so"), turn("user", "go")], budget)).toEqual(
      enabled(8000),
    );
  });
});

describe("a printed answer format", () => {
  test("case 64: contains a schema that the provider can enforce", () => {
    const schema = {
      type: "object",
      properties: {
        name: { type: "string", minLength: 2, description: "whose" },
        when: { type: "string", format: "date" },
        list: {
          type: "array",
          items: { oneOf: [{ const: 1 }, { $ref: "#/$defs/x", default: 1 }] },
          minItems: 3,
        },
        kind: { type: "string", enum: ["a", null] },
        maybe: { type: ["object", "null"], properties: {}, additionalProperties: false },
      },
      required: ["name"],
      $defs: { x: { properties: {} } },
      $schema: "https://json-schema.org/draft/2020-12/schema",
    };
    const format = { kind: "schema", name: "n", description: "all of it", schema, strict: true } as const;
    expect(print({ format }).output_config).toEqual({
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          description: "all of it",
          properties: {
            name: { type: "string", description: "whose\n\n{minLength: 2}" },
            when: { type: "string", format: "date" },
            list: {
              type: "array",
              items: { anyOf: [{ const: 1 }, { $ref: "#/$defs/x" }] },
              description: "{minItems: 3}",
            },
            kind: { enum: ["a", null] },
            maybe: { type: ["object", "null"], properties: {}, additionalProperties: false },
          },
          required: ["name"],
          $defs: { x: { type: "object", properties: {}, additionalProperties: false } },
          additionalProperties: false,
        },
      },
    });
  });

  test.each<[string, object]>([
    ["members of any name", { type: "object", properties: { a: {} }, additionalProperties: true }],
    [
      "members of one type",
      { type: "object", properties: { a: { additionalProperties: { type: "number" } } } },
    ],
    ["members by a pattern", { type: "array", items: { patternProperties: { "^a": {} } } }],
    ["any object", { type: "object", properties: { a: { type: ["object", "null"] } } }],
    [
      "any object behind a reference",
      { $ref: "#/$defs/x", $defs: { x: { type: "object", properties: {} } } },
    ],
    ["several schemas at once", { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }],
  ])("becomes an instruction for a schema with %s, which closing would change", (_, schema) => {
    const format = { kind: "schema", name: "n", description: undefined, schema, strict: true } as const;
    const { system, output_config } = print({
      format: format as never,
      reasoning: { ...NO_REASONING, effort: "low" },
    });
    expect(output_config).toEqual({ effort: "low" });
    expect(system).toHaveLength(1);
    expect(system[0].text).toStartWith("Answer with a single JSON object and nothing else");
    expect(system[0].text).toEndWith(JSON.stringify(schema));
  });

  test("asks for JSON without a schema in the system prompt", () => {
    const { system } = print({ turns: [turn("system", "a"), turn("user", "hi")], format: { kind: "json" } });
    expect(system).toEqual([block("a"), block(expect.stringContaining("JSON object"))]);
  });
});
