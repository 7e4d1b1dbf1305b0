import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readEvents, readReply } from "../../../src/wire/anthropic-messages/egress/read-answer.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { eventsOf, play, requestOf } from "../play.ts";

const FIXTURE = readFileSync(join(import.meta.dir, "../../fixtures/messages-programmatic-call.sse"), "utf8");
const USAGE = { inputTokens: 21, cachedInputTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
const CODE = { type: "code_execution_20250825", tool_id: "srvtoolu_1" };

function event(type: string, members: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

const startOf = (members: object) =>
  event("message_start", {
    message: {
      model: "theirs",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 3, output_tokens: 1 },
      ...members,
    },
  });
const START = startOf({});
const STOP = event("message_stop");
const PING = event("ping");
const finish = (reason: string, usage: object = { output_tokens: 7 }) =>
  event("message_delta", { delta: { stop_reason: reason }, usage });
const block = (index: number, content: object) =>
  event("content_block_start", { index, content_block: content }) + event("content_block_stop", { index });
const TEXT = block(0, { type: "text", text: "Hi" });
const callBy = (caller: object | undefined, id = "t1") => ({
  type: "tool_use",
  id,
  name: "f",
  input: { a: 1 },
  ...(caller && { caller }),
});
const SERVER_USE = { type: "server_tool_use", id: CODE.tool_id, name: "code_execution", input: {} };
const RESULT = { type: "code_execution_tool_result", tool_use_id: CODE.tool_id, content: {} };

function run(stream: string, members: object = {}) {
  return play(anthropicMessages, requestOf(anthropicMessages, members), stream);
}

function translate(stream: string) {
  const reader = readEvents();
  const events = eventsOf(stream).flatMap(reader.read);
  return { events, finished: reader.finished, done: reader.done };
}

describe("a message_start that contains the whole message", () => {
  test("passes with message_stop, both held back until the end", () => {
    const played = run(FIXTURE);
    expect(played.early).toBe("");
    expect(played.ending).toBe(FIXTURE.replace("host-coder-1", "asked"));
    expect(played).toMatchObject({
      finished: true,
      done: true,
      isOutput: true,
      isReadable: true,
      generated: "get_weatherRome\ncity".replace("Rome\ncity", "city\nRome"),
      usage: { ...USAGE, outputTokens: 13 },
    });
  });

  test("is read as a call, a finish and usage for clients of other formats", () => {
    expect(translate(FIXTURE)).toEqual({
      events: [
        { kind: "began" },
        { kind: "tool_call", call: 0, id: "toolu_code_2", name: "get_weather" },
        { kind: "tool_input", call: 0, json: '{"city":"Rome"}' },
        { kind: "finish", reason: "tool_calls", stopSequence: undefined },
        { kind: "usage", usage: { ...USAGE, outputTokens: 13 }, reasoningTokens: undefined },
      ],
      finished: true,
      done: true,
    });
  });

  test("takes a later usage and keeps its own stop reason", () => {
    const stream = startOf({ content: [{ type: "text", text: "Hi" }], stop_reason: "end_turn" });
    const { ending, usage } = run(stream + finish("max_tokens", { output_tokens: 9 }) + STOP);
    expect(eventsOf(ending).map(({ data }) => JSON.parse(data).delta?.stop_reason)).toEqual([
      undefined,
      "end_turn",
      undefined,
    ]);
    expect(usage).toMatchObject({ inputTokens: 3, outputTokens: 9 });
  });

  test("reports its own usage when no later event has any", () => {
    const stream = startOf({ content: [{ type: "text", text: "Hi" }], stop_reason: "end_turn" });
    expect(run(stream + finish("end_turn", {}) + STOP).usage).toMatchObject({ outputTokens: 1 });
  });

  test("is finished without content when message_stop follows", () => {
    const stream = startOf({ stop_reason: "refusal" }) + PING + STOP;
    const { early, ending, ...played } = run(stream);
    expect(early).toBe("");
    expect(ending).toBe(stream.replace("theirs", "asked"));
    expect(played).toMatchObject({ finished: true, isReadable: true });
    expect(translate(stream)).toMatchObject({ finished: true, done: true });
  });

  test("is not finished when content follows", () => {
    const stream = startOf({ stop_reason: "end_turn" }) + PING + TEXT + finish("max_tokens") + STOP;
    const { early, ending, generated } = run(stream);
    expect(early + ending).toBe(stream.replace("theirs", "asked"));
    expect(early).toContain("Hi");
    expect(early).not.toContain("max_tokens");
    expect(generated).toBe("Hi");
    expect(translate(stream).events).toContainEqual({ kind: "text", text: "Hi" });
    expect(translate(stream).events).toContainEqual({
      kind: "finish",
      reason: "length",
      stopSequence: undefined,
    });
  });

  test("is a fault when content follows and no further stop reason", () => {
    const stream = startOf({ stop_reason: "end_turn" }) + TEXT + STOP;
    expect(() => run(stream)).toThrow(UpstreamFault);
    expect(() => translate(stream)).toThrow(UpstreamFault);
  });

  test("without a stop reason may contain content that later blocks continue", () => {
    const stream = startOf({ content: [{ type: "text", text: "Hi" }] }) + TEXT + finish("end_turn") + STOP;
    const { early, generated } = run(stream);
    expect(early).toStartWith(
      startOf({ content: [{ type: "text", text: "Hi" }] }).replace("theirs", "asked"),
    );
    expect(generated).toBe("HiHi");
    expect(translate(stream).events.filter(({ kind }) => kind === "text")).toHaveLength(2);
  });

  test("is a fault when its stop reason is an error", () => {
    const stream = startOf({ content: [{ type: "text", text: "Hi" }], stop_reason: "error" }) + STOP;
    expect(() => run(stream)).toThrow(UpstreamFault);
    expect(() => translate(stream)).toThrow(UpstreamFault);
  });
});

describe("a message_delta behind the stop reason whose delta is no object", () => {
  for (const delta of ["developer", [{}], 7, null]) {
    test(`keeps the stop reason and stays JSON with ${JSON.stringify(delta)}`, () => {
      const later = event("message_delta", { delta, usage: { output_tokens: 9 } });
      const { ending, usage } = run(START + TEXT + finish("end_turn") + later + STOP);
      const data = eventsOf(ending).map((each) => JSON.parse(each.data));
      expect(data[0]).toEqual({
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { output_tokens: 9 },
      });
      expect(usage?.outputTokens).toBe(9);
    });
  }
});

describe("a second message_start", () => {
  test("is dropped from a stream with its content and usage", () => {
    const second = startOf({
      content: [{ type: "text", text: "No" }],
      stop_reason: "max_tokens",
      usage: { input_tokens: 1_000_000, output_tokens: 1_000_000 },
    });
    const stream = START + second + TEXT + second + finish("end_turn") + STOP;
    const { early, ending, usage } = run(stream);
    expect(early + ending).toBe((START + TEXT + finish("end_turn") + STOP).replace("theirs", "asked"));
    expect(usage).toMatchObject({ inputTokens: 3, outputTokens: 7 });
    expect(translate(stream)).toEqual(translate(START + TEXT + finish("end_turn") + STOP));
  });
});

describe("calls by code that runs at the provider", () => {
  const callsOf = (stream: string) => translate(stream).events.filter(({ kind }) => kind === "tool_call");
  const code = block(0, SERVER_USE) + block(1, callBy(CODE)) + block(2, callBy(CODE, "t2"));

  test("reach the client when the answer stops for tool use", () => {
    expect(callsOf(START + code + finish("tool_use") + STOP)).toEqual([
      { kind: "tool_call", call: 0, id: "t1", name: "f" },
      { kind: "tool_call", call: 1, id: "t2", name: "f" },
    ]);
  });

  test("are dropped when the code has a result", () => {
    expect(callsOf(START + code + block(3, RESULT) + TEXT + finish("end_turn") + STOP)).toEqual([]);
    expect(callsOf(START + code + block(3, RESULT) + finish("tool_use") + STOP)).toEqual([]);
  });

  test("are distinguished from calls by the model, which keep their place", () => {
    const direct = callBy({ type: "direct" }, "t9");
    const stream = START + code + block(3, RESULT) + block(4, direct) + finish("tool_use") + STOP;
    expect(callsOf(stream)).toEqual([{ kind: "tool_call", call: 0, id: "t9", name: "f" }]);
  });

  test("may receive their input in pieces", () => {
    const piece = (json: string) =>
      event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: json } });
    const call = event("content_block_start", {
      index: 0,
      content_block: { ...callBy(CODE), input: {} },
    });
    const stream = START + call + piece('{"a"') + piece(":1}") + finish("tool_use") + STOP;
    expect(translate(stream).events).toContainEqual({ kind: "tool_input", call: 0, json: '{"a":1}' });
  });

  test("are dropped from a whole answer that ended its turn, and otherwise keep the digits of their input", () => {
    const whole = (stop_reason: string, more: readonly object[]) =>
      JSON.stringify({
        content: [SERVER_USE, callBy(CODE), ...more, { type: "text", text: "Hi" }],
        stop_reason,
      }).replace('"a":1', '"a":1.0');
    expect(readReply(whole("end_turn", [RESULT]))).toEqual([
      { kind: "began" },
      { kind: "began" },
      { kind: "began" },
      { kind: "text", text: "Hi" },
      { kind: "finish", reason: "stop", stopSequence: undefined },
    ]);
    expect(readReply(whole("tool_use", []))).toContainEqual({
      kind: "tool_input",
      call: 0,
      json: '{"a":1.0}',
    });
  });
});

describe("a request with max_tokens 0, which only fills a cache", () => {
  const cacheFill = { max_tokens: 0, stream: false };
  const usage = { input_tokens: 4, cache_creation_input_tokens: 900, output_tokens: 0 };

  test("is sent with max_tokens 0", () => {
    const request = requestOf(anthropicMessages, cacheFill);
    expect(request.outputTokensMax).toBe(0);
    const options = { model: "theirs", outputTokensMax: 0, outputLimitField: undefined };
    const body = anthropicMessages.printUpstreamRequest(request, options);
    expect(JSON.parse(body)).toMatchObject({ max_tokens: 0, model: "theirs" });
  });

  test("accepts an empty message as readable, whole or streamed", () => {
    const body = JSON.stringify({ content: [], stop_reason: "max_tokens", usage });
    expect(anthropicMessages.readWhole(requestOf(anthropicMessages, cacheFill), body)).toMatchObject({
      isReadable: true,
      usage: { inputTokens: 4, cacheWriteTokens: 900, outputTokens: 0 },
    });
    const stream = START + finish("max_tokens", usage) + STOP;
    expect(run(stream, { max_tokens: 0 })).toMatchObject({ finished: true, isReadable: true });
    expect(run(startOf({ stop_reason: "max_tokens" }) + STOP, { max_tokens: 0 }).isReadable).toBe(true);
  });

  test("differs from other requests, whose empty answer is not readable", () => {
    const body = JSON.stringify({ content: [], stop_reason: "max_tokens", usage });
    const request = requestOf(anthropicMessages, { max_tokens: 1, stream: false });
    expect(anthropicMessages.readWhole(request, body).isReadable).toBe(false);
    expect(run(START + finish("max_tokens") + STOP).isReadable).toBe(false);
  });
});
