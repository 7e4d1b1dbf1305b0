import { describe, expect, test } from "bun:test";
import type { ChatRequest, Part, Reasoning, TextPart, Turn } from "../../../src/domain/chat-request.ts";
import type { PrintOptions } from "../../../src/wire/codecs.ts";
import { findUntranslatable, printRequest } from "../../../src/wire/openai-chat/egress/print-request.ts";

const NO_REASONING: Reasoning = {
  effort: undefined,
  thinking: undefined,
  budgetTokens: undefined,
  isShown: true,
};
const TOOL = {
  name: "weather",
  description: "Looks out",
  schema: { type: "object", properties: {} },
  strict: undefined,
  isFreeForm: false,
  cache: { ttl: "1h" as const },
};
const CLOSED = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};

function text(said: string): TextPart {
  return { kind: "text", text: said, cache: { ttl: "5m" } };
}

function say(role: Turn["role"], ...parts: Part[]): Turn {
  return { role, parts };
}

function call(id: string): Part {
  return { kind: "tool_call", id, name: "weather", input: '{"a":1}', cache: undefined };
}

function result(
  callId: string,
  ...parts: Exclude<Part, { kind: "tool_call" | "tool_result" | "reasoning" }>[]
) {
  return { kind: "tool_result", callId, parts, isError: false, cache: undefined } as const;
}

const IMAGE = {
  kind: "image",
  source: { kind: "inline", mediaType: "image/png", data: "aGk=" },
  detail: undefined,
  cache: undefined,
  path: "messages[0].content[0]",
} as const;

function document(source: Extract<Part, { kind: "document" }>["source"], name?: string) {
  return { kind: "document", source, name, cache: undefined, path: "messages[0].content[2]" } as const;
}

function chatOf(members: Partial<ChatRequest> = {}): ChatRequest {
  return {
    turns: [say("user", text("hi"))],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    reasoning: NO_REASONING,
    format: undefined,
    stopSequences: [],
    temperature: undefined,
    topP: undefined,
    topK: undefined,
    endUser: undefined,
    ...members,
  };
}

function print(members: Partial<ChatRequest> = {}, options: Partial<PrintOptions> = {}) {
  const defaults: PrintOptions = {
    model: "host-model",
    outputTokensMax: 100,
    outputLimitField: undefined,
    stream: false,
    traits: { reasoning: "none", sampling: true },
  };
  return JSON.parse(printRequest(chatOf(members), { ...defaults, ...options }));
}

function messagesOf(...turns: Turn[]) {
  return print({ turns }).messages;
}

const EFFORT = { traits: { reasoning: "effort", sampling: false } } as const;

describe("the body", () => {
  test("has what was asked for and nothing else", () => {
    expect(print()).toEqual({
      model: "host-model",
      messages: [{ role: "user", content: "hi" }],
      max_tokens: 100,
      stream: false,
    });
  });

  test("case 33: always asks for usage in a stream", () => {
    expect(print({}, { stream: true })).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("names the limit as the host wants it, else as the model's family knows it", () => {
    expect(print({}, EFFORT)).toMatchObject({ max_completion_tokens: 100 });
    expect(print({}, { ...EFFORT, outputLimitField: "max_tokens" })).toMatchObject({ max_tokens: 100 });
    expect(print({}, EFFORT)).not.toHaveProperty("max_tokens");
  });

  test("case 57: has sampling only for models that take it", () => {
    const sampling = { temperature: 1.7, topP: 0.5, topK: 40 };
    expect(print(sampling)).toMatchObject({ temperature: 1.7, top_p: 0.5 });
    expect(print(sampling)).not.toHaveProperty("top_k");
    expect(Object.keys(print(sampling, EFFORT))).not.toContain("temperature");
    expect(Object.keys(print(sampling, EFFORT))).not.toContain("top_p");
  });

  test("a tool whose schema is a choice takes what any of them names, and is told the choice", () => {
    const [tool] = chatOf({ tools: [TOOL] }).tools;
    const cat = { type: "object", properties: { lives: { type: "integer" } }, required: ["lives"] };
    const schema = {
      $ref: "#/$defs/Pet",
      $defs: { Pet: { oneOf: [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Pet" }] }, Cat: cat },
    };
    const printed = print({ tools: tool ? [{ ...tool, strict: true, schema }] : [] });
    expect(printed.tools).toEqual([
      {
        type: "function",
        function: {
          name: TOOL.name,
          description: `${TOOL.description}\n\nIts input also follows this JSON schema: {"oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Pet"}]}`,
          parameters: {
            type: "object",
            properties: cat.properties,
            required: [],
            $defs: schema.$defs,
          },
          strict: false,
        },
      },
    ]);
  });

  test("a request's own cache mark is for hosts of Claude only", () => {
    const cache = { ttl: "1h" } as const;
    const claude = print({ cache }, { traits: { reasoning: "adaptive", sampling: false } });
    expect(claude.cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
    expect(print({ cache })).not.toHaveProperty("cache_control");
  });

  test("a tool of any object says that it has no members, as hosts want", () => {
    const [tool] = chatOf({ tools: [{ ...TOOL, schema: { type: "object" } }] }).tools;
    const printed = print({ tools: tool ? [tool] : [] });
    expect(printed.tools).toMatchObject([{ function: { parameters: { type: "object", properties: {} } } }]);
  });

  test("has four stop sequences at most, and cannot say a fifth", () => {
    expect(print({ stopSequences: ["a", "b", "c", "d"] }).stop).toEqual(["a", "b", "c", "d"]);
    expect(findUntranslatable(chatOf({ stopSequences: ["a", "b", "c", "d", "e"] }))).toBe("stop_sequences");
  });

  test("case 74: names an opaque user, and hashes what is long or no name", () => {
    expect(print({ endUser: "user-1" }).user).toBe("user-1");
    const long = print({ endUser: JSON.stringify({ device_id: "d".repeat(64), session: 1 }) }).user;
    expect(long).toMatch(/^[0-9a-f]{32}$/);
    expect(print({ endUser: "a@b.example" }).user).toMatch(/^[0-9a-f]{32}$/);
    expect(print({ endUser: "+49-170-1234567" }).user).toMatch(/^[0-9a-f]{32}$/);
    expect(print({ endUser: "a@b.example" }).user).not.toBe(long);
  });
});

describe("turns", () => {
  test("case 62: system turns at the beginning are one message, later ones stay in place", () => {
    const messages = messagesOf(
      say("system", text("a"), text("b")),
      say("system", text("c")),
      say("user", text("hi")),
      say("system", text("d")),
      say("system", text("e")),
      say("user", text("ho")),
    );
    expect(messages).toEqual([
      { role: "system", content: "a\n\nb\n\nc" },
      { role: "user", content: "hi" },
      { role: "system", content: "d" },
      { role: "system", content: "e" },
      { role: "user", content: "ho" },
    ]);
  });

  test("case 52: results stand before what the user says with them", () => {
    const turn = say("user", text("and?"), result("a", text("1"), text("2")), result("b", text("3")));
    const [, , ...messages] = messagesOf(
      say("user", text("hi")),
      say("assistant", call("a"), call("b")),
      turn,
    );
    expect(messages).toEqual([
      { role: "tool", tool_call_id: "a", content: "1\n\n2" },
      { role: "tool", tool_call_id: "b", content: "3" },
      { role: "user", content: "and?" },
    ]);
  });

  test("what the system says between calls and their results stands behind those", () => {
    const [, , ...messages] = messagesOf(
      say("user", text("hi")),
      say("assistant", call("a"), call("b")),
      say("system", text("note")),
      say("user", result("a", text("1"))),
      say("system", text("and")),
      say("user", result("b", text("2")), text("ho")),
    );
    expect(messages).toEqual([
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "system", content: "note" },
      { role: "system", content: "and" },
      { role: "user", content: "ho" },
    ]);
  });

  test("results of several turns in a row stand together before the users' words", () => {
    const turns = [say("user", text("x"), result("a", IMAGE)), say("user", result("b", text("2")))];
    expect(messagesOf(say("assistant", call("a"), call("b")), ...turns).slice(1)).toEqual([
      { role: "tool", tool_call_id: "a", content: "The result is in the next message." },
      { role: "tool", tool_call_id: "b", content: "2" },
      {
        role: "user",
        content: [
          { type: "text", text: "x" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
        ],
      },
    ]);
  });

  test("a result that is an error says so", () => {
    const failed = { ...result("a", text("no")), isError: true };
    expect(messagesOf(say("user", failed, result("b")))).toEqual([
      { role: "tool", tool_call_id: "a", content: "Error: no" },
      { role: "tool", tool_call_id: "b", content: "" },
    ]);
    expect(messagesOf(say("user", result("a", text(""))))[0].content).toBe("");
  });

  test("an assistant's texts are one, and none beside calls alone", () => {
    expect(
      messagesOf(say("assistant", text("a"), text("b"), call("x")), say("assistant", call("y"))),
    ).toEqual([
      {
        role: "assistant",
        content: "ab",
        tool_calls: ["x", "y"].map((id) => ({
          id,
          type: "function",
          function: { name: "weather", arguments: '{"a":1}' },
        })),
      },
    ]);
    expect(messagesOf(say("assistant", call("x")))[0].content).toBeNull();
  });

  test("reasoning stays out of it", () => {
    const reasoning = { kind: "reasoning", text: "hm", signature: "s", redacted: undefined } as const;
    expect(messagesOf(say("assistant", reasoning, text("a")))).toEqual([{ role: "assistant", content: "a" }]);
    expect(messagesOf(say("assistant", reasoning))).toEqual([{ role: "assistant", content: "" }]);
  });

  test("a user's texts are one text, and parts only beside something else", () => {
    expect(messagesOf(say("user", text("a"), text("b")))[0].content).toBe("a\n\nb");
    expect(messagesOf(say("user"))[0].content).toBe("");
    const remote = { ...IMAGE, source: { kind: "url", url: "https://a.example/b" }, detail: "low" } as const;
    expect(messagesOf(say("user", text("a"), remote))[0].content).toEqual([
      { type: "text", text: "a" },
      { type: "image_url", image_url: { url: "https://a.example/b", detail: "low" } },
    ]);
  });

  test("a PDF is a file, and a text document a text under its name", () => {
    const pdf = document({ kind: "inline", mediaType: "application/pdf", data: "aGk=" });
    const note = document({ kind: "text", text: "one" }, "note.txt");
    expect(messagesOf(say("user", pdf, note))[0].content).toEqual([
      {
        type: "file",
        file: { filename: "document.pdf", file_data: "data:application/pdf;base64,aGk=" },
      },
      { type: "text", text: "note.txt:\none" },
    ]);
    expect(messagesOf(say("user", note))[0].content).toBe("note.txt:\none");
  });

  test("a file that is neither PDF nor text is named", () => {
    const find = (mediaType: string) =>
      findUntranslatable(
        chatOf({ turns: [say("user", document({ kind: "inline", mediaType, data: "aGk=" }))] }),
      );
    expect(find("application/pdf")).toBeUndefined();
    expect(find("application/zip")).toBe("messages[0].content[2]");
    expect(find("image/png")).toBe("messages[0].content[2]");
  });

  test("a document that only its address is known of is named, wherever it stands", () => {
    const remote = document({ kind: "url", url: "https://a.example/b.pdf" });
    expect(findUntranslatable(chatOf())).toBeUndefined();
    expect(findUntranslatable(chatOf({ turns: [say("user", text("a"), remote)] }))).toBe(remote.path);
    const given = say("user", result("a", text("x"), remote));
    expect(findUntranslatable(chatOf({ turns: [say("user"), given] }))).toBe(remote.path);
  });
});

describe("cache marks", () => {
  const plain = (said: string): TextPart => ({ kind: "text", text: said, cache: undefined });
  const marked = (said: string, ttl?: "1h") => ({
    type: "text",
    text: said,
    cache_control: { type: "ephemeral", ...(ttl && { ttl }) },
  });
  const turns = [
    say("system", plain("a"), { ...plain("b"), cache: { ttl: undefined } }),
    say("user", plain("x"), plain("y"), { ...plain(""), cache: { ttl: "1h" } }),
    say("assistant", { ...plain("so"), cache: { ttl: "1h" } }, call("a"), call("b")),
    say("user", { ...result("a", plain("1"), plain("2")), cache: { ttl: "1h" } }),
    say("user", result("b", { ...plain("3"), cache: { ttl: "1h" } }), {
      ...plain("z"),
      cache: { ttl: "1h" },
    }),
  ];

  test.each(["budget", "adaptive"] as const)("go on to Claude behind a host of chat (%s)", (reasoning) => {
    const body = print({ turns, tools: [TOOL] }, { traits: { reasoning, sampling: true } });
    expect(body.messages.map(({ content }: { content: unknown }) => content)).toEqual([
      [{ type: "text", text: "a" }, marked("b")],
      "x\n\ny\n\n",
      [marked("so", "1h")],
      [marked("1\n\n2", "1h")],
      [marked("3", "1h")],
      [marked("z", "1h")],
    ]);
    expect(body.tools[0].cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
  });

  test.each(["none", "effort"] as const)("are dropped for any other model (%s)", (reasoning) => {
    const body = print({ turns, tools: [TOOL] }, { traits: { reasoning, sampling: true } });
    expect(JSON.stringify(body)).not.toContain("cache_control");
    for (const { content } of body.messages) expect(typeof content).toBe("string");
  });
});

describe("tools", () => {
  test("are functions, without what only others know", () => {
    expect(print({ tools: [TOOL], parallelToolCalls: false })).toMatchObject({
      tools: [
        {
          type: "function",
          function: { name: "weather", description: "Looks out", parameters: TOOL.schema },
        },
      ],
      parallel_tool_calls: false,
    });
    expect(Object.keys(print({ tools: [TOOL] }))).not.toContain("parallel_tool_calls");
  });

  test.each<[ChatRequest["toolChoice"], unknown]>([
    [undefined, undefined],
    [{ kind: "auto" }, "auto"],
    [{ kind: "none" }, "none"],
    [{ kind: "required" }, "required"],
    [
      { kind: "tool", name: "weather" },
      { type: "function", function: { name: "weather" } },
    ],
  ])("choice %j", (toolChoice, printed) => {
    expect(print({ tools: [TOOL], toolChoice }).tool_choice).toEqual(printed);
  });

  test("without tools nothing is said of them", () => {
    const printed = print({ toolChoice: { kind: "none" }, parallelToolCalls: false });
    expect(Object.keys(printed)).toEqual(["model", "messages", "max_tokens", "stream"]);
  });

  const strictOf = (schema: object, strict: boolean | undefined) =>
    print({ tools: [{ ...TOOL, schema: schema as typeof TOOL.schema, strict }] }).tools[0].function.strict;

  test("are strict only where the host would take that", () => {
    expect(strictOf(CLOSED, true)).toBe(true);
    expect(strictOf(CLOSED, undefined)).toBeUndefined();
    expect(strictOf(CLOSED, false)).toBe(false);
    expect(strictOf({ ...CLOSED, required: [] }, true)).toBe(false);
    expect(strictOf({ ...CLOSED, additionalProperties: undefined }, true)).toBe(false);
    const nested = { ...CLOSED, properties: { a: { type: "array", items: { type: ["object", "null"] } } } };
    expect(strictOf(nested, true)).toBe(false);
    expect(strictOf({}, true)).toBe(false);
    expect(strictOf({ ...CLOSED, oneOf: [] }, true)).toBe(false);
  });
});

describe("the form of the answer", () => {
  const schemaFormat = { kind: "schema", description: undefined, strict: undefined } as const;

  test("any JSON", () => {
    expect(print({ format: { kind: "json" } }).response_format).toEqual({ type: "json_object" });
  });

  test("a schema has a name, and is strict if that is possible", () => {
    const format = { ...schemaFormat, name: undefined, schema: CLOSED };
    expect(print({ format }).response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema: CLOSED, strict: true },
    });
    const loose = { ...format, name: "x", schema: { type: "object", properties: { a: {} } } };
    expect(print({ format: loose }).response_format.json_schema).toMatchObject({ name: "x", strict: false });
    expect(print({ format: { ...format, strict: false } }).response_format.json_schema.strict).toBe(false);
  });
});

describe("reasoning", () => {
  const effortOf = (reasoning: Partial<Reasoning>) =>
    print({ reasoning: { ...NO_REASONING, ...reasoning } }, EFFORT).reasoning_effort;

  test.each<[Partial<Reasoning>, string | undefined]>([
    [{}, undefined],
    [{ effort: "none" }, "none"],
    [{ effort: "minimal" }, "minimal"],
    [{ effort: "low" }, "low"],
    [{ effort: "xhigh" }, "xhigh"],
    [{ effort: "max" }, "high"],
    [{ thinking: "enabled", budgetTokens: 1024 }, "low"],
    [{ thinking: "enabled", budgetTokens: 4096 }, "medium"],
    [{ thinking: "enabled", budgetTokens: 31_999 }, "high"],
    [{ thinking: "enabled", budgetTokens: 1024, effort: "high" }, "high"],
    [{ thinking: "adaptive" }, "medium"],
    [{ thinking: "adaptive", effort: "low" }, "low"],
    [{ thinking: "disabled" }, undefined],
    [{ thinking: "disabled", effort: "high" }, undefined],
  ])("%j is the effort %p", (reasoning, effort) => {
    expect(effortOf(reasoning)).toBe(effort);
  });

  test("is not asked of models that have none", () => {
    expect(print({ reasoning: { ...NO_REASONING, effort: "high" } })).not.toHaveProperty("reasoning_effort");
  });
});

test("a request of twenty thousand turns is printed at once", () => {
  const turns = Array.from({ length: 10_000 }, () => [
    say("assistant", call("a")),
    say("user", result("a", text("1"))),
  ]).flat();
  expect(messagesOf(...turns)).toHaveLength(20_000);
});
