import { describe, expect, test } from "bun:test";
import type { Cause } from "../../../src/errors.ts";
import { encodeReasoning } from "../../../src/wire/openai-responses/encrypted-reasoning.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/protocol.ts";
import type { ModelRequest } from "../../../src/wire/protocol.ts";
import { refusalOf } from "../play.ts";

const ASK = { model: "asked", input: "Say hello." };
const PNG = "data:image/png;base64,iVBORw0KGgo=";

function parse(members: object = {}): ModelRequest {
  return openaiResponses.parseRequest(JSON.stringify({ ...ASK, ...members }));
}

/** Breaks whoever makes it a text. */
const ODD = { toString: 1, valueOf: 1 };

function message(content: unknown, role = "user") {
  return { type: "message", role, content };
}

describe("parseRequest", () => {
  test("reads what the gateway must know", () => {
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

  test.each<[string, object]>([
    ["a tool", { tools: [{ type: ODD }] }],
    ["a tool of a namespace", { tools: [{ type: "namespace", name: "n", tools: [{ type: ODD }] }] }],
    ["a part", { input: [message([{ type: ODD }])] }],
  ])("%s whose type cannot even be made a text may cost anything", (_name, members) => {
    const { unbounded, serverTools } = parse(members).input;
    expect(unbounded || serverTools).toBe(true);
  });

  test.each<[string, object, string | undefined]>([
    ["no model", { model: undefined }, "model"],
    ["no input", { input: undefined }, "input"],
    ["an input of null", { input: null }, "input"],
    ["an input of an object", { input: {} }, "input"],
    ["an empty input", { input: [] }, "input"],
    ["an item of null", { input: [null] }, "input[0]"],
    ["an item of text", { input: ["hi"] }, "input[0]"],
    ["an item that says nothing of itself", { input: [{}] }, "input[0].type"],
    ["an item whose type is a number", { input: [{ type: 7 }] }, "input[0].type"],
    ["a message without a role", { input: [{ type: "message", content: "hi" }] }, "input[0].role"],
    ["a message without a content", { input: [{ role: "user" }] }, "input[0].content"],
    ["a stream that is a text", { stream: "yes" }, "stream"],
    ["an output limit of nothing", { max_output_tokens: 0 }, "max_output_tokens"],
    ["tools that are no list", { tools: {} }, "tools"],
    ["instructions that are a list", { instructions: [] }, "instructions"],
    ["a text that is a text", { text: "json" }, "text"],
    ["reasoning that is a text", { reasoning: "high" }, "reasoning"],
    ["a background that is a text", { background: "yes" }, "background"],
  ])("%s is a wrong shape", (_, members, path) => {
    const error = refusalOf(openaiResponses, { ...ASK, ...members });
    expect(error.kind).toBe("wrong_shape");
    expect(error.publicMessage).toEndWith(`: ${path}`);
    expect(openaiResponses.statusOf(error)).toBe(400);
  });

  test.each<[string, object, Cause, string]>([
    [
      "an answer that was stored",
      { previous_response_id: "resp_1" },
      "nothing_stored",
      "previous_response_id",
    ],
    ["a stored conversation", { conversation: "conv_1" }, "nothing_stored", "conversation"],
    ["a stored prompt", { prompt: { id: "pmpt_1" } }, "untranslatable", "prompt"],
    ["an answer for later", { background: true }, "untranslatable", "background"],
    [
      "a stored item",
      { input: [message("hi"), { type: "item_reference", id: "msg_1" }] },
      "nothing_stored",
      "input[1]",
    ],
    ["a stored item without its type", { input: [{ id: "msg_1" }] }, "nothing_stored", "input[0]"],
    ["one whose type is null", { input: [{ type: null, id: "msg_1" }] }, "nothing_stored", "input[0]"],
  ])("%s is refused by name, whatever the upstream", (_, members, cause, path) => {
    const error = refusalOf(openaiResponses, { ...ASK, ...members });
    expect(error.kind).toBe(cause);
    expect(error.publicMessage).toEndWith(`: ${path}`);
    expect(openaiResponses.statusOf(error)).toBe(400);
  });

  test("what is set to nothing is not refused", () => {
    const nothing = { previous_response_id: null, conversation: null, prompt: null, background: false };
    expect(() => parse(nothing)).not.toThrow();
  });

  test("a body that says something twice is refused: an upstream could go by the other", () => {
    const twice =
      '{"model":"asked","input":[{"type":"item_reference","id":"x","type":"message"}],"input":"hi"}';
    expect(refusalOf(openaiResponses, twice).kind).toBe("wrong_shape");
  });

  test("what has no price is refused", () => {
    expect(refusalOf(openaiResponses, { ...ASK, service_tier: "priority" }).kind).toBe("unpriced_field");
  });

  test("what is not JSON, or no object, is refused", () => {
    expect(refusalOf(openaiResponses, "{").kind).toBe("not_json");
    expect(refusalOf(openaiResponses, "[]").kind).toBe("wrong_shape");
  });

  test("the prompt is instructions, input and tools", () => {
    const request = parse({
      instructions: "Be brief.",
      input: [message([{ type: "input_text", text: "Hello" }])],
      tools: [{ type: "function", name: "look_up" }],
    });
    const text = request.promptText();
    for (const word of ["Be brief.", "Hello", "look_up"]) expect(text).toContain(word);
  });
});

describe("the size of the input", () => {
  const inputOf = (members: object) => parse(members).input;

  test("inline images are counted and left out of the text", () => {
    const big = `${PNG}${"A".repeat(10_000)}`;
    const { images, textBytes, unbounded } = inputOf({
      input: [message([{ type: "input_image", image_url: big }])],
    });
    expect({ images, unbounded }).toEqual({ images: 1, unbounded: false });
    expect(textBytes).toBeLessThan(300);
  });

  test("images that tools give back are counted too", () => {
    const output = [{ type: "input_image", image_url: PNG }];
    expect(inputOf({ input: [{ type: "function_call_output", call_id: "c", output }] }).images).toBe(1);
  });

  test.each<[string, object]>([
    ["a file", { input: [message([{ type: "input_file", file_url: "https://example.com/a.pdf" }])] }],
    ["a stored image", { input: [message([{ type: "input_image", file_id: "file_1" }])] }],
    ["another kind of inline data", { input: [message([{ type: "input_image", image_url: "data:,x" }])] }],
    ["a sound", { input: [message([{ type: "input_audio" }])] }],
    ["an item that nobody knows", { input: [{ type: "future_call" }] }],
  ])("%s has none that is known", (_, members) => {
    expect(inputOf(members).unbounded).toBe(true);
  });

  test.each<[string, object]>([
    ["a search", { tools: [{ type: "web_search" }] }],
    ["a server of tools", { tools: [{ type: "mcp", server_url: "https://example.com" }] }],
    ["a search in a namespace", { tools: [{ type: "namespace", tools: [{ type: "file_search" }] }] }],
    ["a search that comes later", { input: [{ type: "additional_tools", tools: [{ type: "web_search" }] }] }],
  ])("%s runs at the upstream", (_, members) => {
    expect(inputOf(members)).toMatchObject({ serverTools: true, unbounded: false });
  });

  test("a prompt that is compacted is read twice", () => {
    const context_management = [{ type: "compaction", compact_threshold: 100_000 }];
    expect(inputOf({ context_management }).readings).toBe(2);
    expect(inputOf({}).readings).toBe(1);
  });

  test("tools of the client, its calls and reasoning are in the text", () => {
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

  test("changes the model, the limit and what is stored, and not a byte besides", () => {
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

  test("takes out reasoning that the upstream could not read", () => {
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

  test("leaves an input without such reasoning as it is", () => {
    const input =
      '[ { "role":"user", "content":"The \\"reasoning\\"." } ,\n {"type":"reasoning","encrypted_content":"gAAAA"} ]';
    expect(JSON.parse(print(`{"model":"asked","input":${input}}`)).input).toEqual(JSON.parse(input));
  });
});
