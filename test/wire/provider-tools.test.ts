import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/errors.ts";
import type { ModelRequest } from "../../src/wire/model-request.ts";
import { WIRES } from "../../src/wire/registry.ts";
import type { ReplyPart } from "../../src/wire/reply-part.ts";

const ASK = { messages: [{ role: "user", content: "hi" }] };
const BODIES = { chat: ASK, messages: { ...ASK, max_tokens: 9 }, responses: { input: "hi" } };
type Format = keyof typeof BODIES;

function parse(format: Format, members: object): ModelRequest {
  return WIRES[format].parseRequest(JSON.stringify({ model: "m", ...BODIES[format], ...members }));
}

function refusalOf(format: Format, members: object | string): string {
  const text =
    typeof members === "string" ? members : JSON.stringify({ model: "m", ...BODIES[format], ...members });
  try {
    WIRES[format].parseRequest(text);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.kind} ${error.publicMessage.split(": ").at(-1)}`;
  }
  throw new Error(`Nothing was refused: ${text}`);
}

const SEARCH = { type: "web_search_20250305", name: "web_search" };
const ASKED = { name: "web_search", path: "tools[0].type" };

describe("the tools of a request", () => {
  test.each<[Format, object, object | undefined]>([
    [
      "messages",
      {
        tools: [
          { name: "f", input_schema: {} },
          { type: "bash_20250124", name: "bash" },
        ],
      },
      undefined,
    ],
    ["messages", { tools: [{ type: "tool_search_tool_regex_20251119", name: "s" }] }, undefined],
    [
      "messages",
      { tools: [{ ...SEARCH, max_uses: 3 }] },
      { tools: [{ ...ASKED, isOptional: true, callsMax: 3 }], areAll: true },
    ],
    ["messages", { tools: [SEARCH] }, { tools: [{ ...ASKED, isOptional: true }], areAll: true }],
    [
      "messages",
      {
        tools: [SEARCH, { type: "bash_20250124", name: "bash" }],
        tool_choice: { type: "tool", name: "bash" },
      },
      { tools: [ASKED] },
    ],
    [
      "messages",
      { tools: [SEARCH, { name: "f" }], tool_choice: { type: "tool", name: "f" } },
      { tools: [{ ...ASKED, isOptional: true }], areAll: true },
    ],
    [
      "messages",
      { tools: [{ type: "web_fetch_20250910", name: "web_fetch", max_uses: 2 }] },
      { tools: [{ name: "web_fetch", path: "tools[0].type", callsMax: 2, isFree: true }], areAll: true },
    ],
    [
      "messages",
      { tools: [{ type: "code_execution_20250825", name: "code_execution" }] },
      { tools: [{ name: "code_execution", path: "tools[0].type", callsMax: 1 }], areAll: true },
    ],
    [
      "responses",
      { tools: [{ type: "function", name: "f" }, { type: "mcp" }, { type: "local_shell" }] },
      undefined,
    ],
    ["responses", { tools: [{ type: "shell", environment: { type: "local" } }] }, undefined],
    [
      "responses",
      { tools: [{ type: "web_search_2025_08_26" }, { type: "file_search" }], max_tool_calls: 4 },
      {
        tools: [
          { ...ASKED, isOptional: true },
          { name: "file_search", path: "tools[1].type" },
        ],
        areAll: true,
        shared: { callsMax: 4 },
      },
    ],
    [
      "responses",
      { input: [{ type: "additional_tools", tools: [{ type: "web_search" }] }] },
      {
        tools: [{ ...ASKED, path: "input[0].tools[0].type", isOptional: true }],
        areAll: true,
        shared: {},
      },
    ],
    [
      "chat",
      { web_search_options: {}, n: 2 },
      {
        tools: [
          {
            name: "web_search",
            path: "web_search_options",
            callsMax: 2,
            isFixed: true,
            coveredBy: "request",
          },
        ],
      },
    ],
    [
      "chat",
      { plugins: [{ id: "web", engine: "exa", max_results: 3 }] },
      { tools: [{ name: "web_result", path: "plugins[0].id", callsMax: 3, isFixed: true }] },
    ],
  ])("of %s with %j are read", (format, members, expected) => {
    expect(JSON.parse(JSON.stringify(parse(format, members).tools ?? null))).toEqual(expected ?? null);
  });

  test.each<[Format, object | string, string]>([
    ["messages", { tools: [{ ...SEARCH, max_uses: 0 }] }, "wrong_shape tools[0].max_uses"],
    ["messages", { tools: [{ ...SEARCH, max_uses: -1 }] }, "wrong_shape tools[0].max_uses"],
    ["messages", { tools: [{ ...SEARCH, max_uses: 1e9 }] }, "wrong_shape tools[0].max_uses"],
    ["messages", { tools: [{ ...SEARCH, max_uses: "3" }] }, "wrong_shape tools[0].max_uses"],
    ["messages", { tools: [{ ...SEARCH, Max_Uses: 3 }] }, "wrong_shape tools[0].Max_Uses"],
    ["messages", { tools: [{ type: "custom", Type: "web_search_20250305" }] }, "wrong_shape tools[0].Type"],
    ["messages", { tools: [{ type: "Web_Search_20250305" }] }, "unpriced_field tools[0].type"],
    ["messages", { tools: [{ type: 7 }] }, "unpriced_field tools[0].type"],
    [
      "messages",
      '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"web_search_20250305","typ\\u0065":"custom"}]}',
      "unpriced_field tools[0].type",
    ],
    [
      "messages",
      '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"web_search_20250305","max_uses":900,"max_uses":1}]}',
      "unpriced_field tools[0].type",
    ],
    [
      "messages",
      { messages: [{ role: "system", content: [{ type: "tool_addition", tool: { definition: SEARCH } }] }] },
      "unpriced_field messages[0].content[0].tool.definition.type",
    ],
    ["responses", { tools: [{ type: "web_search" }], max_tool_calls: -1 }, "wrong_shape max_tool_calls"],
    ["responses", { tools: [{ type: "web_search" }], max_tool_calls: 1_001 }, "wrong_shape max_tool_calls"],
    ["responses", { tools: [{ type: "web_search" }], Max_Tool_Calls: 9 }, "wrong_shape Max_Tool_Calls"],
    [
      "responses",
      { tools: [{ type: "namespace", name: "n", tools: [{ type: "web_search" }] }] },
      "unpriced_field tools[0].tools[0].type",
    ],
    [
      "responses",
      { tools: [{ type: "code_interpreter", container: { type: "auto", memory_limit: "64g" } }] },
      "unpriced_field tools[0].container.memory_limit",
    ],
    ["chat", { tools: [{ type: "web_search" }] }, "unpriced_field tools[0].type"],
    [
      "chat",
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"web_search","type":"function"}]}',
      "unpriced_field tools[0].type",
    ],
    ["chat", { plugins: [{ id: "web" }] }, "unpriced_field plugins[0].id"],
    ["chat", { plugins: [{ id: "web", engine: "native", max_results: 3 }] }, "unpriced_field plugins[0].id"],
    ["chat", { plugins: [{ id: "web", engine: "exa" }] }, "unpriced_field plugins[0].id"],
    ["chat", { plugins: [{ id: "web", engine: "exa", max_results: 1e9 }] }, "unpriced_field plugins[0].id"],
    [
      "chat",
      { plugins: [{ id: "web", engine: "exa", max_results: 3, Engine: "x" }] },
      "unpriced_field plugins[0].id",
    ],
    ["chat", { extra_body: { web_search_options: {} } }, "unpriced_field extra_body.web_search_options"],
    ["chat", { modalities: ["video"] }, "unpriced_field modalities"],
    ["messages", { web_search_options: {} }, "unpriced_field web_search_options"],
    ["responses", { modalities: ["text", "audio"] }, "unpriced_field modalities"],
  ])("of %s with %j are refused", (format, members, refusal) => {
    expect(refusalOf(format, members)).toBe(refusal);
  });
});

describe("the bound of tools", () => {
  const print = (format: Format, members: object, names: readonly string[]) => {
    const toolBound = { names, callsMax: 7 };
    const options = { model: "theirs", outputTokensMax: 9, outputLimitField: undefined, toolBound };
    return JSON.parse(WIRES[format].printUpstreamRequest(parse(format, members), options));
  };

  test("is added to each tool of a message that has a fee and no bound", () => {
    const tools = [
      SEARCH,
      { ...SEARCH, max_uses: 2 },
      { ...SEARCH, max_uses: null },
      { name: "f", input_schema: {} },
    ];
    expect(print("messages", { tools }, ["web_search"]).tools).toEqual([
      { ...SEARCH, max_uses: 7 },
      { ...SEARCH, max_uses: 2 },
      { ...SEARCH, max_uses: 7 },
      { name: "f", input_schema: {} },
    ]);
  });

  test("is one for all tools of a response", () => {
    const tools = [{ type: "web_search" }];
    expect(print("responses", { tools }, ["web_search"]).max_tool_calls).toBe(7);
    expect(print("responses", { tools, max_tool_calls: 3 }, ["web_search"]).max_tool_calls).toBe(3);
    expect(print("responses", { tools, max_tool_calls: null }, ["web_search"]).max_tool_calls).toBe(7);
  });
});

describe("a search that clients offer by default", () => {
  const f = { type: "function", name: "f" };
  const search = { type: "web_search", external_web_access: true };
  const optional = (format: Format, members: object) =>
    parse(format, members).tools?.tools.map(({ isOptional }) => isOptional ?? false);
  const allow = (mode: string, ...tools: readonly object[]) => ({ type: "allowed_tools", mode, tools });

  test.each<[Format, object, boolean]>([
    ["responses", { tools: [search], tool_choice: "auto" }, true],
    ["responses", { tools: [search], tool_choice: null }, true],
    ["responses", { tools: [search, f], tool_choice: "required" }, true],
    ["responses", { tools: [search], tool_choice: "required" }, false],
    ["responses", { tools: [search, f], tool_choice: f }, true],
    ["responses", { tools: [search, f], tool_choice: { type: "web_search" } }, false],
    ["responses", { tools: [search, f], tool_choice: "web_search" }, false],
    ["responses", { tools: [search, f], tool_choice: allow("auto", search) }, true],
    ["responses", { tools: [search, f], tool_choice: allow("required", search, f) }, true],
    ["responses", { tools: [search, f], tool_choice: allow("required", search) }, false],
    ["messages", { tools: [SEARCH], tool_choice: { type: "auto" } }, true],
    ["messages", { tools: [SEARCH, { name: "f" }], tool_choice: { type: "any" } }, true],
    ["messages", { tools: [SEARCH], tool_choice: { type: "any" } }, false],
    ["messages", { tools: [SEARCH], tool_choice: { type: "tool", name: "web_search" } }, false],
  ])("of %s with %j is optional: %p", (format, members, expected) => {
    expect(optional(format, members)).toEqual([expected]);
  });

  const print = (format: Format, members: object) => {
    const options = { model: "theirs", outputTokensMax: 9, outputLimitField: undefined };
    const droppedTools = ["web_search", "image_generation"];
    return JSON.parse(
      WIRES[format].printUpstreamRequest(parse(format, members), { ...options, droppedTools }),
    );
  };

  test("is not sent to OpenAI, and nothing refers to it", () => {
    const image = { type: "image_generation" };
    const include = ["reasoning.encrypted_content", "web_search_call.action.sources"];
    const tool_choice = allow("required", { type: "web_search" }, f);
    const printed = print("responses", { tools: [search, f, image], include, tool_choice });
    expect(printed).toMatchObject({ tools: [f], include: [include[0]], tool_choice: allow("required", f) });
    const alone = print("responses", { tools: [search], tool_choice: allow("auto", search) });
    expect(alone).toMatchObject({ tools: [], tool_choice: "none" });
  });

  test("is not sent in an item of the input", () => {
    const items = [
      { type: "additional_tools", tools: [f, search] },
      { role: "user", content: "hi" },
    ];
    const { input } = print("responses", { input: items, tools: [f] });
    expect(input).toEqual([{ type: "additional_tools", tools: [f] }, items[1]]);
  });

  test("is dropped by the same bytes each time, and the others keep theirs", () => {
    const text = `{"model":"m","input":"hi", "tools": [ {"type":"function", "name":"f"},{"typ\\u0065":"web\\u005fsearch"} ]}`;
    const request = WIRES.responses.parseRequest(text.replaceAll("\\\\", "\\"));
    const options = {
      model: "m",
      outputTokensMax: 9,
      outputLimitField: undefined,
      droppedTools: ["web_search"],
    };
    const printed = WIRES.responses.printUpstreamRequest(request, options);
    expect(printed).toContain('"tools": [{"type":"function", "name":"f"}]');
    expect(WIRES.responses.printUpstreamRequest(request, options)).toBe(printed);
  });

  test("is not sent to Anthropic, and a body without tools has no choice of one", () => {
    const tool = { name: "f", input_schema: {} };
    const tool_choice = { type: "auto" };
    expect(print("messages", { tools: [SEARCH, tool], tool_choice })).toMatchObject({
      tools: [tool],
      tool_choice,
    });
    const printed = print("messages", { tools: [SEARCH], tool_choice });
    expect(Object.keys(printed)).not.toContain("tools");
    expect(Object.keys(printed)).not.toContain("tool_choice");
  });

  test("leaves the end of a cached prefix to the tool before it", () => {
    const [tool, cache_control] = [
      { name: "f", input_schema: {} },
      { type: "ephemeral", ttl: "1h" },
    ];
    const marked = { ...SEARCH, cache_control };
    expect(print("messages", { tools: [tool, marked, tool] }).tools).toEqual([
      { ...tool, cache_control },
      tool,
    ]);
    const own = { ...tool, cache_control: { type: "ephemeral" } };
    expect(print("messages", { tools: [own, marked] }).tools).toEqual([own]);
    expect(print("messages", { tools: [marked, tool] }).tools).toEqual([tool]);
  });
});

/** Reads a stream of events and returns the calls that it reported, one entry for each change. */
function callsIn(format: Format, members: object, events: readonly object[]): ReplyPart["calls"][] {
  const reader = WIRES[format].readStream(parse(format, { ...members, stream: true }));
  return events.flatMap((event) => {
    const { calls } = reader.read({
      event: "type" in event ? String(event.type) : "",
      data: JSON.stringify(event),
    });
    return calls ? [calls] : [];
  });
}

describe("the calls of an answer", () => {
  const start = {
    type: "message_start",
    message: {
      role: "assistant",
      content: [],
      usage: { input_tokens: 5, output_tokens: 1, server_tool_use: { web_search_requests: 0 } },
    },
  };
  const search = (index: number, name = "web_search") => ({
    type: "content_block_start",
    index,
    content_block: { type: "server_tool_use", id: `s${index}`, name, input: {} },
  });
  const end = (server_tool_use?: object) => ({
    type: "message_delta",
    delta: { stop_reason: "end_turn" },
    usage: { output_tokens: 9, server_tool_use },
  });

  test("of a message are counted as they begin, and by the report at the end", () => {
    const tools = [SEARCH];
    expect(callsIn("messages", { tools }, [start, search(0), search(1)])).toEqual([
      { web_search: 1 },
      { web_search: 2 },
    ]);
    const ended = callsIn("messages", { tools }, [
      start,
      search(0),
      search(1),
      end({ web_search_requests: 1 }),
    ]);
    expect(ended.at(-1)).toEqual({ web_search: 1 });
    expect(callsIn("messages", { tools }, [start, search(0), end()]).at(-1)).toEqual({ web_search: 1 });
    const rejected = [start, search(0), end({ web_search_requests: "9" })];
    expect(callsIn("messages", { tools }, rejected).at(-1)).toEqual({ web_search: 1 });
  });

  test("of a container of a message are one", () => {
    const tools = [{ type: "code_execution_20250825", name: "code_execution" }];
    const events = [start, search(0, "bash_code_execution"), search(1, "text_editor_code_execution"), end()];
    expect(callsIn("messages", { tools }, events).at(-1)).toEqual({ code_execution: 1 });
  });

  const item = (type: string, output_index: number, more: object = {}) => ({
    type: `response.output_item.${type}`,
    output_index,
    item: { type: "web_search_call", id: `w${output_index}`, ...more },
  });
  const page = { action: { type: "open_page", url: "https://x.example" } };

  test("of a response are its searches, without the pages that it opened", () => {
    const tools = [{ type: "web_search" }];
    const events = [item("added", 0), item("done", 0, { action: { type: "search" } }), item("added", 1)];
    expect(callsIn("responses", { tools }, events).at(-1)).toEqual({ web_search: 2 });
    expect(callsIn("responses", { tools }, [...events, item("done", 1, page)]).at(-1)).toEqual({
      web_search: 1,
    });
    const output = [
      { type: "web_search_call" },
      { type: "web_search_call", ...page },
      { type: "message", content: [] },
    ];
    const finish = { type: "response.completed", response: { status: "completed", output } };
    expect(callsIn("responses", { tools }, [...events, finish]).at(-1)).toEqual({ web_search: 1 });
  });

  test("of a response in one container are one", () => {
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const call = { type: "code_interpreter_call", container_id: "c" };
    const output = [call, call, { ...call, container_id: "d" }];
    const whole = WIRES.responses.readWhole(
      parse("responses", { tools }),
      JSON.stringify({ status: "completed", output, usage: { input_tokens: 1, output_tokens: 1 } }),
    );
    expect(whole.calls).toEqual({ code_interpreter: 2 });
  });

  test("are not read for a request without tools", () => {
    expect(callsIn("messages", {}, [start, search(0), end({ web_search_requests: 3 })])).toEqual([]);
  });
});

describe("the tokens of audio and images", () => {
  test.each<[string, object, object]>([
    [
      "with those from the cache apart",
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: {
          cached_tokens: 40,
          audio_tokens: 30,
          cached_tokens_details: { audio_tokens: 10 },
        },
        completion_tokens_details: { audio_tokens: 45 },
      },
      {
        inputTokens: 60,
        outputTokens: 50,
        audio: { inputTokens: 20, cachedInputTokens: 10, outputTokens: 45 },
      },
    ],
    [
      "as cached only where the uncached input has no room for them",
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 90, image_tokens: 60 },
      },
      { image: { inputTokens: 10, cachedInputTokens: 50, outputTokens: 0 } },
    ],
  ])("of chat are read %s", (_name, usage, expected) => {
    const text = JSON.stringify({
      choices: [{ message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
      usage,
    });
    expect(WIRES.chat.readWhole(parse("chat", {}), text).usage).toMatchObject(expected);
  });

  test("are absent from a usage of text alone", () => {
    const usage = { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { audio_tokens: 0 } };
    const text = JSON.stringify({
      choices: [{ message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
      usage,
    });
    expect(Object.keys(WIRES.chat.readWhole(parse("chat", {}), text).usage ?? {})).not.toContain("audio");
  });
});
