import { expect, test } from "bun:test";
import { assembleStream } from "../../src/recordings/assemble.ts";

const stream = (...events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

test("a chat stream becomes one answer with its text, reasoning and tool calls", () => {
  const piece = (delta: object, finish_reason: string | null = null) => ({
    id: "c",
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const call = (fields: object) => ({ tool_calls: [{ index: 0, ...fields }] });
  const text = stream(
    piece({ role: "assistant", content: "ada@" }),
    piece({ content: "example.com", reasoning_content: "Hm" }),
    piece(call({ id: "t1", type: "function", function: { name: "look", arguments: '{"a"' } })),
    piece(call({ function: { arguments: ":1}" } }), "tool_calls"),
    { id: "c", choices: [], usage: { total_tokens: 3 } },
  );
  expect(assembleStream("chat", `: hi\n\n${text}data: [DONE]\n\n`)).toEqual({
    id: "c",
    model: "m",
    object: "chat.completion",
    usage: { total_tokens: 3 },
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: "ada@example.com",
          reasoning_content: "Hm",
          tool_calls: [{ id: "t1", type: "function", function: { name: "look", arguments: '{"a":1}' } }],
        },
      },
    ],
  });
});

test("a messages stream becomes one message with its blocks", () => {
  const text = stream(
    {
      type: "message_start",
      message: { id: "m", role: "assistant", content: [], usage: { input_tokens: 1 } },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } },
    {
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "t", name: "f", input: {} },
    },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"x":' } },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: "2}" } },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
  );
  expect(assembleStream("messages", text)).toEqual({
    id: "m",
    role: "assistant",
    stop_reason: "tool_use",
    usage: { output_tokens: 9 },
    content: [
      { type: "text", text: "Hello" },
      { type: "tool_use", id: "t", name: "f", input: { x: 2 } },
    ],
  });
});

test("a responses stream becomes its final response, or what came of one that broke off", () => {
  const begun = { type: "response.created", response: { id: "r", output: [] } };
  const deltas = ["Hel", "lo"].map((delta) => ({
    type: "response.output_text.delta",
    output_index: 1,
    delta,
  }));
  const item = { type: "response.output_item.done", output_index: 0, item: { type: "reasoning" } };
  const ended = { type: "response.completed", response: { id: "r", output: [1] } };
  expect(assembleStream("responses", stream(begun, ...deltas, ended))).toEqual({ id: "r", output: [1] });
  expect(assembleStream("responses", stream(begun, item, ...deltas))).toEqual({
    id: "r",
    output: [{ type: "reasoning" }, { text: "Hello" }],
  });
});

test("a stream in Google's form becomes one answer whose adjacent texts are joined", () => {
  const part = (parts: readonly object[], more: object = {}) => ({
    candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
    modelVersion: "g",
  });
  const text = stream(
    part([{ text: "think", thought: true }]),
    part([{ text: "Hel" }]),
    part([{ text: "lo" }, { functionCall: { name: "f" } }], { finishReason: "STOP" }),
  );
  expect(assembleStream("gemini", text)).toEqual({
    modelVersion: "g",
    candidates: [
      {
        index: 0,
        finishReason: "STOP",
        content: {
          role: "model",
          parts: [{ text: "think", thought: true }, { text: "Hello" }, { functionCall: { name: "f" } }],
        },
      },
    ],
  });
});

test("a stream of another format is its last event", () => {
  expect(assembleStream("transcriptions", stream({ delta: "a" }, { text: "ab" }))).toEqual({ text: "ab" });
});

test("a stream that lies about itself neither throws nor grows", () => {
  const lies = [
    { choices: "none" },
    { choices: [null, 1, { index: -1, delta: { content: "x" } }, { index: 1e9, delta: { content: "x" } }] },
    {
      choices: [
        { index: 0, delta: "text" },
        { index: 0, delta: { content: 7, tool_calls: [{ index: "a" }] } },
      ],
    },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: "f" }] } }] },
    { type: "message_start", message: 3, index: {}, delta: [] },
    { type: "content_block_delta", index: 0, delta: { partial_json: "{" } },
    { response: [], candidates: [{ content: { parts: "x" } }, { index: 0.5 }], __proto__: { a: 1 } },
  ];
  for (const surface of ["chat", "messages", "responses", "gemini", "constructor", "images"])
    expect(JSON.stringify(assembleStream(surface, stream(...lies))).length).toBeLessThan(2_000);
  expect(assembleStream("chat", "not a stream")).toBeUndefined();
  expect(assembleStream("chat", "data: [1]\n\ndata: {\n\n")).toBeUndefined();
});
