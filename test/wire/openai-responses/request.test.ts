import { describe, expect, test } from "bun:test";
import type { Cause } from "../../../src/errors.ts";
import type { ModelRequest } from "../../../src/wire/model-request.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/format.ts";
import { encodeReasoning } from "../../../src/wire/openai-responses/items.ts";
import { errorOf } from "../play.ts";

const ASK = { model: "asked", input: "Say hello." };
const PNG = "data:image/png;base64,iVBORw0KGgo=";

function parse(members: object = {}): ModelRequest {
  return openaiResponses.parseRequest(JSON.stringify({ ...ASK, ...members }));
}

/** Throws when it is converted to a string. */
const ODD = { toString: 1, valueOf: 1 };

function message(content: unknown, role = "user") {
  return { type: "message", role, content };
}

describe("parseRequest", () => {
  test("reads the facts that the gateway needs", () => {
    expect(parse({ stream: true, max_output_tokens: 77 })).toMatchObject({
      model: "asked",
      stream: true,
      outputTokensMax: 77,
      thinkingTokens: 0,
      choices: 1,
      wantsUsage: true,
      input: { images: 0, unbounded: false },
    });
    expect(parse()).toMatchObject({ stream: false, outputTokensMax: undefined });
  });

  test("counts the input of a part with an object as its type as unbounded", () => {
    expect(parse({ input: [message([{ type: ODD }])] }).input.unbounded).toBe(true);
  });

  test.each<[string, object, string | undefined]>([
    ["no model", { model: undefined }, "model"],
    ["no input", { input: undefined }, "input"],
    ["an input of null", { input: null }, "input"],
    ["an input of an object", { input: {} }, "input"],
    ["an empty input", { input: [] }, "input"],
    ["an item of null", { input: [null] }, "input[0]"],
    ["an item of text", { input: ["hi"] }, "input[0]"],
    ["an item without a type", { input: [{}] }, "input[0].type"],
    ["an item whose type is a number", { input: [{ type: 7 }] }, "input[0].type"],
    ["a message without a role", { input: [{ type: "message", content: "hi" }] }, "input[0].role"],
    ["a message without a content", { input: [{ role: "user" }] }, "input[0].content"],
    ["a stream flag that is a string", { stream: "yes" }, "stream"],
    ["an output limit of 0", { max_output_tokens: 0 }, "max_output_tokens"],
    ["tools as an object", { tools: {} }, "tools"],
    ["instructions that are a list", { instructions: [] }, "instructions"],
    ["a text option that is a string", { text: "json" }, "text"],
    ["a reasoning option that is a string", { reasoning: "high" }, "reasoning"],
    ["a background flag that is a string", { background: "yes" }, "background"],
  ])("throws wrong_shape for %s", (_, members, path) => {
    const error = errorOf(openaiResponses, { ...ASK, ...members });
    expect(error.kind).toBe("wrong_shape");
    expect(error.publicMessage).toEndWith(`: ${path}`);
    expect(openaiResponses.statusOf(error)).toBe(400);
  });

  test.each<[string, object, Cause, string]>([
    ["a stored answer", { previous_response_id: "resp_1" }, "nothing_stored", "previous_response_id"],
    ["a stored conversation", { conversation: "conv_1" }, "nothing_stored", "conversation"],
    ["a stored prompt", { prompt: { id: "pmpt_1" } }, "untranslatable", "prompt"],
    ["a background answer", { background: true }, "untranslatable", "background"],
    [
      "a stored item",
      { input: [message("hi"), { type: "item_reference", id: "msg_1" }] },
      "nothing_stored",
      "input[1]",
    ],
    ["a stored item without its type", { input: [{ id: "msg_1" }] }, "nothing_stored", "input[0]"],
    [
      "a stored item whose type is null",
      { input: [{ type: null, id: "msg_1" }] },
      "nothing_stored",
      "input[0]",
    ],
  ])("rejects %s for every upstream and names its path", (_, members, cause, path) => {
    const error = errorOf(openaiResponses, { ...ASK, ...members });
    expect(error.kind).toBe(cause);
    expect(error.publicMessage).toEndWith(`: ${path}`);
    expect(openaiResponses.statusOf(error)).toBe(400);
  });

  test("accepts references that are null", () => {
    const nothing = { previous_response_id: null, conversation: null, prompt: null, background: false };
    expect(() => parse(nothing)).not.toThrow();
  });

  test("rejects repeated keys, because an upstream could read the other value", () => {
    const twice =
      '{"model":"asked","input":[{"type":"item_reference","id":"x","type":"message"}],"input":"hi"}';
    expect(errorOf(openaiResponses, twice).kind).toBe("wrong_shape");
  });

  test("throws unpriced_field for an unknown service tier", () =>
    expect(errorOf(openaiResponses, { ...ASK, service_tier: "platinum" }).kind).toBe("unpriced_field"));

  test("rejects a body that is no JSON object", () => {
    expect(errorOf(openaiResponses, "{").kind).toBe("not_json");
    expect(errorOf(openaiResponses, "[]").kind).toBe("wrong_shape");
  });

  test("includes instructions, input and tools in the prompt text", () => {
    const request = parse({
      instructions: "Be brief.",
      input: [message([{ type: "input_text", text: "Hello" }])],
      tools: [{ type: "function", name: "look_up" }],
    });
    const text = request.promptText();
    for (const word of ["Be brief.", "Hello", "look_up"]) expect(text).toContain(word);
  });
});

describe("the input size", () => {
  const inputOf = (members: object) => parse(members).input;

  test("counts inline images and excludes them from the text", () => {
    const big = `${PNG}${"A".repeat(10_000)}`;
    const { images, textBytes, unbounded } = inputOf({
      input: [message([{ type: "input_image", image_url: big }])],
    });
    expect({ images, unbounded }).toEqual({ images: 1, unbounded: false });
    expect(textBytes).toBeLessThan(300);
  });

  test("counts images in tool results", () => {
    const output = [{ type: "input_image", image_url: PNG }];
    expect(inputOf({ input: [{ type: "function_call_output", call_id: "c", output }] }).images).toBe(1);
  });

  test.each<[string, object]>([
    ["a file", { input: [message([{ type: "input_file", file_url: "https://example.com/a.pdf" }])] }],
    ["a stored image", { input: [message([{ type: "input_image", file_id: "file_1" }])] }],
    ["inline data that is no image", { input: [message([{ type: "input_image", image_url: "data:,x" }])] }],
    ["audio", { input: [message([{ type: "input_audio" }])] }],
    ["an unknown item", { input: [{ type: "future_call" }] }],
    [
      "a search that an item adds",
      { input: [{ type: "additional_tools", tools: [{ type: "web_search" }] }] },
    ],
  ])("is unbounded with %s", (_, members) => expect(inputOf(members).unbounded).toBe(true));

  test.each<[string, object]>([
    ["a web search", { tools: [{ type: "web_search" }] }],
    ["an MCP server", { tools: [{ type: "mcp", server_url: "https://example.com" }] }],
  ])("reports a server tool for %s", (_, members) => {
    expect(inputOf(members)).toMatchObject({ serverTools: true, unbounded: false });
  });

  test("counts two readings for a prompt that is compacted", () => {
    const context_management = [{ type: "compaction", compact_threshold: 100_000 }];
    expect(inputOf({ context_management }).readings).toBe(2);
    expect(inputOf({}).readings).toBe(1);
  });

  test("is bounded for the client's tools, calls and reasoning", () => {
    const input = [
      { type: "reasoning", summary: [], encrypted_content: "x" },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "done" },
      { type: "custom_tool_call", call_id: "d", name: "g", input: "x" },
      { type: "custom_tool_call_output", call_id: "d", output: [{ type: "input_text", text: "x" }] },
      { type: "additional_tools", tools: [{ type: "function", name: "h" }] },
    ];
    const tools = [
      { type: "custom", name: "g" },
      { type: "namespace", name: "n", tools: [{ type: "function" }] },
    ];
    expect(inputOf({ input, tools })).toMatchObject({ unbounded: false, serverTools: false });
  });
});

describe("printUpstreamRequest", () => {
  const print = (body: string) =>
    openaiResponses.printUpstreamRequest(openaiResponses.parseRequest(body), {
      model: "theirs",
      outputTokensMax: 500,
      outputLimitField: undefined,
    });

  test("replaces model, limit and store flag, and keeps every other byte", () => {
    expect(
      print(
        '{ "model" : "asked", "input":"\\u0048i", "max_output_tokens":900, "store": true, "new_field":1.0 }',
      ),
    ).toBe(
      '{ "model" : "theirs", "input":"\\u0048i", "max_output_tokens":500, "store": false, "new_field":1.0 }',
    );
    expect(print('{"model":"asked","input":"hi"}')).toBe(
      '{"model":"theirs","input":"hi","max_output_tokens":500,"store":false}',
    );
  });

  test("drops reasoning that the upstream cannot read", () => {
    const kept = '{"type":"reasoning","summary":[],"encrypted_content":"gAAAA"}';
    const hi = '{ "role":"user", "content":"\\"reasoning\\"" }';
    const items = [
      '{"type":"reasoning","id":"rs_1","summary":[]}',
      hi,
      kept,
      '{"type":"reasoning","encrypted_content":null}',
      JSON.stringify({ type: "reasoning", encrypted_content: encodeReasoning({ data: "x" }) }),
    ];
    const body = print(`{"model":"asked","input":[ ${items.join(" , ")} ]}`);
    expect(body).toContain(`"input":[${hi},${kept}]`);
  });

  test("keeps an input without such reasoning", () => {
    const input =
      '[ { "role":"user", "content":"The \\"reasoning\\"." } ,\n {"type":"reasoning","encrypted_content":"gAAAA"} ]';
    expect(JSON.parse(print(`{"model":"asked","input":${input}}`)).input).toEqual(JSON.parse(input));
  });
});
