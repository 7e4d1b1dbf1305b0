import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatEvent } from "../../../src/domain/chat-event.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { readEvents, readReply } from "../../../src/wire/openai-chat/egress/read-answer.ts";
import { collectReply } from "../../../src/wire/translate.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { eventsOf } from "../play.ts";

const DONE = "data: [DONE]\n\n";
const USAGE = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };
const OUR_USAGE = { ...NO_USAGE, inputTokens: 10, outputTokens: 3 };

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function chunk(delta: unknown, finish: unknown = null, extra: object = {}): string {
  return data({ id: "chunk-1", choices: [{ index: 0, delta, finish_reason: finish }], ...extra });
}

const ROLE = chunk({ role: "assistant", content: "" });
const STOP = chunk({}, "stop");

/** Reads all events of a stream. */
function read(stream: string): readonly ChatEvent[] {
  const reader = readEvents();
  return eventsOf(stream).flatMap((event) => reader.read(event));
}

/** Reads deltas as a stream. Returns the events without the finish. */
function outputOf(...deltas: object[]): readonly ChatEvent[] {
  return read(ROLE + deltas.map((delta) => chunk(delta)).join("") + STOP + DONE).slice(0, -1);
}

/** Reads a whole message. Returns the events without the finish. */
function outputOfWhole(message: object): readonly ChatEvent[] {
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return readReply(JSON.stringify({ id: "answer-1", choices })).slice(0, -1);
}

function faultOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

const finish = (reason: string) => ({ kind: "finish", reason, stopSequence: undefined });
const text = (value: string) => ({ kind: "text", text: value });
const reasoning = (value: string) => ({ kind: "reasoning", text: value });
const signedBy = (signature: string) => ({ kind: "reasoning_signature", signature });
const begin = (call: number, id: string, name = "f") => ({ kind: "tool_call", call, id, name });
const input = (call: number, json: string) => ({ kind: "tool_input", call, json });

describe("a stream", () => {
  test("is read to its texts, its finish and its usage", () => {
    const usage = data({
      choices: [],
      usage: { ...USAGE, completion_tokens_details: { reasoning_tokens: 2 } },
    });
    const events = read(ROLE + chunk({ content: "Hel" }) + chunk({ content: "lo" }) + STOP + usage + DONE);
    expect(events as unknown).toEqual([
      text("Hel"),
      text("lo"),
      finish("stop"),
      { kind: "usage", usage: OUR_USAGE, reasoningTokens: 2 },
    ]);
  });

  test("is finished at its finish and done at its end mark", () => {
    const reader = readEvents();
    const states = eventsOf(ROLE + STOP + DONE + STOP).map((event) => {
      const events = reader.read(event);
      return { events: events.length, finished: reader.finished, done: reader.done };
    });
    expect(states).toEqual([
      { events: 0, finished: false, done: false },
      { events: 1, finished: true, done: false },
      { events: 0, finished: true, done: true },
      { events: 0, finished: true, done: true },
    ]);
  });

  test("case 34: reports usage wherever it arrives, in order", () => {
    const at = (tokens: number) => ({
      usage: { ...USAGE, completion_tokens: tokens, total_tokens: 10 + tokens },
    });
    const stream = chunk({ content: "a" }, null, at(1)) + chunk({}, "stop", at(2)) + data(at(3)) + DONE;
    const reported = read(stream).flatMap((event) =>
      event.kind === "usage" ? [event.usage.outputTokens] : [],
    );
    expect(reported).toEqual([1, 2, 3]);
  });

  test("case 60: counts each class of input once", () => {
    const usage = {
      prompt_tokens: 17,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
    };
    expect(read(STOP + data({ usage }))[1]).toMatchObject({
      usage: { inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 3, outputTokens: 7 },
      reasoningTokens: undefined,
    });
  });

  test.each([[{ ...USAGE, prompt_tokens: "10", completion_tokens: "3" }], ["much"], [null], [[]]])(
    "has no usage if it is reported as %j",
    (usage) => expect(read(STOP + data({ choices: [], usage })) as unknown).toEqual([finish("stop")]),
  );

  test("reports only usage after its finish", () => {
    const tail = chunk({ content: "more" }) + chunk({}, "length") + data({ choices: ["x"], usage: USAGE });
    expect(read(STOP + tail + DONE).map(({ kind }) => kind)).toEqual(["finish", "usage"]);
  });

  test("stays finished if invalid JSON follows", () =>
    expect(read(`${STOP}data: {"choi\n\n`) as unknown).toEqual([finish("stop")]));

  test("reports output of the finish chunk before the finish", () =>
    expect(read(chunk({ content: "a" }, "length")) as unknown).toEqual([text("a"), finish("length")]));
});

describe("a finish reason", () => {
  test.each([
    ["stop", "stop"],
    ["end_turn", "stop"],
    ["eos", "stop"],
    ["length", "length"],
    ["MAX_TOKENS", "length"],
    ["tool_use", "tool_calls"],
    ["function_call", "tool_calls"],
    ["content_filter", "content_filter"],
    ["SAFETY", "content_filter"],
  ])("case 28: %s is read as %s", (value, reason) => {
    expect(read(ROLE + chunk({}, value) + DONE) as unknown).toEqual([finish(reason)]);
  });

  test.each(["error", "abort", 7, {}])("case 28: %j throws an UpstreamFault", (value) => {
    expect(() => read(ROLE + chunk({}, value))).toThrow(UpstreamFault);
    expect(() => readReply(JSON.stringify({ choices: [{ message: {}, finish_reason: value }] }))).toThrow(
      UpstreamFault,
    );
  });

  test("case 29: is required at the end, or an UpstreamFault is thrown", () => {
    expect(() => read(ROLE + chunk({ content: "a" }) + DONE)).toThrow(UpstreamFault);
    expect(() => readReply(JSON.stringify({ choices: [{ message: { content: "a" } }] }))).toThrow(
      UpstreamFault,
    );
  });

  test("case 32: stop is read as tool_calls after calls", () => {
    const call = { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }] };
    expect(read(chunk(call) + STOP).at(-1) as unknown).toEqual(finish("tool_calls"));
    expect(read(chunk(call) + chunk({}, "length")).at(-1) as unknown).toEqual(finish("length"));
  });
});

describe("the texts of a message", () => {
  test.each<[string, object, object[]]>([
    ["text", { content: "a" }, [text("a")]],
    ["an empty message", { content: "", refusal: null, tool_calls: [] }, []],
    ["text in parts", { content: [{ type: "text", text: "a" }] }, [text("a")]],
    [
      "text in parts of an unknown type",
      { content: [{ type: "output_text", text: "a" }, { text: "b" }, { type: "image", text: 7 }] },
      [text("ab")],
    ],
    [
      "reasoning under each of its names",
      {
        content: ["thinking", "reasoning", "reasoning.text", "reasoning_text", "thought"].map((type, at) => ({
          type,
          text: `${at}`,
        })),
      },
      [reasoning("01234")],
    ],
    ["a refusal", { content: null, refusal: "No" }, [{ kind: "refusal", text: "No" }]],
    ["reasoning", { reasoning_content: "hm" }, [reasoning("hm")]],
    ["reasoning under its other name", { reasoning: "hm" }, [reasoning("hm")]],
    ["both at once", { reasoning: "hm", content: "a" }, [reasoning("hm"), text("a")]],
    [
      "reasoning in parts",
      { content: [{ type: "thinking", thinking: [{ text: "hm" }] }] },
      [reasoning("hm")],
    ],
    [
      "reasoning under two names",
      { reasoning: "hm", reasoning_details: [{ type: "reasoning.text", text: "hm" }] },
      [reasoning("hm")],
    ],
    ["a summary", { reasoning_details: [{ type: "reasoning.summary", summary: "hm" }] }, [reasoning("hm")]],
    [
      "signed reasoning",
      { reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "s" }] },
      [reasoning("hm"), signedBy("s")],
    ],
    [
      "a signature beside the text",
      { reasoning: "hm", reasoning_details: [{ type: "reasoning.text", signature: "s" }] },
      [reasoning("hm"), signedBy("s")],
    ],
    [
      "encrypted reasoning",
      { reasoning_details: [{ type: "reasoning.encrypted", data: "xyz" }] },
      [{ kind: "redacted_reasoning", data: "xyz" }],
    ],
    [
      "reasoning with signatures of other providers, which are dropped",
      {
        reasoning_details: [
          { type: "reasoning.text", text: "hm", signature: "s", format: "google-gemini-v1" },
          { type: "reasoning.encrypted", data: "xyz", format: "openai-responses-v1" },
        ],
      },
      [reasoning("hm")],
    ],
    ["audio and images, which are dropped", { audio: { data: "x" }, images: [{}] }, []],
    [
      "members of a wrong type",
      { content: 7, refusal: {}, reasoning: [], reasoning_details: 7, tool_calls: "x" },
      [],
    ],
  ])("are read from %s, streamed and whole", (_, message, events) => {
    expect(outputOf(message) as unknown).toEqual(events);
    expect(outputOfWhole({ role: "assistant", ...message }) as unknown).toEqual(events);
  });

  test("are read once if a signature repeats its text", () => {
    const signed = { reasoning_details: [{ type: "reasoning.text", text: "hmhm", signature: "s" }] };
    expect(outputOf({ reasoning: "hm" }, { reasoning: "hm" }, signed) as unknown).toEqual([
      reasoning("hm"),
      reasoning("hm"),
      signedBy("s"),
    ]);
    expect(outputOf({ reasoning: "hmhm" }, { content: "a" }, signed) as unknown).toEqual([
      reasoning("hmhm"),
      text("a"),
      reasoning("hmhm"),
      signedBy("s"),
    ]);
  });
});

describe("a tool call", () => {
  const fragment = (members: object, value?: object) => ({
    tool_calls: [{ ...members, ...(value && { function: value }) }],
  });

  test("case 30: begins with its id and name and continues with its input as it arrives", () => {
    const events = outputOf(
      fragment({ index: 0, id: "a", type: "function" }, { name: "f", arguments: "" }),
      fragment({ index: 0 }, { arguments: '{"x"' }),
      fragment({ index: 1, id: "b", type: "function" }, { name: "g", arguments: "{}" }),
      fragment({ index: 0 }, { arguments: ":1}" }),
    );
    expect(events as unknown).toEqual([
      begin(0, "a"),
      input(0, '{"x"'),
      begin(1, "b", "g"),
      input(1, "{}"),
      input(0, ":1}"),
    ]);
  });

  test("case 31: gets a number and an id if the host sends neither", () => {
    const events = outputOf(
      fragment({}, { name: "f", arguments: "{}" }),
      fragment({}, { name: "g", arguments: "{}" }),
    );
    expect(events as unknown).toEqual([
      begin(0, "call_chunk-1_0_0"),
      input(0, "{}"),
      begin(1, "call_chunk-1_0_1", "g"),
      input(1, "{}"),
    ]);
  });

  test("case 31: is distinguished by its id if all calls have index 0", () => {
    const call = (id: string) => fragment({ index: 0, id }, { name: "f", arguments: "{}" });
    expect(outputOf(call("a"), call("b")).filter(({ kind }) => kind === "tool_call") as unknown).toEqual([
      begin(0, "a"),
      begin(1, "b"),
    ]);
  });

  test("begins when its name arrives", () => {
    const events = outputOf(
      fragment({ index: 0, id: "a" }, { arguments: "{" }),
      fragment({ index: 1, id: "b" }, { name: "g" }),
      fragment({ index: 0 }, { name: "f", arguments: "}" }),
    );
    expect(events as unknown).toEqual([begin(0, "b", "g"), begin(1, "a"), input(1, "{}")]);
  });

  test("throws an UpstreamFault without a name, unless the answer was cut off", () => {
    const nameless = chunk(fragment({ index: 0, id: "a" }, { arguments: "{}" }));
    expect(() => read(nameless + STOP)).toThrow(UpstreamFault);
    expect(read(nameless + chunk({}, "length")) as unknown).toEqual([finish("length")]);
    expect(() => outputOfWhole(fragment({ id: "a" }))).toThrow(UpstreamFault);
  });

  test("gets a generated id if its id is repeated", () => {
    const call = (index: number) => fragment({ index, id: "a" }, { name: "f" });
    expect(outputOf(call(0), call(1)) as unknown).toEqual([begin(0, "a"), begin(1, "call_chunk-1_0_1")]);
  });

  test("is read from the deprecated function_call", () => {
    const events = outputOf(
      { function_call: { name: "f", arguments: "{" } },
      { function_call: { arguments: "}" } },
    );
    expect(events as unknown).toEqual([begin(0, "call_chunk-1_0_0"), input(0, "{"), input(0, "}")]);
    expect(
      outputOfWhole({ content: null, function_call: { name: "f", arguments: "{}" } }) as unknown,
    ).toEqual([begin(0, "call_answer-1_0_0"), input(0, "{}")]);
  });

  test("of a whole message is separate at any index", () => {
    const call = (id: string) => ({ index: 0, id, function: { name: "f", arguments: { x: 1 } } });
    expect(outputOfWhole({ tool_calls: [call("a"), call("")] }) as unknown).toEqual([
      begin(0, "a"),
      input(0, '{"x":1}'),
      begin(1, "call_answer-1_0_1"),
      input(1, '{"x":1}'),
    ]);
  });
});

describe("a malformed answer", () => {
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const deepCall = `{"index":0,"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":${deep}}}]}}`;
  const waiting = chunk({ tool_calls: [{ index: 0, function: { arguments: " ".repeat(100_000) } }] });

  test.each([
    ["HTML", "data: <html>\n\n"],
    ["a list", "data: []\n\n"],
    ["an error object", data({ error: { message: "canary" } })],
    ["an error event", 'event: error\ndata: {"message":"canary"}\n\n'],
    ["an error of the choice", data({ choices: [{ index: 0, delta: {}, error: { message: "canary" } }] })],
    ["a choice that was not requested", data({ choices: [{ index: 1, delta: { content: "canary" } }] })],
    ["a choice that is not an object", data({ choices: ["canary"] })],
    ["129 choices", data({ choices: Array(129).fill({ index: 0, delta: {} }) })],
    ["a tool call that is not an object", chunk({ tool_calls: ["canary"] })],
    ["half a chunk", 'data: {"choices":[{"ind\n\n'],
    ["a chunk of a million values", `data: {"choices":[],"x":[${"0,".repeat(1_000_000)}0]}\n\n`],
    [
      "thousands of calls",
      Array.from({ length: 11_000 }, (_, index) => chunk({ tool_calls: [{ index }] })).join(""),
    ],
    ["an id of megabytes", chunk({ tool_calls: [{ id: "i".repeat(2_000_000), function: { name: "f" } }] })],
    ["arguments that nest too deep", `data: {"choices":[${deepCall}]}\n\n`],
    ["arguments of a call that never gets a name", waiting.repeat(12)],
  ])("throws an UpstreamFault without text of the upstream in a stream: %s", (_, stream) => {
    const fault = faultOf(() => read(ROLE + stream));
    expect(fault).toBeInstanceOf(UpstreamFault);
    expect(`${fault} ${JSON.stringify(fault)}`).not.toContain("canary");
  });

  test.each([
    ["HTML", "<html>canary"],
    ["an error", '{"error":"canary","choices":[{"message":{},"finish_reason":"stop"}]}'],
    ["no choices", '{"choices":[]}'],
    ["several choices", '{"choices":[{"message":{},"finish_reason":"stop"},{"index":1}]}'],
    ["a choice that was not requested", '{"choices":[{"index":1,"message":{},"finish_reason":"stop"}]}'],
    ["a choice that failed", '{"choices":[{"error":"canary","message":{},"finish_reason":"stop"}]}'],
    ["no message", '{"choices":[{"finish_reason":"stop"}]}'],
    ["a call that is not an object", '{"choices":[{"message":{"tool_calls":[7]},"finish_reason":"stop"}]}'],
    ["five million values", `{"choices":[${"0,".repeat(5_000_000)}0]}`],
  ])("throws an UpstreamFault without text of the upstream as a whole: %s", (_, body) => {
    const fault = faultOf(() => readReply(body));
    expect(fault).toBeInstanceOf(UpstreamFault);
    expect(`${fault} ${JSON.stringify(fault)}`).not.toContain("canary");
  });
});

describe("a recorded stream", () => {
  const fixture = (name: string) => readFileSync(join(import.meta.dir, "../../fixtures", name), "utf8");

  test("with two interleaved calls is read to both calls", () => {
    const reply = collectReply(read(fixture("chat-tool-calls.sse")));
    expect(
      reply.blocks.map((block) => (block.kind === "tool_call" ? [block.name, block.input] : [])),
    ).toEqual([
      ["get_weather", '{"city":"Oslo"}'],
      ["get_time", '{"zone":"UTC"}'],
    ]);
    expect(reply.finish.reason).toBe("tool_calls");
    expect(reply.usage?.usage).toMatchObject({
      inputTokens: 40,
      cachedInputTokens: 60,
      cacheWriteTokens: 20,
    });
  });

  test("with reasoning, CRLF and comments is read to its texts", () => {
    const reply = collectReply(read(fixture("chat-reasoning-crlf.sse")));
    expect(reply.blocks as unknown).toEqual([
      { kind: "reasoning", text: "Two and two.", signature: undefined },
      { kind: "text", text: "Four" },
    ]);
  });
});

describe("an answer with too many pieces", () => {
  const alternating = (count: number) =>
    Array.from({ length: count }, (_, at) => (at % 2 === 0 ? { reasoning: "a" } : { content: "b" }));
  const signed = { type: "reasoning.encrypted", data: "x" };
  const fragment = { index: 0, function: { name: "f", arguments: "1" } };
  const times = (count: number, value: object) => Array.from({ length: count }, () => value);

  test("throws an UpstreamFault if it changes between kinds of text", () => {
    expect(outputOf(...alternating(10_000))).toHaveLength(10_000);
    expect(faultOf(() => outputOf(...alternating(10_001)))).toBeInstanceOf(UpstreamFault);
  });

  test.each([
    ["signed reasoning", { reasoning_details: times(10_001, signed) }],
    ["pieces of reasoning", { reasoning_details: times(10_001, { type: "reasoning.text", text: "a" }) }],
    ["calls", { tool_calls: times(10_001, fragment) }],
  ])("%s", (_, message) => {
    expect(faultOf(() => outputOf(message))).toBeInstanceOf(UpstreamFault);
    expect(faultOf(() => outputOfWhole(message))).toBeInstanceOf(UpstreamFault);
  });
});
