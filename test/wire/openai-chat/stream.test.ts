import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openaiChat } from "../../../src/wire/openai-chat/protocol.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { eventsOf, play, requestOf } from "../play.ts";

const WITH_USAGE = { stream_options: { include_usage: true } };
const DONE = "data: [DONE]\n\n";

/** A chunk in the shape of OpenAI's; members of `extra` come last. */
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

/** What a client reads as chunks, all of them, the end mark left out. */
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
const OUR_USAGE = {
  inputTokens: 10,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 3,
};

describe("a plain stream", () => {
  test("passes byte for byte but for the model's name", () => {
    const { early, ending } = run(ROLE + HELLO + STOP + DONE);
    expect(early + ending).toBe((ROLE + HELLO + STOP + DONE).replaceAll('"theirs"', '"asked"'));
  });

  test("keeps the finish and the end mark back until the ending is asked for", () => {
    const { early, ending, finished, done } = run(ROLE + HELLO + STOP + DONE);
    expect(early).not.toContain("stop");
    expect(eventsOf(ending).map((event) => event.data === "[DONE]")).toEqual([false, true]);
    expect({ finished, done }).toEqual({ finished: true, done: true });
  });

  test("keeps odd spacing, unknown members and comments' neighbours as they are", () => {
    const odd =
      'data: { "x" : [1.0, {"model":"theirs"}] , "choices":[ {"delta":{"role":"assistant","content":"a\\u0041"},"index":0,"finish_reason":null} ],"model" : "theirs" }\n\n';
    const { early } = run(`: comment\n\n${odd}${STOP}`);
    expect(early).toBe(odd.replace(/"model" : "theirs"/, '"model" : "asked"'));
  });

  test("adds the model's name where it is missing", () => {
    const { early } = run(chunk({ role: "assistant", content: "a" }, null, { model: undefined }) + STOP);
    expect(chunksOf({ early, ending: "" })[0].model).toBe("asked");
  });

  test("names the model in every chunk, whatever comes before the name", () => {
    const stream = [1, 2, 3, 4, 5, 6, 7].map((n) =>
      chunk({ role: "assistant", content: "a" }, null, { id: `c${n}` }),
    );
    const tricky = chunk({ content: "a" }, null, { model: "theirs-too" });
    const models = chunksOf(run(stream.join("") + tricky + STOP + DONE)).map((each) => each.model);
    expect(models).toEqual(Array.from({ length: 9 }, () => "asked"));
  });

  test("is finished without an end mark, which the ending then adds", () => {
    const { ending, finished, done } = run(ROLE + HELLO + STOP);
    expect({ finished, done }).toEqual({ finished: true, done: false });
    expect(ending).toEndWith(DONE);
  });

  test("reads nothing after the end mark", () => {
    const { ending } = run(ROLE + HELLO + STOP + DONE + DONE + HELLO);
    expect(ending.split("[DONE]")).toHaveLength(2);
    expect(ending).not.toContain("Hello");
  });

  test("is not finished when it breaks off", () => {
    expect(run(ROLE + HELLO).finished).toBe(false);
    expect(run("").finished).toBe(false);
  });

  test("has no ending before its finish", () => {
    const reader = openaiChat.readStream(requestOf(openaiChat));
    expect(() => reader.ending()).toThrow();
  });

  test("is not taken back by a broken tail", () => {
    const { finished, ending } = run(`${ROLE + HELLO + STOP}data: {"choi`);
    expect(finished).toBe(true);
    expect(ending).toEndWith(DONE);
  });
});

describe("what a chunk means", () => {
  test.each<[string, object, { isOutput: boolean; isReadable: boolean; generated: string }]>([
    ["a role", { role: "assistant", content: "" }, { isOutput: false, isReadable: false, generated: "" }],
    ["text", { content: "Hi" }, { isOutput: true, isReadable: true, generated: "Hi" }],
    [
      "reasoning",
      { reasoning_content: "hm", content: null },
      { isOutput: true, isReadable: false, generated: "hm" },
    ],
    [
      "reasoning under its other name",
      { reasoning: "hm" },
      { isOutput: true, isReadable: false, generated: "hm" },
    ],
    [
      "reasoning said twice",
      { reasoning: "hm", reasoning_details: [{ type: "reasoning.text", text: "hm" }] },
      { isOutput: true, isReadable: false, generated: "hm" },
    ],
    [
      "reasoning in parts",
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
      { isOutput: true, isReadable: false, generated: "hm" },
    ],
    [
      "text in parts",
      { content: [{ type: "text", text: "Hi" }] },
      { isOutput: true, isReadable: true, generated: "Hi" },
    ],
    [
      "text in parts of a kind that we do not know",
      { content: [{ type: "output_text", text: "Hi" }, { text: "Ho" }] },
      { isOutput: true, isReadable: true, generated: "HiHo" },
    ],
    ["a refusal", { refusal: "No" }, { isOutput: true, isReadable: true, generated: "No" }],
    ["empty reasoning", { reasoning_content: "" }, { isOutput: false, isReadable: false, generated: "" }],
    ["no tool calls", { tool_calls: [] }, { isOutput: false, isReadable: false, generated: "" }],
    [
      "a tool call",
      { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } }] },
      { isOutput: true, isReadable: true, generated: "f{}" },
    ],
    [
      "an old function call",
      { function_call: { name: "f", arguments: "{}" } },
      { isOutput: true, isReadable: true, generated: "f{}" },
    ],
    ["a picture", { images: [{ type: "image_url" }] }, { isOutput: true, isReadable: true, generated: "" }],
  ])("%s", (_, delta, meaning) => {
    const { parts } = run(chunk(delta));
    expect(parts[0]).toMatchObject(meaning);
  });

  test("a content filter is a readable finish", () => {
    expect(run(ROLE + chunk({}, "content_filter")).isReadable).toBe(true);
  });

  test("a stop alone is not readable", () => {
    const { isReadable, isOutput } = run(ROLE + chunk({ reasoning_content: "hm" }) + STOP + DONE);
    expect({ isReadable, isOutput }).toEqual({ isReadable: false, isOutput: true });
  });
});

describe("finish reasons", () => {
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
  ])("%s goes out as %s", (said, shown) => {
    const chunks = chunksOf(run(ROLE + HELLO + chunk({}, said) + DONE));
    expect(chunks.map((each) => each.choices[0].finish_reason)).toEqual([null, null, shown]);
  });

  test.each(["error", "abort", "insufficient_system_resource", "", 7, {}, "__proto__", "constructor"])(
    "%j is no finish",
    (said) => {
      const playIt = () => run(ROLE + HELLO + chunk({}, said) + DONE);
      expect(playIt).toThrow(UpstreamFault);
    },
  );

  test("an empty one on the way is shown as null", () => {
    const chunks = chunksOf(run(ROLE + chunk({ content: "a" }, "") + STOP + DONE));
    expect(chunks.map((each) => each.choices[0].finish_reason)).toEqual([null, null, "stop"]);
  });

  test("stop after tool calls is tool_calls", () => {
    const call = {
      tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }],
    };
    const last = chunksOf(run(ROLE + chunk(call) + STOP + DONE)).at(-1);
    expect(last.choices[0].finish_reason).toBe("tool_calls");
  });

  test("length after tool calls stays length", () => {
    const call = {
      tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }],
    };
    const last = chunksOf(run(ROLE + chunk(call) + chunk({}, "length") + DONE)).at(-1);
    expect(last.choices[0].finish_reason).toBe("length");
  });

  test("are said once, however often the upstream says them, and nothing behind them", () => {
    const chunks = chunksOf(run(ROLE + chunk({ content: "a" }, "stop") + STOP + chunk({}, "length") + DONE));
    expect(chunks.map((each) => each.choices[0].finish_reason)).toEqual([null, "stop"]);
  });

  test("[DONE] without one is a fault", () => {
    expect(() => run(ROLE + HELLO + DONE)).toThrow(UpstreamFault);
    expect(() => run(DONE)).toThrow(UpstreamFault);
  });
});

describe("several choices", () => {
  const of = (index: number, delta: object, finish: string | null = null) =>
    data({ id: "c", model: "theirs", choices: [{ index, delta, finish_reason: finish }] });

  test("are finished when the last of them is, and only that one is kept back", () => {
    const stream = of(0, { role: "assistant", content: "a" }) + of(1, { role: "assistant", content: "b" });
    const { early, ending, finished } = run(
      stream + of(0, {}, "stop") + of(1, { content: "c" }) + of(1, {}, "length"),
      { n: 2 },
    );
    expect(finished).toBe(true);
    expect(chunksOf({ early, ending: "" })).toHaveLength(4);
    expect(chunksOf({ early: "", ending })).toHaveLength(1);
  });

  test("one after the other go out in order, each as it comes", () => {
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

  test("of which the upstream gives only one are finished at its end mark", () => {
    const one = of(0, { role: "assistant", content: "a" }) + of(0, {}, "stop");
    expect(run(one, { n: 2 }).finished).toBe(false);
    expect(run(one + DONE, { n: 2 }).finished).toBe(true);
  });

  test("in one chunk are each mended", () => {
    const both = data({
      choices: [0, 1].map((index) => ({ index, delta: { content: "a" }, finish_reason: "eos" })),
    });
    const [only] = chunksOf(run(both + DONE, { n: 2 }));
    expect(only.choices).toEqual(
      [0, 1].map((index) => ({ index, delta: { content: "a", role: "assistant" }, finish_reason: "stop" })),
    );
  });

  test("that were not asked for are a fault, and nothing once all that were are finished", () => {
    expect(() => run(of(0, { content: "a" }) + of(1, { content: "b" }))).toThrow(UpstreamFault);
    const { early, ending } = run(of(0, { content: "a" }, "stop") + of(1, { content: "b" }) + DONE);
    expect(chunksOf({ early, ending })).toHaveLength(1);
  });

  test("are not finished by a chunk that breaks behind their finish", () => {
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

  test.each([-1, 1, 128, 1.5, "0", null])("cannot have the index %j", (index) => {
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

  test("goes out once before the end mark to those who asked", () => {
    const { ending, usage } = run(ROLE + HELLO + STOP + usageChunk + DONE, WITH_USAGE);
    expect(ending).toEndWith(usageChunk.replace("theirs", "asked") + DONE);
    expect(usage).toEqual(OUR_USAGE);
  });

  test("does not go out to those who did not ask, but is known", () => {
    for (const options of [{}, { stream_options: { include_usage: false } }]) {
      const { early, ending, usage } = run(ROLE + HELLO + STOP + usageChunk + DONE, options);
      expect(early + ending).not.toContain("prompt_tokens");
      expect(usage).toEqual(OUR_USAGE);
    }
  });

  test("on the finish chunk moves to a chunk of its own", () => {
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

  test("on every chunk is cumulative: the last counts and goes out once", () => {
    const with_ = (tokens: number) => ({ usage: { prompt_tokens: 10, completion_tokens: tokens } });
    const stream =
      chunk({ role: "assistant", content: "a" }, null, with_(1)) +
      chunk({ content: "b" }, null, with_(2)) +
      chunk({}, "stop", with_(3)) +
      DONE;
    const asked = run(stream, WITH_USAGE);
    expect(asked.usage).toEqual(OUR_USAGE);
    expect(chunksOf(asked).map((each) => each.usage?.completion_tokens ?? null)).toEqual([
      null,
      null,
      null,
      3,
    ]);
    const quiet = run(stream);
    expect(quiet.early + quiet.ending).not.toContain("completion_tokens");
  });

  test("said twice at the end goes out once, and the last counts", () => {
    const first = usageChunk.replace('"completion_tokens":3', '"completion_tokens":99');
    const { ending, usage } = run(ROLE + HELLO + STOP + first + usageChunk + DONE, WITH_USAGE);
    expect(ending.split("prompt_tokens")).toHaveLength(2);
    expect(usage).toEqual(OUR_USAGE);
  });

  test("on a chunk without choices gets the empty list that clients read", () => {
    const { ending } = run(ROLE + HELLO + STOP + data({ model: "theirs", usage: USAGE }) + DONE, WITH_USAGE);
    expect(chunksOf({ early: "", ending }).at(-1)).toEqual({ model: "asked", usage: USAGE, choices: [] });
  });

  test("that is null stays where it is", () => {
    const { early } = run(chunk({ role: "assistant", content: "a" }, null, { usage: null }) + STOP);
    expect(early).toContain('"usage":null');
  });

  test("missing everywhere is unknown, and nothing is made up", () => {
    const { ending, usage } = run(ROLE + HELLO + STOP + DONE, WITH_USAGE);
    expect(usage).toBeUndefined();
    expect(ending).not.toContain("usage");
  });

  test("passes on chunks without choices that carry none, like a filter's verdict on the prompt", () => {
    const verdict = data({ choices: [], id: "", model: "", prompt_filter_results: [{ prompt_index: 0 }] });
    const { early } = run(verdict + ROLE + HELLO + STOP + DONE);
    expect(early).toStartWith(verdict.replace('"model":""', '"model":"asked"'));
  });

  test("drops what is no chunk at all", () => {
    const { early, ending } = run(data({ type: "heartbeat" }) + ROLE + HELLO + STOP + DONE);
    expect(early + ending).not.toContain("heartbeat");
  });
});

describe("what clients would break on", () => {
  test("a first delta without a role gets one, later ones do not", () => {
    const chunks = chunksOf(run(HELLO + HELLO + STOP + DONE));
    expect(chunks.map((each) => each.choices[0].delta.role)).toEqual(["assistant", undefined, undefined]);
  });

  test("a missing delta or index is filled in", () => {
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

  test("whole tool calls stay byte for byte", () => {
    const calls = [
      { index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } },
      { index: 1, id: "b", type: "function", function: whole },
    ];
    const { early } = run(ROLE + chunk({ tool_calls: calls }) + STOP + DONE);
    expect(early).toContain(JSON.stringify(calls));
  });

  test("tool calls without index, id and type get them", () => {
    const [first, second] = callsOf(
      { tool_calls: [{ function: whole }] },
      { tool_calls: [{ function: { ...whole, name: "g" } }] },
    );
    expect([first[0], second[0]]).toEqual([
      { function: whole, index: 0, id: "call_c1_0_0", type: "function" },
      { function: { name: "g", arguments: "{}" }, index: 1, id: "call_c1_0_1", type: "function" },
    ]);
  });

  test("indexes start at 0 and have no gaps", () => {
    const call = (index: number, id: string) => ({ index, id, type: "function", function: whole });
    const result = callsOf(
      { tool_calls: [call(1, "a")] },
      { tool_calls: [call(4, "b")] },
      { tool_calls: [{ index: 1, function: { arguments: " " } }] },
    );
    expect(result.map(([only]) => only.index)).toEqual([0, 1, 0]);
  });

  test("calls that all claim index 0 are told apart by id and name", () => {
    const call = (id: string, name: string) => ({
      tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: "{}" } }],
    });
    expect(callsOf(call("a", "f"), call("b", "g")).map(([only]) => only.index)).toEqual([0, 1]);
  });

  test("a fragment without index goes on with the latest call, or with the one of its id", () => {
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
  ])("arguments %j are the text %j", (input, text) => {
    const [[call]] = callsOf({
      tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: input } }],
    });
    expect(call.function).toEqual({ name: "f", arguments: text });
  });

  test("a custom tool's call keeps its form", () => {
    const custom = { index: 0, id: "a", type: "custom", custom: { name: "f", input: "x" } };
    expect(callsOf({ tool_calls: [custom] })).toEqual([[custom]]);
  });
});

describe("faults", () => {
  test.each([
    ["HTML", "data: <html>\n\n"],
    ["a list", "data: []\n\n"],
    ["null", "data: null\n\n"],
    ["an error object", data({ error: { message: "canary" } })],
    ["an error text", data({ error: "canary" })],
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
    ["more choices than any request has", data({ choices: Array(129).fill({ index: 0, delta: {} }) })],
    ["a choice that is none", data({ choices: ["canary"] })],
    ["a tool call that is none", chunk({ tool_calls: ["canary"] })],
    ["half a chunk", 'data: {"choices":[{"ind'],
    [
      "tool calls without end",
      Array.from({ length: 11_000 }, (_, index) => chunk({ tool_calls: [{ index }] })).join(""),
    ],
    [
      "tool calls with ids of megabytes",
      chunk({ tool_calls: [{ index: 0, id: "i".repeat(2_000_000), function: { name: "f" } }] }),
    ],
  ])("%s is one, and says nothing of what the upstream said", (_, stream) => {
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

describe("fixtures", () => {
  test("two interleaved tool calls come out as they went in", () => {
    const text = fixture("chat-tool-calls.sse");
    const { early, ending, generated, usage, isReadable } = run(text, WITH_USAGE);
    expect(early + ending).toBe(text.replaceAll('"host-model-7b"', '"asked"'));
    expect(generated).toBe('get_weather{"city":get_time{"zone":"Oslo"}"UTC"}');
    expect(usage).toEqual({
      inputTokens: 40,
      cachedInputTokens: 60,
      cacheWriteTokens: 20,
      cacheWrite1hTokens: 0,
      outputTokens: 31,
    });
    expect(isReadable).toBe(true);
  });

  test("reasoning with CRLF, comments and usage on the finish reads the same", () => {
    const played = run(fixture("chat-reasoning-crlf.sse"), WITH_USAGE);
    expect(played.generated).toBe("Two and two.Four");
    expect(played.usage).toMatchObject({ inputTokens: 12, outputTokens: 9 });
    expect(chunksOf(played).map((each) => each.choices.length)).toEqual([1, 1, 1, 1, 1, 0]);
  });

  test("reasoning with CRLF reads the same wherever its bytes are cut", () => {
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
