import { describe, expect, test } from "bun:test";
import type { ChatRequest, Effort, Part, Reasoning, Tool, Turn } from "../../../src/domain/chat-request.ts";
import type { ModelTraits } from "../../../src/domain/model.ts";
import { findUntranslatable } from "../../../src/wire/anthropic-messages/egress/print-messages.ts";
import { printRequest } from "../../../src/wire/anthropic-messages/egress/print-request.ts";

const UNASKED: Reasoning = {
  effort: undefined,
  thinking: undefined,
  budgetTokens: undefined,
  isShown: true,
};
const EVERYTHING: ModelTraits = { reasoning: "adaptive", sampling: true };

function requestOf(members: Partial<ChatRequest>): ChatRequest {
  return {
    turns: [said("user", "hi")],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    reasoning: UNASKED,
    format: undefined,
    stopSequences: [],
    temperature: undefined,
    topP: undefined,
    topK: undefined,
    endUser: undefined,
    ...members,
  };
}

function print(members: Partial<ChatRequest>, options: { traits?: ModelTraits; max?: number } = {}) {
  const { traits = EVERYTHING, max = 10_000 } = options;
  const printed = printRequest(requestOf(members), {
    model: "up",
    outputTokensMax: max,
    outputLimitField: "max_completion_tokens",
    stream: true,
    traits,
  });
  return JSON.parse(printed);
}

const text = (words: string): Part => ({ kind: "text", text: words, cache: undefined });
const said = (role: Turn["role"], ...words: string[]): Turn => ({ role, parts: words.map(text) });
const call = (id: string, input = "{}", name = "f"): Part => ({
  kind: "tool_call",
  id,
  name,
  input,
  cache: undefined,
});
const result = (callId: string, ...words: string[]): Part => ({
  kind: "tool_result",
  callId,
  parts: words.map((each) => ({ kind: "text", text: each, cache: undefined })),
  isError: false,
  cache: undefined,
});
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

describe("messages", () => {
  test("say the model, the ceiling and the stream flag, and nothing that was not asked for", () => {
    expect(print({})).toEqual({
      model: "up",
      max_tokens: 10_000,
      stream: true,
      messages: [{ role: "user", content: [block("hi")] }],
    });
  });

  test("the leading system turns are the system prompt, later ones are said by the user in their place", () => {
    const { system, messages } = print({
      turns: [
        said("system", "a"),
        said("system", "b", " "),
        said("user", "hi"),
        said("system", "now"),
        said("assistant", "yes"),
        said("system", "then"),
      ],
    });
    expect(system).toEqual([block("a"), block("b")]);
    expect(messages).toEqual([
      { role: "user", content: [block("hi"), block("now")] },
      { role: "assistant", content: [block("yes")] },
      { role: "user", content: [block("then")] },
    ]);
  });

  test("a user begins, also a conversation of a system prompt alone", () => {
    for (const turns of [[said("system", "a")], [said("assistant", "hello"), said("user", "hi")]]) {
      expect(print({ turns }).messages[0]).toEqual({ role: "user", content: [block("Please begin.")] });
    }
  });

  test("case 51: what several tools gave back after one turn is one user message, results first", () => {
    const { messages } = print({
      turns: [
        said("user", "hi"),
        { role: "assistant", parts: [call("a"), call("b")] },
        { role: "user", parts: [result("a", "1")] },
        said("system", "note"),
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

  test("case 53: a call's input is the object itself, digit for digit", () => {
    const printed = printRequest(
      requestOf({
        turns: [said("user", "hi"), { role: "assistant", parts: [call("a", '{"n":12345678901234567890}')] }],
      }),
      { model: "up", outputTokensMax: 100, outputLimitField: undefined, stream: false, traits: EVERYTHING },
    );
    expect(printed).toContain('"input":{"n":12345678901234567890}');
    expect(
      print({ turns: [said("user", "hi"), { role: "assistant", parts: [call("a")] }] }).messages[1]
        .content[0],
    ).toEqual({
      type: "tool_use",
      id: "a",
      name: "f",
      input: {},
    });
  });

  test("case 54: empty and blank texts are no blocks", () => {
    const turns = [
      said("user", "hi", "", " \n"),
      { role: "assistant", parts: [text(""), call("a")] } as const,
    ];
    const { messages } = print({ turns });
    expect(messages[0].content).toEqual([block("hi")]);
    expect(messages[1].content).toHaveLength(1);
  });

  test("an answer is not continued when the user spoke last, whatever the user said", () => {
    for (const last of [said("user", " "), said("user"), said("system", "")]) {
      const { messages } = print({ turns: [said("user", "hi"), said("assistant", "So "), last] });
      expect(messages.slice(1)).toEqual([
        { role: "assistant", content: [block("So ")] },
        { role: "user", content: [block("Please go on.")] },
      ]);
    }
  });

  test("an answer to be continued does not end in white space", () => {
    expect(print({ turns: [said("user", "hi"), said("assistant", "So \n")] }).messages[1].content).toEqual([
      block("So"),
    ]);
  });

  test("results may fail, be empty or hold images, and marks stay", () => {
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

  test("case 61: sealed reasoning comes back as it was, all other is dropped", () => {
    const parts = [thought("c2ln"), thought(undefined, "eA=="), thought(undefined), thought(""), text("so")];
    const turns: Turn[] = [said("user", "hi"), { role: "assistant", parts }, said("user", "go")];
    expect(print({ turns }).messages[1].content).toEqual([
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "redacted_thinking", data: "eA==" },
      block("so"),
    ]);
    const traits = { reasoning: "none", sampling: true } as const;
    expect(print({ turns }, { traits }).messages[1].content).toEqual([block("so")]);
  });
});

describe("media", () => {
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
  const find = (...parts: Part[]) => findUntranslatable(requestOf({ turns: [{ role: "user", parts }] }));

  test("case 65: images are passed by data or by address, never fetched", () => {
    const parts = [image(inline("image/png")), image(remote)];
    expect(find(...parts)).toBeUndefined();
    const cache_control = { type: "ephemeral" };
    expect(print({ turns: [{ role: "user", parts }] }).messages[0].content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" }, cache_control },
      { type: "image", source: { type: "url", url: "https://example.com/a" }, cache_control },
    ]);
  });

  test("documents are passed as what they are", () => {
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
    ["an image of another kind", image(inline("image/svg+xml"))],
    ["a document of another kind", document(inline("application/zip"))],
    ["an image in a result", { ...result("a"), parts: [image(inline("image/tiff"))] } as Part],
  ])("case 65: %s is untranslatable, and its place is named", (_, part) => {
    expect(find(text("hi"), part)).toBe("there");
  });

  test("only users show pictures", () => {
    for (const role of ["system", "assistant"] as const) {
      expect(findUntranslatable(requestOf({ turns: [{ role, parts: [image(remote)] }] }))).toBe("there");
    }
  });
});

describe("tools", () => {
  test("are printed with schemas of objects and their cache marks", () => {
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

  test("a strict tool has a schema that can be held to", () => {
    const schema = { type: "object", properties: { n: { type: "integer", minimum: 1 } } };
    expect(print({ tools: [tool({ strict: true, schema })] }).tools[0]).toMatchObject({
      strict: true,
      input_schema: { additionalProperties: false, properties: { n: { description: "{minimum: 1}" } } },
    });
    expect(print({ tools: [tool({ strict: false })] }).tools[0]).not.toHaveProperty("strict");
  });

  test("a strict tool with objects of any members is not held to closing them", () => {
    const schema = { type: "object", properties: { map: { additionalProperties: { type: "string" } } } };
    expect(print({ tools: [tool({ strict: true, schema })] }).tools[0]).toEqual({
      name: "f",
      description: "does",
      input_schema: schema,
    });
  });

  test("a schema of choices becomes an object with what any of them names, and the choices are told", () => {
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
      "case 55: one call at a time of a forced tool",
      { parallelToolCalls: false, toolChoice: { kind: "required" } },
      { type: "any", disable_parallel_tool_use: true },
    ],
    [
      "case 55: one call at a time where none may be",
      { parallelToolCalls: false, toolChoice: { kind: "none" } },
      { type: "none" },
    ],
    ["many calls at a time", { parallelToolCalls: true }, undefined],
  ])("%s", (_, members, expected) => {
    expect(print({ tools: [tool()], ...members }).tool_choice).toEqual(expected);
  });

  test("without tools nothing is said of a choice", () => {
    const body = print({ toolChoice: { kind: "none" }, parallelToolCalls: false });
    expect(body).not.toHaveProperty("tools");
    expect(body).not.toHaveProperty("tool_choice");
  });

  test("that were called are named when they are offered no longer, and may not be called", () => {
    const parts = [call("a"), call("b", "{}", "g"), call("c")];
    const body = print({ turns: [said("user", "hi"), { role: "assistant", parts }] });
    expect(body.tools).toEqual([
      { name: "f", input_schema: { type: "object" } },
      { name: "g", input_schema: { type: "object" } },
    ]);
    expect(body.tool_choice).toEqual({ type: "none" });
  });
});

describe("sampling", () => {
  test("case 57: the temperature ends at 1, and a model without one is told none", () => {
    expect(print({ temperature: 1.7 }).temperature).toBe(1);
    expect(print({ temperature: 0 }).temperature).toBe(0);
    const traits = { reasoning: "none", sampling: false } as const;
    expect(print({ temperature: 1.7, topP: 0.5, topK: 3 }, { traits })).toEqual(print({}));
  });

  test("a temperature stands alone: newer models refuse a top_p beside it", () => {
    expect(print({ temperature: 0.5, topP: 1, topK: 3 })).toMatchObject({ temperature: 0.5, top_k: 3 });
    expect(print({ temperature: 0.5, topP: 1 })).not.toHaveProperty("top_p");
    expect(print({ topP: 0.5 }).top_p).toBe(0.5);
  });

  test("a thinking model is told nothing of it", () => {
    const body = print({ temperature: 0, topK: 3, reasoning: { ...UNASKED, effort: "low" } });
    expect(body).not.toHaveProperty("temperature");
    expect(body).not.toHaveProperty("top_k");
  });

  test("case 67: blank stop sequences are dropped", () => {
    expect(print({ stopSequences: ["\n", "END", ""] }).stop_sequences).toEqual(["END"]);
    expect(print({ stopSequences: ["\n"] })).not.toHaveProperty("stop_sequences");
  });

  test("case 74: a user's name goes on when it is short and tells nothing, else hashed", () => {
    expect(print({ endUser: "u-1" }).metadata).toEqual({ user_id: "u-1" });
    for (const endUser of ["a@example.com", "+49-170-1234567", "Jane Doe", "x".repeat(65)]) {
      expect(print({ endUser }).metadata.user_id).toMatch(/^[0-9a-f]{32}$/);
    }
  });
});

describe("reasoning", () => {
  const effort = (each: Effort): Reasoning => ({ ...UNASKED, effort: each });
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
  ])("an effort of %s is a share of the ceiling, of at least 1,024 tokens", (each, tokens) => {
    expect(budgetFor(effort(each), 10_000)).toEqual(enabled(tokens));
  });

  test("case 58: a ceiling with no room for an answer behind it leaves thinking out", () => {
    expect(budgetFor(effort("low"), 500)).toBeUndefined();
    expect(budgetFor(effort("max"), 1279)).toBeUndefined();
    expect(budgetFor(effort("max"), 1280)).toEqual(enabled(1024));
    expect(budgetFor(effort("max"), 2000)).toEqual(enabled(1744));
    expect(budgetFor(effort("max"), 1_000_000)).toEqual(enabled(128_000));
  });

  test("a client's own budget is kept within that", () => {
    const own = (budgetTokens: number): Reasoning => ({ ...UNASKED, thinking: "enabled", budgetTokens });
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
  ])("an adaptive model is told an effort of %s as %s", (each, word) => {
    expect(print({ reasoning: effort(each) })).toMatchObject({
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: word },
    });
  });

  test("what is not shown is omitted", () => {
    const reasoning: Reasoning = { ...UNASKED, thinking: "adaptive", isShown: false };
    expect(print({ reasoning }).thinking).toEqual({ type: "adaptive", display: "omitted" });
    expect(print({ reasoning })).not.toHaveProperty("output_config");
  });

  test("is turned off where it could be on, and left out where it is off by default", () => {
    for (const reasoning of [effort("none"), { ...UNASKED, thinking: "disabled" } as const]) {
      expect(print({ reasoning }).thinking).toEqual({ type: "disabled" });
      expect(print({ reasoning })).not.toHaveProperty("output_config");
      expect(print({ reasoning }, budget)).not.toHaveProperty("thinking");
    }
  });

  test("a model without it is told nothing", () => {
    const body = print({ reasoning: effort("high") }, { traits: { reasoning: "none", sampling: true } });
    expect(body).toEqual(print({}));
  });

  test("case 56: thinking is left out where a tool is forced, and the effort stays", () => {
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

  test("case 58: with a budget, an answer that is to be continued goes on without thinking", () => {
    const turns = [said("user", "hi"), said("assistant", "So")];
    expect(print({ turns, reasoning: effort("high") }, budget)).not.toHaveProperty("thinking");
    const thought_ = { role: "assistant", parts: [thought("c2ln"), text("So")] } as const;
    expect(
      print({ turns: [said("user", "hi"), thought_], reasoning: effort("high") }, budget),
    ).not.toHaveProperty("thinking");
    expect(print({ turns, reasoning: effort("high") }).thinking.type).toBe("adaptive");
  });

  test("with a budget, an answer that did not begin with thinking goes on without", () => {
    const loop = (...parts: Part[]): Turn[] => [
      said("user", "hi"),
      { role: "assistant", parts },
      { role: "user", parts: [result("a", "1")] },
    ];
    const thinkingFor = (turns: Turn[], how = {}) =>
      print({ turns, tools: [tool()], reasoning: effort("high") }, how).thinking;
    expect(thinkingFor(loop(call("a")), budget)).toBeUndefined();
    expect(thinkingFor(loop(thought(undefined), call("a")), budget)).toBeUndefined();
    expect(thinkingFor(loop(thought("c2ln"), call("a")), budget)).toEqual(enabled(8000));
    expect(thinkingFor(loop(call("a"))).type).toBe("adaptive");
    expect(thinkingFor([...loop(call("a")), said("assistant", "so"), said("user", "go")], budget)).toEqual(
      enabled(8000),
    );
  });
});

describe("the answer's format", () => {
  test("case 64: a schema is told as one that can be held to", () => {
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
      "members of one kind",
      { type: "object", properties: { a: { additionalProperties: { type: "number" } } } },
    ],
    ["members by a pattern", { type: "array", items: { patternProperties: { "^a": {} } } }],
    ["any object", { type: "object", properties: { a: { type: ["object", "null"] } } }],
    [
      "any object behind a reference",
      { $ref: "#/$defs/x", $defs: { x: { type: "object", properties: {} } } },
    ],
    ["several schemas at once", { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }],
  ])("a schema with %s is told instead, as closing it would change it", (_, schema) => {
    const format = { kind: "schema", name: "n", description: undefined, schema, strict: true } as const;
    const { system, output_config } = print({
      format: format as never,
      reasoning: { ...UNASKED, effort: "low" },
    });
    expect(output_config).toEqual({ effort: "low" });
    expect(system).toHaveLength(1);
    expect(system[0].text).toStartWith("Answer with a single JSON object and nothing else");
    expect(system[0].text).toEndWith(JSON.stringify(schema));
  });

  test("JSON of any form is asked for in the system prompt", () => {
    const { system } = print({ turns: [said("system", "a"), said("user", "hi")], format: { kind: "json" } });
    expect(system).toEqual([block("a"), block(expect.stringContaining("JSON object"))]);
  });
});
