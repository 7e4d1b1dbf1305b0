import { describe, expect, test } from "bun:test";

import type { ChatRequest, Part, Reasoning, Turn } from "../../../src/domain/chat-request.ts";
import type { PrintOptions } from "../../../src/wire/format.ts";
import { findUntranslatable, printRequest } from "../../../src/wire/openai-chat/egress/print-request.ts";
import { callOf, chatOf, IMAGE, NO_REASONING, resultOf as result, textOf, turnOf } from "../chat-request.ts";

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

const text = (value: string) => textOf(value, { ttl: "5m" });
const call = (id: string) => callOf(id, "weather", '{"a":1}');

function document(source: Extract<Part, { kind: "document" }>["source"], name?: string) {
  return { kind: "document", source, name, cache: undefined, path: "messages[0].content[2]" } as const;
}

function print(members: Partial<ChatRequest> = {}, options: Partial<PrintOptions> = {}) {
  const defaults: PrintOptions = {
    model: "host-model",
    outputTokensMax: 100,
    outputLimitField: undefined,
    stream: false,
    traits: { reasoning: "none", sampling: true },
  };
  return JSON.parse(
    printRequest(chatOf({ turns: [turnOf("user", text("hi"))], ...members }), { ...defaults, ...options }),
  );
}

function messagesOf(...turns: Turn[]) {
  return print({ turns }).messages;
}

const EFFORT = { traits: { reasoning: "effort", sampling: false } } as const;

describe("printRequest", () => {
  test("prints the fields of the request and no others", () => {
    expect(print()).toEqual({
      model: "host-model",
      messages: [{ role: "user", content: "hi" }],
      max_tokens: 100,
      stream: false,
    });
  });

  test("case 33: always requests usage in a stream", () => {
    expect(print({}, { stream: true })).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("prints the output limit under the host's name, else under the name of the model family", () => {
    expect(print({}, EFFORT)).toMatchObject({ max_completion_tokens: 100 });
    expect(print({}, { ...EFFORT, outputLimitField: "max_tokens" })).toMatchObject({ max_tokens: 100 });
    expect(print({}, EFFORT)).not.toHaveProperty("max_tokens");
  });

  test("case 57: prints sampling parameters only for models that accept them", () => {
    const sampling = { temperature: 1.7, topP: 0.5, topK: 40 };
    expect(print(sampling)).toMatchObject({ temperature: 1.7, top_p: 0.5 });
    expect(print(sampling)).not.toHaveProperty("top_k");
    expect(Object.keys(print(sampling, EFFORT))).not.toContain("temperature");
    expect(Object.keys(print(sampling, EFFORT))).not.toContain("top_p");
  });

  test("joins the alternatives of a tool schema and describes them", () => {
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

  test("prints the request's own cache mark only for Anthropic's models", () => {
    const cache = { ttl: "1h" } as const;
    const claude = print({ cache }, { traits: { reasoning: "adaptive", sampling: false } });
    expect(claude.cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
    expect(print({ cache })).not.toHaveProperty("cache_control");
  });

  test("adds empty properties to a schema of any object", () => {
    const [tool] = chatOf({ tools: [{ ...TOOL, schema: { type: "object" } }] }).tools;
    const printed = print({ tools: tool ? [tool] : [] });
    expect(printed.tools).toMatchObject([{ function: { parameters: { type: "object", properties: {} } } }]);
  });

  test("prints four stop sequences and cannot represent a fifth", () => {
    expect(print({ stopSequences: ["a", "b", "c", "d"] }).stop).toEqual(["a", "b", "c", "d"]);
    expect(findUntranslatable(chatOf({ stopSequences: ["a", "b", "c", "d", "e"] }))).toBe("stop_sequences");
  });

  test("case 74: prints an opaque end user and hashes any other", () => {
    expect(print({ endUser: "user-1" }).user).toBe("user-1");
    const long = print({ endUser: JSON.stringify({ device_id: "d".repeat(64), session: 1 }) }).user;
    expect(long).toMatch(/^[0-9a-f]{32}$/);
    expect(print({ endUser: "a@b.example" }).user).toMatch(/^[0-9a-f]{32}$/);
    expect(print({ endUser: "+49-170-1234567" }).user).toMatch(/^[0-9a-f]{32}$/);
    expect(print({ endUser: "a@b.example" }).user).not.toBe(long);
  });
});

describe("printMessages", () => {
  test("case 62: joins leading system turns and keeps later ones in place", () => {
    const messages = messagesOf(
      turnOf("system", text("a"), text("b")),
      turnOf("system", text("c")),
      turnOf("user", text("hi")),
      turnOf("system", text("d")),
      turnOf("system", text("e")),
      turnOf("user", text("ho")),
    );
    expect(messages).toEqual([
      { role: "system", content: "a\n\nb\n\nc" },
      { role: "user", content: "hi" },
      { role: "system", content: "d" },
      { role: "system", content: "e" },
      { role: "user", content: "ho" },
    ]);
  });

  test("case 52: prints tool results before the user texts of their turn", () => {
    const turn = turnOf("user", text("and?"), result("a", text("1"), text("2")), result("b", text("3")));
    const [, , ...messages] = messagesOf(
      turnOf("user", text("hi")),
      turnOf("assistant", call("a"), call("b")),
      turn,
    );
    expect(messages).toEqual([
      { role: "tool", tool_call_id: "a", content: "1\n\n2" },
      { role: "tool", tool_call_id: "b", content: "3" },
      { role: "user", content: "and?" },
    ]);
  });

  test("prints a system turn between calls and results after the results", () => {
    const [, , ...messages] = messagesOf(
      turnOf("user", text("hi")),
      turnOf("assistant", call("a"), call("b")),
      turnOf("system", text("note")),
      turnOf("user", result("a", text("1"))),
      turnOf("system", text("and")),
      turnOf("user", result("b", text("2")), text("ho")),
    );
    expect(messages).toEqual([
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "system", content: "note" },
      { role: "system", content: "and" },
      { role: "user", content: "ho" },
    ]);
  });

  test("prints results of consecutive turns together before the user texts", () => {
    const turns = [turnOf("user", text("x"), result("a", IMAGE)), turnOf("user", result("b", text("2")))];
    expect(messagesOf(turnOf("assistant", call("a"), call("b")), ...turns).slice(1)).toEqual([
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

  test("marks a result that is an error", () => {
    const failed = { ...result("a", text("no")), isError: true };
    expect(messagesOf(turnOf("user", failed, result("b")))).toEqual([
      { role: "tool", tool_call_id: "a", content: "Error: no" },
      { role: "tool", tool_call_id: "b", content: "" },
    ]);
    expect(messagesOf(turnOf("user", result("a", text(""))))[0].content).toBe("");
  });

  test("joins the texts of an assistant, and prints null beside calls alone", () => {
    expect(
      messagesOf(turnOf("assistant", text("a"), text("b"), call("x")), turnOf("assistant", call("y"))),
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
    expect(messagesOf(turnOf("assistant", call("x")))[0].content).toBeNull();
  });

  test("omits reasoning", () => {
    const reasoning = { kind: "reasoning", text: "hm", signature: "s", redacted: undefined } as const;
    expect(messagesOf(turnOf("assistant", reasoning, text("a")))).toEqual([
      { role: "assistant", content: "a" },
    ]);
    expect(messagesOf(turnOf("assistant", reasoning))).toEqual([{ role: "assistant", content: "" }]);
  });

  test("joins the texts of a user, and prints parts only beside other media", () => {
    expect(messagesOf(turnOf("user", text("a"), text("b")))[0].content).toBe("a\n\nb");
    expect(messagesOf(turnOf("user"))[0].content).toBe("");
    const remote = { ...IMAGE, source: { kind: "url", url: "https://a.example/b" }, detail: "low" } as const;
    expect(messagesOf(turnOf("user", text("a"), remote))[0].content).toEqual([
      { type: "text", text: "a" },
      { type: "image_url", image_url: { url: "https://a.example/b", detail: "low" } },
    ]);
  });

  test("prints a PDF as a file and a text document as a text with its name", () => {
    const pdf = document({ kind: "inline", mediaType: "application/pdf", data: "aGk=" });
    const note = document({ kind: "text", text: "one" }, "note.txt");
    expect(messagesOf(turnOf("user", pdf, note))[0].content).toEqual([
      {
        type: "file",
        file: { filename: "document.pdf", file_data: "data:application/pdf;base64,aGk=" },
      },
      { type: "text", text: "note.txt:\none" },
    ]);
    expect(messagesOf(turnOf("user", note))[0].content).toBe("note.txt:\none");
  });

  test("reports the path of a file that is neither PDF nor text", () => {
    const find = (mediaType: string) =>
      findUntranslatable(
        chatOf({ turns: [turnOf("user", document({ kind: "inline", mediaType, data: "aGk=" }))] }),
      );
    expect(find("application/pdf")).toBeUndefined();
    expect(find("application/zip")).toBe("messages[0].content[2]");
    expect(find("image/png")).toBe("messages[0].content[2]");
  });

  test("reports the path of a document with only a URL, also in a tool result", () => {
    const remote = document({ kind: "url", url: "https://a.example/b.pdf" });
    expect(findUntranslatable(chatOf())).toBeUndefined();
    expect(findUntranslatable(chatOf({ turns: [turnOf("user", text("a"), remote)] }))).toBe(remote.path);
    const turn = turnOf("user", result("a", text("x"), remote));
    expect(findUntranslatable(chatOf({ turns: [turnOf("user"), turn] }))).toBe(remote.path);
  });
});

describe("a cache mark", () => {
  const plain = (value: string) => textOf(value);
  const marked = (value: string, ttl?: "1h") => ({
    type: "text",
    text: value,
    cache_control: { type: "ephemeral", ...(ttl && { ttl }) },
  });
  const turns = [
    turnOf("system", plain("a"), { ...plain("b"), cache: { ttl: undefined } }),
    turnOf("user", plain("x"), plain("y"), { ...plain(""), cache: { ttl: "1h" } }),
    turnOf("assistant", { ...plain("so"), cache: { ttl: "1h" } }, call("a"), call("b")),
    turnOf("user", { ...result("a", plain("1"), plain("2")), cache: { ttl: "1h" } }),
    turnOf("user", result("b", { ...plain("3"), cache: { ttl: "1h" } }), {
      ...plain("z"),
      cache: { ttl: "1h" },
    }),
  ];

  test.each(["budget", "adaptive"] as const)(
    "is printed for Anthropic's models at a chat host (%s)",
    (reasoning) => {
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
    },
  );

  test.each(["none", "effort"] as const)("is dropped for any other model (%s)", (reasoning) => {
    const body = print({ turns, tools: [TOOL] }, { traits: { reasoning, sampling: true } });
    expect(JSON.stringify(body)).not.toContain("cache_control");
    for (const { content } of body.messages) expect(typeof content).toBe("string");
  });
});

describe("printTools", () => {
  test("prints tools as functions without fields of other formats", () => {
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
  ])("prints the tool choice %j", (toolChoice, printed) => {
    expect(print({ tools: [TOOL], toolChoice }).tool_choice).toEqual(printed);
  });

  test("omits the tool choice without tools", () => {
    const printed = print({ toolChoice: { kind: "none" }, parallelToolCalls: false });
    expect(Object.keys(printed)).toEqual(["model", "messages", "max_tokens", "stream"]);
  });

  const strictOf = (schema: object, strict: boolean | undefined) =>
    print({ tools: [{ ...TOOL, schema: schema as typeof TOOL.schema, strict }] }).tools[0].function.strict;

  test("prints strict only for schemas that strict mode accepts", () => {
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

describe("response_format", () => {
  const schemaFormat = { kind: "schema", description: undefined, strict: undefined } as const;

  test("is json_object for any JSON", () =>
    expect(print({ format: { kind: "json" } }).response_format).toEqual({ type: "json_object" }));

  test("has a name for a schema, and is strict if possible", () => {
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

describe("reasoning_effort", () => {
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
  ])("is for %j the effort %p", (reasoning, effort) => expect(effortOf(reasoning)).toBe(effort));

  test("is omitted for models without reasoning", () =>
    expect(print({ reasoning: { ...NO_REASONING, effort: "high" } })).not.toHaveProperty("reasoning_effort"));
});

test("a request with twenty thousand turns is printed in linear time", () => {
  const turns = Array.from({ length: 10_000 }, () => [
    turnOf("assistant", call("a")),
    turnOf("user", result("a", text("1"))),
  ]).flat();
  expect(messagesOf(...turns)).toHaveLength(20_000);
});
