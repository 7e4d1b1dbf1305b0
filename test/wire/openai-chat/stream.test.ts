import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { openaiChat } from "../../../src/wire/openai-chat/format.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { eventsOf, play, requestOf } from "../play.ts";

const WITH_USAGE = { stream_options: { include_usage: true } };
const DONE = "data: [DONE]\n\n";

/** Prints a chunk of OpenAI's shape; members of `extra` come last. */
function chunk(delta: unknown, finishReason: unknown = null, extra: object = {}): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  return data({ id: "c1", object: "chat.completion.chunk", created: 7, model: "theirs", choices, ...extra });
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function run(stream: string, members: object = {}) {
  return play(openaiChat, requestOf(openaiChat, members), stream);
}

/** Returns all chunks that a client reads, without the end mark. */
function chunksOf({ early, ending }: { early: string; ending: string }) {
  return eventsOf(early + ending)
    .filter((event) => event.data !== "[DONE]")
    .map((event) => JSON.parse(event.data));
}

function fixture(name: string): string {
  return readFileSync(join(import.meta.dir, "../../fixtures", name), "utf8");
}

const ROLE = chunk({ role: "assistant", content: "" });
const HELLO = chunk({ content: "Hello" });
const STOP = chunk({}, "stop");
const USAGE = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };
const OUR_USAGE = { ...NO_USAGE, inputTokens: 10, outputTokens: 3 };

describe("a plain stream", () => {
  test("passes byte for byte except the model's name", () => {
    const { early, ending } = run(ROLE + HELLO + STOP + DONE);
    expect(early + ending).toBe((ROLE + HELLO + STOP + DONE).replaceAll('"theirs"', '"asked"'));
  });

  test("holds back the finish and the end mark until the ending", () => {
    const { early, ending, finished, done } = run(ROLE + HELLO + STOP + DONE);
    expect(early).not.toContain("stop");
    expect(eventsOf(ending).map((event) => event.data === "[DONE]")).toEqual([false, true]);
    expect({ finished, done }).toEqual({ finished: true, done: true });
  });

  test("keeps unusual spacing, unknown members and events next to comments", () => {
    const odd =
      'data: { "x" : [1.0, {"model":"theirs"}] , "choices":[ {"delta":{"role":"assistant","content":"a\\u0041"},"index":0,"finish_reason":null} ],"model" : "theirs" }\n\n';
    const { early } = run(`: comment\n\n${odd}${STOP}`);
    expect(early).toBe(odd.replace(/"model" : "theirs"/, '"model" : "asked"'));
  });

  test("adds a missing model's name", () => {
    const { early } = run(chunk({ role: "assistant", content: "a" }, null, { model: undefined }) + STOP);
    expect(chunksOf({ early, ending: "" })[0].model).toBe("asked");
  });

  test("replaces the model in every chunk, whatever precedes it", () => {
    const stream = [1, 2, 3, 4, 5, 6, 7].map((n) =>
      chunk({ role: "assistant", content: "a" }, null, { id: `c${n}` }),
    );
    const tricky = chunk({ content: "a" }, null, { model: "theirs-too" });
    const models = chunksOf(run(stream.join("") + tricky + STOP + DONE)).map((each) => each.model);
    expect(models).toEqual(Array.from({ length: 9 }, () => "asked"));
  });

  test("is finished without an end mark, which the ending adds", () => {
    const { ending, finished, done } = run(ROLE + HELLO + STOP);
    expect({ finished, done }).toEqual({ finished: true, done: false });
    expect(ending).toEndWith(DONE);
  });

  test("ignores everything after the end mark", () => {
    const { ending } = run(ROLE + HELLO + STOP + DONE + DONE + HELLO);
    expect(ending.split("[DONE]")).toHaveLength(2);
    expect(ending).not.toContain("Hello");
  });

  test("is not finished if it breaks off", () => {
    expect(run(ROLE + HELLO).finished).toBe(false);
    expect(run("").finished).toBe(false);
  });

  test("throws if the ending is requested before the finish", () => {
    const reader = openaiChat.readStream(requestOf(openaiChat));
    expect(() => reader.ending()).toThrow();
  });

  test("stays finished if invalid JSON follows", () => {
    const { finished, ending } = run(`${ROLE + HELLO + STOP}data: {"choi`);
    expect(finished).toBe(true);
    expect(ending).toEndWith(DONE);
  });
});

describe("a chunk", () => {
  test.each<[string, object, { isOutput: boolean; isReadable: boolean; generated: string }]>([
    [
      "has no output: a role",
      { role: "assistant", content: "" },
      { isOutput: false, isReadable: false, generated: "" },
    ],
    ["has readable output: text", { content: "Hi" }, { isOutput: true, isReadable: true, generated: "Hi" }],
    [
      "has output that is not readable: reasoning_content",
      { reasoning_content: "hm", content: null },
      { isOutput: true, isReadable: false, generated: "hm" },
    ],
    [
      "has output that is not readable: reasoning",
      { reasoning: "hm" },
      { isOutput: true, isReadable: false, generated: "hm" },
    ],
    [
      "has reasoning once: under two names",
      { reasoning: "hm", reasoning_details: [{ type: "reasoning.text", text: "hm" }] },
      { isOutput: true, isReadable: false, generated: "hm" },
    ],
    [
      "has output that is not readable: reasoning in parts",
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
      { isOutput: true, isReadable: false, generated: "hm" },
    ],
    [
      "has readable output: text in parts",
      { content: [{ type: "text", text: "Hi" }] },
      { isOutput: true, isReadable: true, generated: "Hi" },
    ],
    [
      "has readable output: text in parts of an unknown type",
      { content: [{ type: "output_text", text: "Hi" }, { text: "Ho" }] },
      { isOutput: true, isReadable: true, generated: "HiHo" },
    ],
    [
      "has readable output: a refusal",
      { refusal: "No" },
      { isOutput: true, isReadable: true, generated: "No" },
    ],
    [
      "has no output: empty reasoning",
      { reasoning_content: "" },
      { isOutput: false, isReadable: false, generated: "" },
    ],
    [
      "has no output: no tool calls",
      { tool_calls: [] },
      { isOutput: false, isReadable: false, generated: "" },
    ],
    [
      "has readable output: a tool call",
      { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } }] },
      { isOutput: true, isReadable: true, generated: "f{}" },
    ],
    [
      "has readable output: a deprecated function_call",
      { function_call: { name: "f", arguments: "{}" } },
      { isOutput: true, isReadable: true, generated: "f{}" },
    ],
    [
      "has readable output: an image",
      { images: [{ type: "image_url" }] },
      { isOutput: true, isReadable: true, generated: "" },
    ],
  ])("%s", (_, delta, meaning) => {
    const { parts } = run(chunk(delta));
    expect(parts[0]).toMatchObject(meaning);
  });

  test("is readable if it finishes with content_filter", () =>
    expect(run(ROLE + chunk({}, "content_filter")).isReadable).toBe(true));

  test("is not readable if it only finishes with stop", () => {
    const { isReadable, isOutput } = run(ROLE + chunk({ reasoning_content: "hm" }) + STOP + DONE);
    expect({ isReadable, isOutput }).toEqual({ isReadable: false, isOutput: true });
  });
});

describe("a finish reason", () => {
  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "content_filter"],
    ["function_call", "function_call"],
    ["end_turn", "stop"],
    ["eos", "stop"],
    ["STOP", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["MAX_TOKENS", "length"],
    ["model_length", "length"],
    ["tool_use", "tool_calls"],
    ["refusal", "content_filter"],
    ["SAFETY", "content_filter"],
  ])("%s is sent as %s", (reason, sent) => {
    const chunks = chunksOf(run(ROLE + HELLO + chunk({}, reason) + DONE));
    expect(chunks.map((each) => each.choices[0].finish_reason)).toEqual([null, null, sent]);
  });

  test.each(["error", "abort", "insufficient_system_resource", "", 7, {}, "__proto__", "constructor"])(
    "%j throws an UpstreamFault",
    (reason) => {
      const playAll = () => run(ROLE + HELLO + chunk({}, reason) + DONE);
      expect(playAll).toThrow(UpstreamFault);
    },
  );

  test('"" before the finish is sent as null', () => {
    const chunks = chunksOf(run(ROLE + chunk({ content: "a" }, "") + STOP + DONE));
    expect(chunks.map((each) => each.choices[0].finish_reason)).toEqual([null, null, "stop"]);
  });

  test("stop is sent as tool_calls after tool calls", () => {
    const call = {
      tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }],
    };
    const last = chunksOf(run(ROLE + chunk(call) + STOP + DONE)).at(-1);
    expect(last.choices[0].finish_reason).toBe("tool_calls");
  });

  test("length is sent as length after tool calls", () => {
    const call = {
      tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }],
    };
    const last = chunksOf(run(ROLE + chunk(call) + chunk({}, "length") + DONE)).at(-1);
    expect(last.choices[0].finish_reason).toBe("length");
  });

  test("is sent once if the upstream repeats it, and no output follows", () => {
    const chunks = chunksOf(run(ROLE + chunk({ content: "a" }, "stop") + STOP + chunk({}, "length") + DONE));
    expect(chunks.map((each) => each.choices[0].finish_reason)).toEqual([null, "stop"]);
  });

  test("is required before [DONE], or an UpstreamFault is thrown", () => {
    expect(() => run(ROLE + HELLO + DONE)).toThrow(UpstreamFault);
    expect(() => run(DONE)).toThrow(UpstreamFault);
  });
});

describe("an answer with several choices", () => {
  const of = (index: number, delta: object, finish: string | null = null) =>
    data({ id: "c", model: "theirs", choices: [{ index, delta, finish_reason: finish }] });

  test("is finished with its last choice, and holds back only that finish", () => {
    const stream = of(0, { role: "assistant", content: "a" }) + of(1, { role: "assistant", content: "b" });
    const { early, ending, finished } = run(
      stream + of(0, {}, "stop") + of(1, { content: "c" }) + of(1, {}, "length"),
      { n: 2 },
    );
    expect(finished).toBe(true);
    expect(chunksOf({ early, ending: "" })).toHaveLength(4);
    expect(chunksOf({ early: "", ending })).toHaveLength(1);
  });

  test("sends consecutive choices in order as they arrive", () => {
    const first = of(0, { role: "assistant", content: "a" }) + of(0, {}, "stop");
    const reader = run(first, { n: 2 });
    expect(reader.finished).toBe(false);
    expect(chunksOf({ early: reader.early, ending: "" })).toHaveLength(2);
    const { early, finished } = run(first + of(1, { role: "assistant", content: "b" }) + of(1, {}, "stop"), {
      n: 2,
    });
    expect(chunksOf({ early, ending: "" }).map((each) => each.choices[0].index)).toEqual([0, 0, 1]);
    expect(finished).toBe(true);
  });

  test("is finished at the end mark if the upstream sends only one choice", () => {
    const one = of(0, { role: "assistant", content: "a" }) + of(0, {}, "stop");
    expect(run(one, { n: 2 }).finished).toBe(false);
    expect(run(one + DONE, { n: 2 }).finished).toBe(true);
  });

  test("is normalised in every choice of a chunk", () => {
    const both = data({
      choices: [0, 1].map((index) => ({ index, delta: { content: "a" }, finish_reason: "eos" })),
    });
    const [only] = chunksOf(run(both + DONE, { n: 2 }));
    expect(only.choices).toEqual(
      [0, 1].map((index) => ({ index, delta: { content: "a", role: "assistant" }, finish_reason: "stop" })),
    );
  });

  test("throws an UpstreamFault for an unrequested choice, which is ignored after the finish", () => {
    expect(() => run(of(0, { content: "a" }) + of(1, { content: "b" }))).toThrow(UpstreamFault);
    const { early, ending } = run(of(0, { content: "a" }, "stop") + of(1, { content: "b" }) + DONE);
    expect(chunksOf({ early, ending })).toHaveLength(1);
  });

  test("is not finished by a chunk that is malformed after its finish", () => {
    const reader = openaiChat.readStream(requestOf(openaiChat));
    const [chunk] = eventsOf(
      data({
        choices: [
          { index: 0, delta: {}, finish_reason: "stop" },
          { index: 7, delta: {} },
        ],
      }),
    );
    if (!chunk) throw new Error("There is no chunk");
    expect(() => reader.read(chunk)).toThrow(UpstreamFault);
    expect(reader.finished).toBe(false);
  });

  test.each([-1, 1, 128, 1.5, "0", null])("throws an UpstreamFault for the index %j", (index) => {
    expect(() => run(data({ choices: [{ index, delta: {} }] }))).toThrow(UpstreamFault);
  });
});

describe("usage", () => {
  const usageChunk = data({
    id: "c1",
    object: "chat.completion.chunk",
    created: 7,
    model: "theirs",
    choices: [],
    usage: USAGE,
  });

  test("is sent once before the end mark if the client requested it", () => {
    const { ending, usage } = run(ROLE + HELLO + STOP + usageChunk + DONE, WITH_USAGE);
    expect(ending).toEndWith(usageChunk.replace("theirs", "asked") + DONE);
    expect(usage).toEqual(OUR_USAGE);
  });

  test("is read but not sent if the client did not request it", () => {
    for (const options of [{}, { stream_options: { include_usage: false } }]) {
      const { early, ending, usage } = run(ROLE + HELLO + STOP + usageChunk + DONE, options);
      expect(early + ending).not.toContain("prompt_tokens");
      expect(usage).toEqual(OUR_USAGE);
    }
  });

  test("on the finish chunk is sent on a chunk of its own", () => {
    const { early, ending } = run(ROLE + HELLO + chunk({}, "stop", { usage: USAGE }) + DONE, WITH_USAGE);
    const [finish, last] = chunksOf({ early: "", ending });
    expect(early).not.toContain("usage");
    expect(finish).toMatchObject({ usage: null, choices: [{ finish_reason: "stop" }] });
    expect(last).toEqual({
      id: "c1",
      object: "chat.completion.chunk",
      created: 7,
      model: "asked",
      choices: [],
      usage: USAGE,
    });
  });

  test("on every chunk is cumulative: the last is billed and sent once", () => {
    const with_ = (tokens: number) => ({ usage: { prompt_tokens: 10, completion_tokens: tokens } });
    const stream =
      chunk({ role: "assistant", content: "a" }, null, with_(1)) +
      chunk({ content: "b" }, null, with_(2)) +
      chunk({}, "stop", with_(3)) +
      DONE;
    const requested = run(stream, WITH_USAGE);
    expect(requested.usage).toEqual(OUR_USAGE);
    expect(chunksOf(requested).map((each) => each.usage?.completion_tokens ?? null)).toEqual([
      null,
      null,
      null,
      3,
    ]);
    const unrequested = run(stream);
    expect(unrequested.early + unrequested.ending).not.toContain("completion_tokens");
  });

  test("repeated at the end is sent once, and the last is billed", () => {
    const first = usageChunk.replace('"completion_tokens":3', '"completion_tokens":99');
    const { ending, usage } = run(ROLE + HELLO + STOP + first + usageChunk + DONE, WITH_USAGE);
    expect(ending.split("prompt_tokens")).toHaveLength(2);
    expect(usage).toEqual(OUR_USAGE);
  });

  test("on a chunk without choices gets an empty list of choices", () => {
    const { ending } = run(ROLE + HELLO + STOP + data({ model: "theirs", usage: USAGE }) + DONE, WITH_USAGE);
    expect(chunksOf({ early: "", ending }).at(-1)).toEqual({ model: "asked", usage: USAGE, choices: [] });
  });

  test("that is null is kept", () => {
    const { early } = run(chunk({ role: "assistant", content: "a" }, null, { usage: null }) + STOP);
    expect(early).toContain('"usage":null');
  });

  test("that is missing is undefined and not sent", () => {
    const { ending, usage } = run(ROLE + HELLO + STOP + DONE, WITH_USAGE);
    expect(usage).toBeUndefined();
    expect(ending).not.toContain("usage");
  });

  test("is not required of a chunk without choices, which passes through", () => {
    const verdict = data({ choices: [], id: "", model: "", prompt_filter_results: [{ prompt_index: 0 }] });
    const { early } = run(verdict + ROLE + HELLO + STOP + DONE);
    expect(early).toStartWith(verdict.replace('"model":""', '"model":"asked"'));
  });

  test("is not read from an object that is not a chunk, which is dropped", () => {
    const { early, ending } = run(data({ type: "heartbeat" }) + ROLE + HELLO + STOP + DONE);
    expect(early + ending).not.toContain("heartbeat");
  });
});

describe("a stream that would break clients", () => {
  test("gets a role on its first delta only", () => {
    const chunks = chunksOf(run(HELLO + HELLO + STOP + DONE));
    expect(chunks.map((each) => each.choices[0].delta.role)).toEqual(["assistant", undefined, undefined]);
  });

  test("gets a missing delta or index", () => {
    const stream =
      data({ choices: [{ delta: { content: "a" } }] }) +
      data({ choices: [{ index: 0, finish_reason: "stop" }] });
    const choices = chunksOf(run(stream + DONE)).map((each) => each.choices[0]);
    expect(choices).toEqual([
      { delta: { content: "a", role: "assistant" }, index: 0 },
      { index: 0, finish_reason: "stop", delta: {} },
    ]);
  });

  const callsOf = (...deltas: object[]) => {
    const stream = deltas.map((delta) => chunk(delta)).join("");
    return chunksOf(run(ROLE + stream + STOP + DONE))
      .slice(1, -1)
      .map((each) => each.choices[0].delta.tool_calls);
  };
  const whole = { name: "f", arguments: "{}" };

  test("keeps whole tool calls byte for byte", () => {
    const calls = [
      { index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } },
      { index: 1, id: "b", type: "function", function: whole },
    ];
    const { early } = run(ROLE + chunk({ tool_calls: calls }) + STOP + DONE);
    expect(early).toContain(JSON.stringify(calls));
  });

  test("gets the missing index, id and type of tool calls", () => {
    const [first, second] = callsOf(
      { tool_calls: [{ function: whole }] },
      { tool_calls: [{ function: { ...whole, name: "g" } }] },
    );
    expect([first[0], second[0]]).toEqual([
      { function: whole, index: 0, id: "call_c1_0_0", type: "function" },
      { function: { name: "g", arguments: "{}" }, index: 1, id: "call_c1_0_1", type: "function" },
    ]);
  });

  test("gets indexes from 0 without gaps", () => {
    const call = (index: number, id: string) => ({ index, id, type: "function", function: whole });
    const result = callsOf(
      { tool_calls: [call(1, "a")] },
      { tool_calls: [call(4, "b")] },
      { tool_calls: [{ index: 1, function: { arguments: " " } }] },
    );
    expect(result.map(([only]) => only.index)).toEqual([0, 1, 0]);
  });

  test("distinguishes calls that all have index 0 by id and name", () => {
    const call = (id: string, name: string) => ({
      tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: "{}" } }],
    });
    expect(callsOf(call("a", "f"), call("b", "g")).map(([only]) => only.index)).toEqual([0, 1]);
  });

  test("assigns a fragment without index to the latest call or the call of its id", () => {
    const result = callsOf(
      { tool_calls: [{ id: "a", type: "function", function: whole }] },
      { tool_calls: [{ function: { arguments: "1" } }] },
      { tool_calls: [{ id: "b", type: "function", function: whole }] },
      { tool_calls: [{ id: "a", function: { arguments: "2" } }] },
    );
    expect(result.map(([only]) => only.index)).toEqual([0, 0, 1, 0]);
  });

  test.each([
    [undefined, ""],
    [null, ""],
    [{ a: [1, "x"] }, '{"a":[1,"x"]}'],
    ["{}", "{}"],
  ])("sends the arguments %j as the text %j", (input, text) => {
    const [[call]] = callsOf({
      tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: input } }],
    });
    expect(call.function).toEqual({ name: "f", arguments: text });
  });

  test("keeps the call of a custom tool", () => {
    const custom = { index: 0, id: "a", type: "custom", custom: { name: "f", input: "x" } };
    expect(callsOf({ tool_calls: [custom] })).toEqual([[custom]]);
  });
});

describe("a malformed stream", () => {
  test.each([
    ["HTML", "data: <html>\n\n"],
    ["a list", "data: []\n\n"],
    ["null", "data: null\n\n"],
    ["an error object", data({ error: { message: "canary" } })],
    ["an error string", data({ error: "canary" })],
    [
      "an error beside choices",
      data({ error: { code: 502 }, choices: [{ index: 0, delta: {}, finish_reason: "error" }] }),
    ],
    ["an error event", 'event: error\ndata: {"message":"canary"}\n\n'],
    [
      "an error of one choice",
      data({ choices: [{ index: 0, delta: { content: "" }, error: { message: "canary" } }] }),
    ],
    ["a chunk of a million values", `data: {"choices":[],"x":[${"0,".repeat(1_000_000)}0]}\n\n`],
    ["129 choices", data({ choices: Array(129).fill({ index: 0, delta: {} }) })],
    ["a choice that is not an object", data({ choices: ["canary"] })],
    ["a tool call that is not an object", chunk({ tool_calls: ["canary"] })],
    ["a chunk that is cut off", 'data: {"choices":[{"ind'],
    [
      "thousands of tool calls",
      Array.from({ length: 11_000 }, (_, index) => chunk({ tool_calls: [{ index }] })).join(""),
    ],
    [
      "tool calls with ids of megabytes",
      chunk({ tool_calls: [{ index: 0, id: "i".repeat(2_000_000), function: { name: "f" } }] }),
    ],
  ])("throws an UpstreamFault without text of the upstream for %s", (_, stream) => {
    let fault: unknown;
    try {
      run(ROLE + stream);
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(UpstreamFault);
    expect(`${fault} ${JSON.stringify(fault)}`).not.toContain("canary");
  });
});

describe("a recorded stream", () => {
  test("with two interleaved tool calls passes unchanged", () => {
    const text = fixture("chat-tool-calls.sse");
    const { early, ending, generated, usage, isReadable } = run(text, WITH_USAGE);
    expect(early + ending).toBe(text.replaceAll('"host-model-7b"', '"asked"'));
    expect(generated).toBe('get_weather{"city":get_time{"zone":"Oslo"}"UTC"}');
    expect(usage).toEqual({
      ...NO_USAGE,
      inputTokens: 40,
      cachedInputTokens: 60,
      cacheWriteTokens: 20,
      outputTokens: 31,
    });
    expect(isReadable).toBe(true);
  });

  test("with CRLF, comments and usage on the finish is read to its texts", () => {
    const played = run(fixture("chat-reasoning-crlf.sse"), WITH_USAGE);
    expect(played.generated).toBe("Two and two.Four");
    expect(played.usage).toMatchObject({ inputTokens: 12, outputTokens: 9 });
    expect(chunksOf(played).map((each) => each.choices.length)).toEqual([1, 1, 1, 1, 1, 0]);
  });

  test("with CRLF is read to equal parts wherever its bytes are cut", () => {
    const bytes = new TextEncoder().encode(fixture("chat-reasoning-crlf.sse"));
    const request = requestOf(openaiChat);
    const whole = play(openaiChat, request, [bytes]);
    for (let at = 1; at < bytes.length; at += 1) {
      expect(play(openaiChat, request, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
    expect(
      play(
        openaiChat,
        request,
        Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
      ),
    ).toEqual(whole);
  });
});
