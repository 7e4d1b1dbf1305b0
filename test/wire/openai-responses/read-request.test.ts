import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/domain/chat-request.ts";
import { GatewayError } from "../../../src/errors.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/format.ts";
import { encodeReasoning } from "../../../src/wire/openai-responses/items.ts";

/** One character longer than a name may be. */
const LONG_NAME = "n".repeat(257);
const PNG = "data:image/png;base64,iVBORw0KGgo=";
const PDF = "data:application/pdf;base64,JVBERi0xLjQ=";
const TEXT = `data:text/plain;charset=utf-8;base64,${Buffer.from("Grüße").toString("base64")}`;

function read(members: object = {}): ChatRequest {
  return openaiResponses.parseRequest(JSON.stringify({ model: "m", input: "hi", ...members })).readChat();
}

function errorOf(members: object): GatewayError {
  try {
    read(members);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("The body was accepted");
}

const user = (content: unknown) => ({ type: "message", role: "user", content });
const call = (id: string, input: unknown = "{}") => ({
  type: "function_call",
  call_id: id,
  name: "f",
  arguments: input,
});
const output = (id: string, content: unknown = "done") => ({
  type: "function_call_output",
  call_id: id,
  output: content,
});
const text = (words: string) => ({ kind: "text", text: words, cache: undefined });

describe("the turns of a responses body", () => {
  test("contain a string input as a user turn behind the instructions", () => {
    expect(read({ input: "Hello", instructions: "Be brief." }).turns).toMatchObject([
      { role: "system", parts: [{ text: "Be brief." }] },
      { role: "user", parts: [{ text: "Hello" }] },
    ]);
  });

  test("keep the order of messages of every role, with and without a type", () => {
    const input = [
      { role: "developer", content: "Be brief." },
      { type: "message", role: "system", content: [{ type: "input_text", text: "Be kind." }] },
      user("Hello"),
      { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] },
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No" }] },
      { role: "developer", content: "Now in French." },
    ];
    expect(read({ input }).turns).toEqual([
      { role: "system", parts: [text("Be brief."), text("Be kind.")] },
      { role: "user", parts: [text("Hello")] },
      { role: "assistant", parts: [text("Hi"), text("No")] },
      { role: "system", parts: [text("Now in French.")] },
    ] as ChatRequest["turns"]);
  });

  test("join texts, calls and results of one role into one turn", () => {
    const input = [
      user("Go"),
      { type: "message", role: "assistant", content: "I look." },
      call("a"),
      call("b", '{"x":1}'),
      output("a"),
      output("b", [{ type: "input_text", text: "two" }]),
      user("And?"),
    ];
    expect(read({ input }).turns).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        parts: [
          { kind: "text", text: "I look." },
          { kind: "tool_call", id: "a", name: "f", input: "{}" },
          { kind: "tool_call", id: "b", input: '{"x":1}' },
        ],
      },
      {
        role: "user",
        parts: [
          { kind: "tool_result", callId: "a", parts: [{ text: "done" }], isError: false },
          { kind: "tool_result", callId: "b", parts: [{ text: "two" }] },
          { kind: "text", text: "And?" },
        ],
      },
    ]);
  });

  test("contain images and files with the path of each in the body", () => {
    const content = [
      { type: "input_image", image_url: PNG, detail: "low" },
      { type: "input_image", image_url: "https://example.com/a.png" },
      { type: "input_file", filename: "a.pdf", file_data: PDF },
      { type: "input_file", filename: "b.txt", file_data: TEXT },
      { type: "input_file", file_data: "JVBERi0xLjQ=" },
      { type: "input_file", file_url: "https://example.com/a.pdf" },
    ];
    const [turn] = read({ input: [user(content)] }).turns;
    const path = (position: number) => ({ path: `input[0].content[${position}]` });
    expect(turn?.parts).toMatchObject([
      {
        kind: "image",
        source: { kind: "inline", mediaType: "image/png", data: "iVBORw0KGgo=" },
        detail: "low",
        ...path(0),
      },
      { kind: "image", source: { kind: "url", url: "https://example.com/a.png" }, ...path(1) },
      {
        kind: "document",
        source: { kind: "inline", mediaType: "application/pdf" },
        name: "a.pdf",
        ...path(2),
      },
      { kind: "document", source: { kind: "text", text: "Grüße" }, name: "b.txt" },
      { kind: "document", source: { kind: "inline", mediaType: "application/pdf" } },
      { kind: "document", source: { kind: "url" }, ...path(5) },
    ]);
  });

  test("contain reasoning that the gateway encoded and no other", () => {
    const reasoning = (encrypted_content: unknown) => ({ type: "reasoning", summary: [], encrypted_content });
    const signed = encodeReasoning({ text: "hm", signature: "s" });
    const input = [
      user("hi"),
      reasoning(signed),
      reasoning(encodeReasoning({ data: "x" })),
      reasoning("gAAAAforeign"),
      reasoning(null),
      reasoning(`${signed.slice(0, 10)}!!`),
      reasoning("tgr1_e30"),
      call("a"),
      output("a"),
    ];
    expect(read({ input }).turns[1]?.parts).toMatchObject([
      { kind: "reasoning", text: "hm", signature: "s", redacted: undefined },
      { kind: "reasoning", text: "", signature: undefined, redacted: "x" },
      { kind: "tool_call", id: "a" },
    ]);
  });

  test.each<[string, string]>([
    ["millions of values", `{"text":"a","signature":"b","x":[${"[],".repeat(1000)}[]]}`],
    ["brackets within brackets", `${"[".repeat(1000)}${"]".repeat(1000)}`],
    ["more members than a valid token has", `{"text":"a","signature":"b"${',"c":1'.repeat(10)}}`],
  ])("drop encoded reasoning of %s unparsed", (_, inside) => {
    const encoded = `tgr1_${Buffer.from(inside).toString("base64url")}`;
    expect(
      read({ input: [user("hi"), { type: "reasoning", encrypted_content: encoded }] }).turns,
    ).toHaveLength(1);
  });

  test("drop encoded reasoning above 8,388,608 characters", () => {
    const encoded = (chars: number) => encodeReasoning({ text: "a".repeat(chars), signature: "s" });
    const turnsOf = (encrypted_content: string) =>
      read({ input: [user("hi"), { type: "reasoning", encrypted_content }] }).turns;
    expect(turnsOf(encoded(1_000_000))).toHaveLength(2);
    expect(turnsOf(encoded(7_000_000))).toHaveLength(1);
  });

  test("are rejected above 100,000 values, including those inside arguments", () => {
    expect(errorOf({ metadata: { many: Array(100_001).fill(0) } }).kind).toBe("wrong_shape");
    const input = [1, 2, 3].map((id) => call(`c${id}`, `{"a":[${"0,".repeat(40_000)}0]}`));
    expect(errorOf({ input }).publicMessage).toEndWith(": input[2].arguments");
  });

  test("contain the text of a free-form call as its input", () => {
    const input = [
      { type: "custom_tool_call", call_id: "a", name: "apply_patch", input: "*** Begin\n" },
      { type: "custom_tool_call_output", call_id: "a", output: "ok" },
    ];
    expect(read({ input }).turns).toMatchObject([
      { parts: [{ name: "apply_patch", input: '{"input":"*** Begin\\n"}' }] },
      { parts: [{ kind: "tool_result", callId: "a", parts: [{ text: "ok" }] }] },
    ]);
  });

  test("contain a message between agents as a user turn, with its encrypted_content part as text", () => {
    const content = [
      { type: "input_text", text: "Task:" },
      { type: "encrypted_content", encrypted_content: "count the files" },
    ];
    const input = [{ type: "agent_message", author: "/root", recipient: "/root/one", content }];
    expect(read({ input }).turns).toMatchObject([
      { role: "user", parts: [{ text: "Task:" }, { text: "count the files" }] },
    ]);
  });

  test("omit calls that ran at another provider", () => {
    const input = [
      user("hi"),
      { type: "web_search_call", id: "ws_1" },
      { type: "mcp_list_tools", tools: [] },
    ];
    expect(read({ input }).turns).toHaveLength(1);
  });

  test("case 53: read missing arguments as an empty object, and reject malformed ones with their path", () => {
    for (const nothing of ["", "  ", undefined, null]) {
      expect(read({ input: [call("a", nothing)] }).turns[0]?.parts).toMatchObject([{ input: "{}" }]);
    }
    for (const wrong of ["[]", "7", '{"a":', { a: 1 }, `${'{"a":'.repeat(600)}1${"}".repeat(600)}`]) {
      const error = errorOf({ input: [user("hi"), call("a", wrong)] });
      expect(error.publicMessage).toEndWith(": input[1].arguments");
    }
  });

  test("keep malformed arguments of an answered call inside an object", () => {
    const input = [call("a", '{"cmd":'), output("a", "failed to parse")];
    const [turn] = read({ input }).turns;
    expect(turn?.parts).toMatchObject([{ input: '{"unreadable_arguments":"{\\"cmd\\":"}' }]);
  });

  test.each<[string, object, string]>([
    ["a stored image", user([{ type: "input_image", file_id: "file_1" }]), "input[0].content[0].file_id"],
    ["a stored file", user([{ type: "input_file", file_id: "file_1" }]), "input[0].content[0].file_id"],
    [
      "a file address of the local machine",
      user([{ type: "input_image", image_url: "file:///x" }]),
      "input[0].content[0].image_url",
    ],
    ["audio", user([{ type: "input_audio" }]), "input[0].content[0]"],
    [
      "an image in an answer",
      { role: "assistant", content: [{ type: "input_image", image_url: PNG }] },
      "input[0].content[0]",
    ],
    ["a compacted history", { type: "compaction", encrypted_content: "x" }, "input[0]"],
    ["a call of an unknown type", { type: "computer_call", call_id: "a" }, "input[0]"],
  ])("are untranslatable with %s", (_, item, path) => {
    const error = errorOf({ input: [item] });
    expect([error.kind, error.publicMessage.split(": ").at(-1)]).toEqual(["untranslatable", path]);
  });

  test.each<[string, object, string]>([
    ["an unknown role", { role: "critic", content: "x" }, "input[0].role"],
    ["a part that is a string", user(["x"]), "input[0].content[0]"],
    ["a part without a type", user([{ text: "x" }]), "input[0].content[0].type"],
    ["a text without text", user([{ type: "input_text" }]), "input[0].content[0].text"],
    ["an image without an address", user([{ type: "input_image" }]), "input[0].content[0].image_url"],
    ["a call without an id", { type: "function_call", name: "f" }, "input[0].call_id"],
    ["a call without a name", { type: "function_call", call_id: "a" }, "input[0].name"],
    ["a call with a name that is too long", { ...call("a"), name: LONG_NAME }, "input[0].name"],
    ["a call with a namespace that is too long", { ...call("a"), namespace: LONG_NAME }, "input[0].name"],
    ["a result without an id", { type: "function_call_output", output: "x" }, "input[0].call_id"],
    ["a result that is an object", output("a", {}), "input[0].output"],
    [
      "a free-form input that is no string",
      { type: "custom_tool_call", call_id: "a", name: "f", input: {} },
      "input[0].input",
    ],
    ["no turns at all", { type: "reasoning", summary: [] }, "input"],
  ])("have the wrong shape with %s", (_, item, path) => {
    const error = errorOf({ input: [item] });
    expect([error.kind, error.publicMessage.split(": ").at(-1)]).toEqual(["wrong_shape", path]);
  });
});

describe("the tools of a responses body", () => {
  const look = {
    type: "function",
    name: "look_up",
    description: "Looks.",
    parameters: { type: "object", x: 1 },
    strict: true,
  };

  test("include functions with their schema, which is optional", () => {
    expect(read({ tools: [look, { type: "function", name: "now" }] }).tools).toMatchObject([
      {
        name: "look_up",
        description: "Looks.",
        schema: { type: "object", x: 1 },
        strict: true,
        isFreeForm: false,
      },
      { name: "now", description: undefined, schema: { type: "object", properties: {} }, strict: undefined },
    ]);
  });

  test("include a free-form tool as a function of one text, with its grammar in the description", () => {
    const format = { type: "grammar", syntax: "lark", definition: "start: /x/" };
    const [tool] = read({ tools: [{ type: "custom", name: "apply_patch", format }] }).tools;
    expect(tool).toMatchObject({ name: "apply_patch", isFreeForm: true, schema: { required: ["input"] } });
    expect(JSON.stringify(tool?.schema)).toContain("start: /x/");
  });

  test("case 71: omit Codex's other tools, and include those of its namespaces", () => {
    const tools = [
      look,
      { type: "namespace", name: "multi_agent_v1", tools: [{ type: "function", name: "close_agent" }] },
      { type: "web_search", external_web_access: true },
      { type: "web_search_preview_2025_03_11" },
      { type: "tool_search", execution: "client" },
      { type: "image_generation" },
      { type: "local_shell" },
    ];
    const include = ["reasoning.encrypted_content"];
    const request = read({
      tools,
      include,
      store: false,
      prompt_cache_key: "k",
      client_metadata: { a: "b" },
    });
    expect(request.tools.map(({ name }) => name)).toEqual(["look_up", "multi_agent_v1__close_agent"]);
  });

  test("include tools from the input, to which calls refer", () => {
    const tools = [{ type: "namespace", name: "functions", tools: [{ type: "custom", name: "exec" }] }];
    const input = [
      { type: "additional_tools", role: "developer", tools },
      user("hi"),
      { type: "custom_tool_call", call_id: "a", name: "exec", namespace: "functions", input: "1" },
      { type: "custom_tool_call_output", call_id: "a", output: "1" },
    ];
    const request = read({ input });
    expect(request.tools).toMatchObject([{ name: "functions__exec", isFreeForm: true }]);
    expect(request.turns[1]?.parts).toMatchObject([{ name: "functions__exec" }]);
  });

  test.each(["file_search", "code_interpreter", "computer_use_preview", "mcp", "shell", "future"])(
    "are untranslatable with %s, and the error names its path",
    (type) => {
      const error = errorOf({ tools: [look, { type }] });
      expect([error.kind, error.publicMessage.split(": ").at(-1)]).toEqual([
        "untranslatable",
        "tools[1].type",
      ]);
    },
  );

  test.each<[string, unknown, string]>([
    ["a tool that is a string", "look_up", "tools[0]"],
    ["a tool without a type", { name: "f" }, "tools[0].type"],
    ["a tool without a name", { type: "function" }, "tools[0].name"],
    ["parameters that are a list", { ...look, parameters: [] }, "tools[0].parameters"],
    ["a namespace without tools", { type: "namespace", name: "n" }, "tools[0].tools"],
    ["a name that is too long", { ...look, name: LONG_NAME }, "tools[0].name"],
    [
      "a namespace whose name is too long",
      { type: "namespace", name: LONG_NAME, tools: [] },
      "tools[0].name",
    ],
    [
      "a tool whose name is too long with that of its namespace",
      { type: "namespace", name: "n".repeat(200), tools: [{ ...look, name: "f".repeat(55) }] },
      "tools[0].tools[0].name",
    ],
    ["a namespace without a name", { type: "namespace", tools: [] }, "tools[0].name"],
    [
      "a nameless tool in a namespace",
      { type: "namespace", name: "n", tools: [{ type: "function" }] },
      "tools[0].tools[0].name",
    ],
  ])("have the wrong shape with %s", (_, tool, path) => {
    const error = errorOf({ tools: [tool] });
    expect([error.kind, error.publicMessage.split(": ").at(-1)]).toEqual(["wrong_shape", path]);
  });

  test("have the tool choice of the body", () => {
    const choose = (
      tool_choice: unknown,
      tools: readonly object[] = [look, { type: "custom", name: "patch" }],
    ) => {
      const request = read({ tools, tool_choice, parallel_tool_calls: false });
      return [request.toolChoice, request.tools.length, request.parallelToolCalls];
    };
    expect(choose(undefined)).toEqual([undefined, 2, false]);
    expect(choose("required")).toEqual([{ kind: "required" }, 2, false]);
    expect(choose({ type: "function", name: "look_up" })).toEqual([
      { kind: "tool", name: "look_up" },
      2,
      false,
    ]);
    expect(choose({ type: "custom", name: "patch" })).toEqual([{ kind: "tool", name: "patch" }, 2, false]);
    const allowed = { type: "allowed_tools", mode: "required", tools: [{ type: "custom", name: "patch" }] };
    expect(choose(allowed)).toEqual([{ kind: "required" }, 1, false]);
    expect(choose("auto", [{ type: "web_search" }])).toEqual([undefined, 0, undefined]);
  });

  test("are rejected with an invalid tool choice", () => {
    expect(errorOf({ tools: [look], tool_choice: "any" }).kind).toBe("wrong_shape");
    expect(errorOf({ tools: [look], tool_choice: { type: "web_search" } }).kind).toBe("untranslatable");
    expect(errorOf({ tools: [look], tool_choice: { type: "function" } }).kind).toBe("wrong_shape");
    expect(errorOf({ tools: [look], tool_choice: { type: "allowed_tools" } }).kind).toBe("wrong_shape");
    const named = { type: "function", name: LONG_NAME };
    expect(errorOf({ tools: [look], tool_choice: named }).publicMessage).toEndWith(": tool_choice.name");
    const allowed = { type: "allowed_tools", tools: [{ type: "web_search" }, named] };
    expect(errorOf({ tools: [look], tool_choice: allowed }).publicMessage).toEndWith(
      ": tool_choice.tools[1].name",
    );
  });
});

describe("the options of a responses body", () => {
  test("include an effort and whether the client wants a summary", () => {
    expect(read({ reasoning: { effort: "high", summary: "auto" } }).reasoning).toMatchObject({
      effort: "high",
      isShown: true,
    });
    expect(read({ reasoning: { effort: null, summary: null } }).reasoning).toMatchObject({
      effort: undefined,
      isShown: false,
    });
    expect(errorOf({ reasoning: { effort: "very" } }).publicMessage).toEndWith(": reasoning.effort");
  });

  test("include the answer's format", () => {
    const format = (value: unknown) => read({ text: { format: value, verbosity: "low" } }).format;
    expect(format({ type: "text" })).toBeUndefined();
    expect(format({ type: "json_object" })).toEqual({ kind: "json" });
    const schema = { type: "object" };
    expect(format({ type: "json_schema", name: "answer", schema, strict: true })).toEqual({
      kind: "schema",
      name: "answer",
      description: undefined,
      schema,
      strict: true,
    });
    expect(errorOf({ text: { format: { type: "json_schema" } } }).publicMessage).toEndWith(
      ": text.format.schema",
    );
    expect(errorOf({ text: { format: { type: "grammar" } } }).kind).toBe("untranslatable");
  });

  test("include sampling and the user id", () => {
    expect(read({ temperature: 0.5, top_p: 0.9, user: "u1" })).toMatchObject({
      temperature: 0.5,
      topP: 0.9,
      endUser: "u1",
      stopSequences: [],
    });
    expect(read({ user: "u1", safety_identifier: "s1" }).endUser).toBe("s1");
    expect(errorOf({ temperature: "hot" }).publicMessage).toEndWith(": temperature");
    expect(errorOf({ temperature: -1 }).publicMessage).toEndWith(": temperature");
    expect(errorOf({ top_p: 1.1 }).publicMessage).toEndWith(": top_p");
  });

  test("are untranslatable with log probabilities", () => {
    expect(errorOf({ top_logprobs: 3 }).publicMessage).toEndWith(": top_logprobs");
    expect(errorOf({ include: ["message.output_text.logprobs"] }).publicMessage).toEndWith(": include");
    expect(() => read({ top_logprobs: 0 })).not.toThrow();
  });

  test("omit fields that clients send by default", () => {
    const defaults = {
      store: true,
      truncation: "auto",
      service_tier: "auto",
      metadata: { a: "b" },
      prompt_cache_key: "k",
      prompt_cache_retention: "24h",
      max_tool_calls: 3,
      stream_options: { include_obfuscation: false },
      context_management: [],
      something_new: {},
    };
    expect(JSON.stringify(read(defaults))).toBe(JSON.stringify(read()));
  });
});
