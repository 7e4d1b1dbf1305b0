import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/domain/chat-event.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { readEvents, readReply } from "../../../src/wire/anthropic-messages/egress/read-answer.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { eventsOf } from "../play.ts";

const START_USAGE = { input_tokens: 10, output_tokens: 1 };
const START = event("message_start", { message: { usage: START_USAGE } });
const FINISH = finish("end_turn");
const STOP = event("message_stop");
const NO_CACHE = { cachedInputTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };

function event(type: string, members: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

function finish(
  reason: unknown,
  delta: object = {},
  usage: object | undefined = { output_tokens: 7 },
): string {
  return event("message_delta", { delta: { stop_reason: reason, ...delta }, usage });
}

const block = (content: object, index: unknown = 0) =>
  event("content_block_start", { index, content_block: content });
const delta = (content: object, index: unknown = 0) =>
  event("content_block_delta", { index, delta: content });
const input = (json: unknown, index: unknown = 0) =>
  delta({ type: "input_json_delta", partial_json: json }, index);
const text = (words: string) => delta({ type: "text_delta", text: words });
const call = (members: object = {}) => ({ type: "tool_use", id: "t", name: "f", input: {}, ...members });

function run(stream: string) {
  const reader = readEvents();
  const events = eventsOf(stream).flatMap(reader.read);
  return { events, finished: reader.finished, done: reader.done };
}

/** The output events of a stream. */
function outputOf(stream: string): ChatEvent[] {
  const output: ChatEvent["kind"][] = ["finish", "usage"];
  return run(START + stream + FINISH + STOP).events.filter(({ kind }) => !output.includes(kind));
}

describe("a streamed message of an upstream", () => {
  test("is read into output, one finish, and usage that replaces earlier usage", () => {
    const stream = START + block({ type: "text", text: "" }) + text("Hi") + text("") + FINISH + STOP;
    expect(run(stream)).toEqual({
      events: [
        {
          kind: "usage",
          usage: { inputTokens: 10, outputTokens: 1, ...NO_CACHE },
          reasoningTokens: undefined,
        },
        { kind: "began" },
        { kind: "text", text: "Hi" },
        { kind: "finish", reason: "stop", stopSequence: undefined },
        {
          kind: "usage",
          usage: { inputTokens: 10, outputTokens: 7, ...NO_CACHE },
          reasoningTokens: undefined,
        },
      ],
      finished: true,
      done: true,
    });
  });

  test("ends thinking with its signature, and delivers redacted thinking whole", () => {
    const stream =
      block({ type: "thinking", thinking: "", signature: "" }) +
      delta({ type: "thinking_delta", thinking: "hm" }) +
      delta({ type: "signature_delta", signature: "c2ln" }) +
      block({ type: "redacted_thinking", data: "eA==" }, 1);
    expect(outputOf(stream)).toEqual([
      { kind: "began" },
      { kind: "reasoning", text: "hm" },
      { kind: "reasoning_signature", signature: "c2ln" },
      { kind: "redacted_reasoning", data: "eA==" },
    ]);
  });

  test("numbers calls from 0 regardless of block indexes, interleaved or not", () => {
    const stream =
      block({ type: "text", text: "So" }) +
      block(call({ id: "a" }), 1) +
      block(call({ id: "b", name: "g" }), 5) +
      input('{"x"', 5) +
      input('{"y":1}', 1) +
      input("", 1) +
      input(":2}", 5);
    expect(outputOf(stream)).toEqual([
      { kind: "text", text: "So" },
      { kind: "tool_call", call: 0, id: "a", name: "f" },
      { kind: "tool_call", call: 1, id: "b", name: "g" },
      { kind: "tool_input", call: 1, json: '{"x"' },
      { kind: "tool_input", call: 0, json: '{"y":1}' },
      { kind: "tool_input", call: 1, json: ":2}" },
    ]);
  });

  test("delivers an input once when the start and the deltas both contain it", () => {
    const stream = block(call({ input: { a: 1 } })) + input('{"a":1}');
    expect(outputOf(stream)).toEqual([
      { kind: "tool_call", call: 0, id: "t", name: "f" },
      { kind: "tool_input", call: 0, json: '{"a":1}' },
    ]);
  });

  test("omits server tools, citations and unknown events", () => {
    const stream =
      block({ type: "server_tool_use", id: "s", name: "web_search", input: {} }) +
      input('{"query":"q"}') +
      event("content_block_stop", { index: 0 }) +
      block({ type: "web_search_tool_result", content: [{ title: "found" }] }, 1) +
      block({ type: "text", text: "" }, 2) +
      delta({ type: "citations_delta", citation: {} }, 2) +
      event("message_note") +
      event("ping") +
      text("Hi");
    const began = { kind: "began" } as const;
    expect(outputOf(stream)).toEqual([began, began, began, { kind: "text", text: "Hi" }]);
  });

  test("is a fault above 10,000 blocks", () => {
    const many = (count: number) => block({ type: "text", text: "" }).repeat(count);
    expect(outputOf(many(10_000))).toHaveLength(10_000);
    expect(() => outputOf(many(10_001))).toThrow(UpstreamFault);
  });

  test.each<[string, object, object]>([
    ["end_turn", {}, { reason: "stop", stopSequence: undefined }],
    ["stop_sequence", { stop_sequence: "END" }, { reason: "stop", stopSequence: "END" }],
    ["max_tokens", {}, { reason: "length" }],
    ["model_context_window_exceeded", {}, { reason: "length" }],
    ["tool_use", {}, { reason: "tool_calls" }],
    ["refusal", {}, { reason: "content_filter" }],
    ["pause_turn", {}, { reason: "stop" }],
    ["newer", {}, { reason: "stop" }],
  ])("with stop reason %s and %j has the matching finish", (reason, more, expected) => {
    const { events } = run(START + finish(reason, more) + STOP);
    expect(events.find(({ kind }) => kind === "finish")).toMatchObject(expected);
  });

  test("case 42: delivers the explanation of a refusal before the finish", () => {
    const stop_details = { type: "refusal", category: "cyber", explanation: "No." };
    const { events } = run(START + finish("refusal", { stop_details }) + STOP);
    expect(events.slice(1, 3)).toEqual([
      { kind: "refusal", text: "No." },
      { kind: "finish", reason: "content_filter", stopSequence: undefined },
    ]);
  });

  test("delivers only usage after the finish", () => {
    const late = text("more") + block(call()) + finish("refusal", { stop_details: { explanation: "No." } });
    const { events } = run(START + FINISH + late + finish(null, {}, { output_tokens: 9 }) + STOP + START);
    expect(events.map(({ kind }) => kind)).toEqual(["usage", "finish", "usage", "usage", "usage"]);
    expect(events.at(-1)).toMatchObject({ usage: { outputTokens: 9 } });
  });

  test("case 60: counts cached and written tokens once, and reports thinking tokens apart", () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 3,
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 5 },
    };
    expect(run(START + finish("end_turn", {}, usage)).events.at(-1)).toEqual({
      kind: "usage",
      usage: { ...NO_USAGE, inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 3, outputTokens: 7 },
      reasoningTokens: 5,
    });
  });

  test("does not report the output tokens of its start as its usage", () => {
    const { events } = run(START + event("message_delta", { delta: { stop_reason: "end_turn" } }));
    const last = events.at(-1);
    expect(last?.kind === "usage" && last.usage.outputTokens).toBeNaN();
  });

  test("stays finished when a later event is malformed", () => {
    expect(run(`${START + FINISH}event: message_stop\ndata: {"ty\n\n`)).toMatchObject({
      finished: true,
      done: false,
    });
  });

  test.each<[string, string]>([
    ["no start", text("canary")],
    ["a start without a message", event("message_start")],
    ["an error event", `${START}event: error\ndata: {"type":"error","error":{"message":"canary"}}\n\n`],
    ["an error under another name", START + event("ping", { error: { message: "canary" } })],
    ["an error as the stop reason", START + finish("error")],
    ["an end without a stop reason", START + STOP],
    ["an event that is not JSON", `${START}data: canary\n\n`],
    ["an event without a type", `${START}data: {"canary":1}\n\n`],
    ["a call without a name", START + block(call({ name: "" }))],
    ["a call whose input is no object", START + block(call({ input: "canary" }))],
    ["input for a block that never started", START + input("{}", 3)],
    ["input that is no text", START + block(call()) + input({ canary: 1 })],
  ])("%s is a fault that does not quote the upstream", (_, stream) => {
    expect(() => run(stream)).toThrow(UpstreamFault);
    expect(() => run(stream)).not.toThrow(/canary/);
  });
});

describe("a whole message of an upstream", () => {
  const whole = (content: unknown, members: object = {}) =>
    readReply(JSON.stringify({ type: "message", content, stop_reason: "end_turn", ...members }));

  test("is read into the events of a stream", () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "redacted_thinking", data: "eA==" },
      { type: "text", text: "So", citations: [] },
      "junk",
      { type: "server_tool_use", name: "web_search", input: {} },
      call({ input: { a: [1] } }),
      call({ id: "" }),
    ];
    const usage = { input_tokens: 10, output_tokens: 7, output_tokens_details: { thinking_tokens: 2 } };
    expect(whole(content, { stop_reason: "tool_use", usage })).toEqual([
      { kind: "reasoning", text: "hm" },
      { kind: "reasoning_signature", signature: "c2ln" },
      { kind: "redacted_reasoning", data: "eA==" },
      { kind: "text", text: "So" },
      { kind: "began" },
      { kind: "tool_call", call: 0, id: "t", name: "f" },
      { kind: "tool_input", call: 0, json: '{"a":[1]}' },
      { kind: "tool_call", call: 1, id: "", name: "f" },
      { kind: "finish", reason: "tool_calls", stopSequence: undefined },
      { kind: "usage", usage: { inputTokens: 10, outputTokens: 7, ...NO_CACHE }, reasoningTokens: 2 },
    ]);
  });

  test("keeps all digits of numbers in tool inputs", () => {
    const content = `["junk",{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"f","input": {"n":12345678901234567890, "x":1.0}},
      {"type":"tool_use","id":"u","name":"f","input": { }}]`;
    const events = readReply(`{"type":"message","content":${content},"stop_reason":"tool_use"}`);
    expect(events.filter(({ kind }) => kind === "tool_input")).toEqual([
      { kind: "tool_input", call: 0, json: '{"n":12345678901234567890, "x":1.0}' },
    ]);
  });

  test("has no usage without a readable total", () => {
    for (const usage of [undefined, null, "7", { output_tokens: "7" }]) {
      expect(whole([], { usage }).map(({ kind }) => kind)).toEqual(["finish"]);
    }
  });

  test.each([
    ["HTML", "<html>canary</html>"],
    ["an error", '{"type":"error","error":{"message":"canary"}}'],
    ["no content", '{"type":"message","canary":1}'],
    ["no stop reason", '{"type":"message","content":[]}'],
    ["a call without a name", '{"content":[{"type":"tool_use","id":"canary"}],"stop_reason":"tool_use"}'],
    [
      "a very deeply nested input",
      `{"content":[{"type":"tool_use","name":"f","input":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}],"stop_reason":"tool_use"}`,
    ],
  ])("%s is a fault that does not quote the upstream", (_, body) => {
    expect(() => readReply(body)).toThrow(UpstreamFault);
    expect(() => readReply(body)).not.toThrow(/canary/);
  });
});
