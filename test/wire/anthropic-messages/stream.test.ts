import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { eventsOf, play, requestOf } from "../play.ts";

const FIXTURE = readFileSync(join(import.meta.dir, "../../fixtures/messages-thinking-tool.sse"), "utf8");

function event(type: string, members: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

function run(stream: string) {
  return play(anthropicMessages, requestOf(anthropicMessages), stream);
}

const START = event("message_start", {
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "theirs",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  },
});
const block = (content: object) => event("content_block_start", { index: 0, content_block: content });
const delta = (content: object) => event("content_block_delta", { index: 0, delta: content });
const TEXT =
  block({ type: "text", text: "" }) +
  delta({ type: "text_delta", text: "Hi" }) +
  event("content_block_stop", { index: 0 });
const finish = (reason: unknown, usage: object = { output_tokens: 7 }) =>
  event("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage });
const FINISH = finish("end_turn");
const STOP = event("message_stop");

describe("a passthrough stream", () => {
  test("passes byte for byte except for the model name in its start", () => {
    const { early, ending } = run(FIXTURE);
    expect(early + ending).toBe(FIXTURE.replace('"host-thinker-2"', '"asked"'));
  });

  test("keeps odd spacing and unknown members", () => {
    const odd =
      'event: message_start\ndata: { "type":"message_start" , "message":{"model" :"theirs","x":1.0,"content":[ ]} }\n\n';
    expect(run(odd).early).toBe(odd.replace('"theirs"', '"asked"'));
  });

  test("does not change a model name inside generated text", () => {
    const text = delta({ type: "text_delta", text: '{"model":"theirs"}' });
    expect(run(START + block({ type: "text", text: "" }) + text).early).toEndWith(text);
  });

  test("holds back its stop reason and its end, and drops everything behind them", () => {
    const late = event("ping") + TEXT;
    const { early, ending, finished, done } = run(START + TEXT + FINISH + late + STOP);
    expect(eventsOf(early).map((each) => each.event)).not.toContain("message_delta");
    expect(ending).toBe(FINISH + STOP);
    expect({ finished, done }).toEqual({ finished: true, done: true });
  });

  test("is finished without message_stop, which the ending then adds", () => {
    const { ending, finished, done } = run(START + TEXT + FINISH);
    expect({ finished, done }).toEqual({ finished: true, done: false });
    expect(ending).toBe(FINISH + STOP);
  });

  test("finishes once: a later message_delta changes only the usage", () => {
    const { early, ending, usage } = run(START + TEXT + FINISH + finish(null, { output_tokens: 8 }) + STOP);
    expect(early).not.toContain('stop_reason":"');
    expect(ending).toBe(finish("end_turn", { output_tokens: 8 }) + STOP);
    expect(usage).toMatchObject({ outputTokens: 8 });
    const bare = event("message_delta", { delta: { stop_reason: "refusal" } });
    expect(run(START + TEXT + FINISH + bare + STOP).ending).toBe(FINISH + STOP);
  });

  test("is not finished by a message_delta without a stop reason", () => {
    const played = run(START + TEXT + finish(null));
    expect(played.finished).toBe(false);
    expect(played.early).toEndWith(finish(null));
  });

  test("reads nothing after its last event", () =>
    expect(run(`${START + TEXT + FINISH + STOP}data: [DONE]\n\n${START}`).ending).toBe(FINISH + STOP));

  test("stays finished when a later event is malformed", () =>
    expect(run(`${START + TEXT + FINISH}event: message_stop\ndata: {"ty`).finished).toBe(true));

  test("names every event, even when the upstream sends no name or another one", () => {
    const nameless = (START + TEXT + FINISH + STOP).replaceAll(/event: .*\n/g, "");
    const misnamed = (START + TEXT + FINISH + STOP).replaceAll(/event: .*\n/g, "event: message\n");
    for (const stream of [nameless, misnamed]) {
      const { early, ending } = run(stream);
      for (const { event: name, data } of eventsOf(early + ending)) expect(name).toBe(JSON.parse(data).type);
    }
  });

  test("passes unknown events", () => {
    const news = event("message_note", { x: 1 });
    expect(run(START + news).early).toEndWith(news);
  });

  test("throws when its ending is read before its finish", () => {
    const reader = anthropicMessages.readStream(requestOf(anthropicMessages));
    expect(() => reader.ending()).toThrow();
  });

  test("reads identically wherever its bytes are cut", () => {
    const bytes = new TextEncoder().encode(FIXTURE);
    const request = requestOf(anthropicMessages);
    const whole = play(anthropicMessages, request, [bytes]);
    for (let at = 1; at < bytes.length; at += 1) {
      expect(play(anthropicMessages, request, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
    expect(
      play(
        anthropicMessages,
        request,
        Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
      ),
    ).toEqual(whole);
  });
});

describe("the meaning of an event", () => {
  const nothing = { isOutput: false, isReadable: false, generated: "" };
  const tool = { type: "tool_use", id: "t", name: "f", input: {} };
  test.each<[string, string, object]>([
    ["ping", event("ping"), nothing],
    ["a text block", block({ type: "text", text: "" }), { isOutput: true, isReadable: false }],
    [
      "a text block that starts with text",
      block({ type: "text", text: "Hi" }),
      { isReadable: true, generated: "Hi" },
    ],
    [
      "text",
      delta({ type: "text_delta", text: "Hi" }),
      { isOutput: true, isReadable: true, generated: "Hi" },
    ],
    ["empty text", delta({ type: "text_delta", text: "" }), nothing],
    [
      "a thinking block",
      block({ type: "thinking", thinking: "", signature: "" }),
      { isOutput: true, isReadable: false },
    ],
    [
      "thinking",
      delta({ type: "thinking_delta", thinking: "hm" }),
      { isOutput: true, isReadable: false, generated: "hm" },
    ],
    ["a signature", delta({ type: "signature_delta", signature: "c2ln" }), nothing],
    [
      "redacted thinking",
      block({ type: "redacted_thinking", data: "eA==" }),
      { isOutput: true, isReadable: false, generated: "" },
    ],
    ["a tool call", block(tool), { isOutput: true, isReadable: true, generated: "f" }],
    [
      "a tool's input",
      delta({ type: "input_json_delta", partial_json: '{"a' }),
      { isOutput: true, isReadable: true, generated: '{"a' },
    ],
    [
      "a server tool's call",
      block({ ...tool, type: "server_tool_use" }),
      { isReadable: true, generated: "f" },
    ],
    [
      "a server tool's result",
      block({ type: "web_search_tool_result", content: [{ title: "x" }] }),
      { isReadable: true, generated: "" },
    ],
    ["a citation", delta({ type: "citations_delta", citation: {} }), nothing],
    ["a block's end", event("content_block_stop", { index: 0 }), nothing],
  ])("is correct for %s", (_, stream, meaning) => {
    expect(run(START + stream).parts[1]).toMatchObject(meaning);
  });

  test("has no output for message_start", () => expect(run(START).parts[0]).toMatchObject(nothing));

  test("is readable for a refusal without text", () => {
    expect(run(START + finish("refusal") + STOP)).toMatchObject({
      isReadable: true,
      isOutput: true,
      finished: true,
    });
  });

  test("is not readable for thinking alone", () => {
    const thinking =
      block({ type: "thinking", thinking: "" }) + delta({ type: "thinking_delta", thinking: "hm" });
    expect(run(START + thinking + FINISH + STOP)).toMatchObject({
      isReadable: false,
      isOutput: true,
      finished: true,
    });
  });

  test("does not change unknown stop reasons", () =>
    expect(run(START + TEXT + finish("pause_turn") + STOP).ending).toContain('"pause_turn"'));
});

describe("the usage of a stream", () => {
  test("is cumulative: the end replaces counts of the start and keeps those that it omits", () => {
    const { parts, usage } = run(START + TEXT + finish("end_turn", { output_tokens: 42 }) + STOP);
    const expected = { ...NO_USAGE, inputTokens: 10, outputTokens: 42 };
    expect(parts[0]?.usage).toEqual({ ...expected, outputTokens: 1 });
    expect(usage).toEqual(expected);
  });

  test("keeps a count of the start that is null at the end", () => {
    const { usage } = run(START + TEXT + finish("end_turn", { input_tokens: null, output_tokens: 5 }) + STOP);
    expect(usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
  });

  test("grows when a server tool reads more input", () => {
    const { usage } = run(
      START +
        TEXT +
        finish("end_turn", { input_tokens: 9000, cache_read_input_tokens: 4, output_tokens: 5 }) +
        STOP,
    );
    expect(usage).toMatchObject({ inputTokens: 9000, cachedInputTokens: 4, outputTokens: 5 });
  });

  test("splits the cache writes of the fixture by lifetime", () => {
    expect(run(FIXTURE).usage).toEqual({
      inputTokens: 21,
      cachedInputTokens: 300,
      cacheWriteTokens: 40,
      cacheWrite1hTokens: 60,
      outputTokens: 57,
    });
  });

  test.each([
    ["no usage", {}],
    ["usage without an output", { usage: { input_tokens: 10 } }],
    ["usage that is a string", { usage: { output_tokens: "42" } }],
  ])("has NaN output tokens when the end has %s", (_, members) => {
    const end = event("message_delta", { delta: { stop_reason: "end_turn" }, ...members });
    expect(run(START + TEXT + end + STOP).usage?.outputTokens).toBeNaN();
  });

  test("is undefined when no event has any", () => {
    const bare = event("message_start", { message: { model: "theirs", content: [] } });
    const { usage, finished } = run(
      bare + TEXT + event("message_delta", { delta: { stop_reason: "end_turn" } }) + STOP,
    );
    expect({ usage, finished }).toEqual({ usage: undefined, finished: true });
  });
});

describe("a faulty stream", () => {
  test.each([
    [
      "an error event",
      `${START}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"canary"}}\n\n`,
    ],
    ["an error without a name", `${START}data: {"type":"error","error":{"message":"canary"}}\n\n`],
    [
      "an error after the finish",
      `${START + TEXT + FINISH}event: error\ndata: {"type":"error","error":{"message":"canary"}}\n\n`,
    ],
    ["an OpenAI error", `${START}data: {"error":{"message":"canary"}}\n\n`],
    ["HTML", "data: <html>canary\n\n"],
    ["a list", `${START}data: ["canary"]\n\n`],
    ["an event without a type", `${START}data: {"x":"canary"}\n\n`],
    ["a type that would break the framing", `${START}data: {"type":"x\\nevent: canary"}\n\n`],
    ["a start without a message", 'data: {"type":"message_start"}\n\n'],
    ["content before the start", TEXT],
    ["a message_stop without a stop reason", START + TEXT + STOP],
    ["an error as the stop reason", START + TEXT + finish("error")],
    ["half an event", `${START}data: {"type":"ping`],
  ])("with %s is a fault that does not quote the upstream", (_, stream) => {
    let fault: unknown;
    try {
      run(stream);
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(UpstreamFault);
    expect(`${fault} ${JSON.stringify(fault)}`).not.toContain("canary");
  });
});
