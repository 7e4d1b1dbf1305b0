import { describe, expect, test } from "bun:test";
import { openaiResponses } from "../../../src/wire/openai-responses/protocol.ts";
import { UpstreamFault } from "../../../src/wire/protocol.ts";
import { responsesLines } from "../../support/scripted-responses.ts";
import { eventsOf, play, requestOf } from "../play.ts";

const ASKED = { input: "hi" };
const USAGE = { input: 11, output: 7 };
const HELLO = { text: "Hello there, friend.", usage: USAGE };

type Event = { readonly type: string } & Record<string, unknown>;

function streamOf(events: readonly (Event | string)[]): string {
  return events
    .map((event) => (typeof event === "string" ? event : JSON.stringify(event)))
    .map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`)
    .join("");
}

function played(events: readonly (Event | string)[]) {
  return play(openaiResponses, requestOf(openaiResponses, ASKED), streamOf(events));
}

function response(members: object = {}) {
  return { id: "resp_1", object: "response", model: "theirs", status: "completed", output: [], ...members };
}

function delta(type: string, text: string, index = 0): Event {
  return { type: `response.${type}.delta`, output_index: index, delta: text };
}

const completed = (members: object = {}): Event => ({
  type: "response.completed",
  response: response(members),
});

describe("readStream", () => {
  test("passes every event byte for byte but for the model's name, the last one kept back", () => {
    const lines = responsesLines(HELLO);
    const { early, ending, ...meaning } = played(lines);
    const renamed = lines.map((line) => line.replaceAll('"upstream-secret-name"', '"asked"'));
    expect(early).toBe(streamOf(renamed.slice(0, -1)));
    expect(ending).toBe(streamOf(renamed.slice(-1)));
    expect(early + ending).not.toContain("upstream-secret-name");
    expect(meaning).toMatchObject({
      generated: "Hello there, friend.",
      isReadable: true,
      isOutput: true,
      finished: true,
      done: true,
      usage: { inputTokens: 11, outputTokens: 7 },
    });
  });

  test("passes a last event that repeats 3,500 tokens with 20 log probabilities each", () => {
    const chance = { token: "a", logprob: -1, bytes: [97] };
    const logprobs = Array.from({ length: 3_500 }, () => ({
      ...chance,
      top_logprobs: Array(20).fill(chance),
    }));
    const output = [{ type: "message", content: [{ type: "output_text", text: "a", logprobs }] }];
    const { finished, early } = played([delta("output_text", "a"), completed({ output })]);
    expect([finished, early.includes('"a"')]).toEqual([true, true]);
  });

  test("gives events without a name the one that clients insist on", () => {
    const stream = streamOf(responsesLines(HELLO)).replaceAll(/event: .*\n/g, "");
    const { early, ending } = play(openaiResponses, requestOf(openaiResponses, ASKED), stream);
    expect(eventsOf(early + ending).every(({ event, data }) => event === JSON.parse(data).type)).toBe(true);
  });

  test.each<[string, readonly Event[], string, boolean]>([
    ["text", [delta("output_text", "Hi")], "Hi", true],
    ["a refusal", [delta("refusal", "No")], "No", true],
    ["arguments", [delta("function_call_arguments", "{}")], "{}", true],
    ["a text for a tool", [delta("custom_tool_call_input", "x")], "x", true],
    ["a summary of reasoning", [delta("reasoning_summary_text", "hm")], "hm", false],
    ["reasoning", [delta("reasoning_text", "hm")], "hm", false],
    ["nothing", [delta("output_text", "")], "", false],
    [
      "a call that began",
      [{ type: "response.output_item.added", item: { type: "function_call", name: "f" } }],
      "",
      true,
    ],
    [
      "a message that began",
      [{ type: "response.output_item.added", item: { type: "message", content: [] } }],
      "",
      false,
    ],
  ])("%s: what it counts for, and whether it is readable", (_, events, generated, isReadable) => {
    expect(played(events)).toMatchObject({ generated, isReadable, finished: false });
  });

  test("a call's name counts once, and so does what came in deltas", () => {
    const item = { type: "function_call", call_id: "c", name: "look_up", arguments: '{"a":1}' };
    const events: Event[] = [
      { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
      delta("function_call_arguments", '{"a":'),
      delta("function_call_arguments", "1}"),
      { type: "response.output_item.done", output_index: 0, item },
      completed({ output: [item] }),
    ];
    expect(played(events).generated).toBe('{"a":1}look_up');
  });

  test("an item that comes whole, or only in the last event, is read there", () => {
    const item = { type: "message", content: [{ type: "output_text", text: "Hi" }] };
    expect(played([{ type: "response.output_item.done", output_index: 0, item }, completed()])).toMatchObject(
      {
        generated: "Hi",
        isReadable: true,
      },
    );
    expect(played([completed({ output: [item] })])).toMatchObject({ generated: "Hi", isReadable: true });
  });

  test("reasoning alone is output and not readable", () => {
    const item = { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] };
    expect(played([completed({ output: [item] })])).toMatchObject({ isOutput: true, isReadable: false });
  });

  test("an incomplete response is an end, and readable when a filter cut it", () => {
    const cut = (reason: string): Event => ({
      type: "response.incomplete",
      response: response({ status: "incomplete", incomplete_details: { reason } }),
    });
    expect(played([cut("max_output_tokens")])).toMatchObject({ finished: true, isReadable: false });
    expect(played([cut("content_filter")])).toMatchObject({ finished: true, isReadable: true });
  });

  test("nothing that comes behind the end reaches the client", () => {
    const { early, ending } = played([...responsesLines(HELLO), delta("output_text", "canary")]);
    expect(early + ending).not.toContain("canary");
  });

  test.each<[string, string]>([
    ["an error", 'event: error\ndata: {"type":"error","code":"server_error","message":"canary"}\n\n'],
    ["an error without a name", 'data: {"type":"error","error":{"message":"canary"}}\n\n'],
    ["a chat's error", 'data: {"error":{"message":"canary"}}\n\n'],
    [
      "a failure",
      streamOf([
        { type: "response.failed", response: response({ status: "failed", error: { message: "canary" } }) },
      ]),
    ],
    ["a completed failure", streamOf([completed({ status: "failed" })])],
    ["a completed response with an error", streamOf([completed({ error: { message: "canary" } })])],
    ["a response that is cancelled", streamOf([completed({ status: "cancelled" })])],
    ["an end without a response", streamOf([{ type: "response.completed" }])],
    ["an end mark before the end", "data: [DONE]\n\n"],
    ["what is not JSON", "data: canary\n\n"],
    ["a list", "data: []\n\n"],
    ["an event without a type", 'data: {"delta":"canary"}\n\n'],
    ["a type with a line break", 'data: {"type":"a\\nevent: b"}\n\n'],
    ["a type that is a number", 'data: {"type":7}\n\n'],
  ])("%s is a fault, and says nothing of what the upstream said", (_, stream) => {
    const run = () => play(openaiResponses, requestOf(openaiResponses, ASKED), stream);
    expect(run).toThrow(UpstreamFault);
    expect(run).not.toThrow(/canary/);
  });

  test("more items than any answer has are a fault", () => {
    const events = Array.from({ length: 10_001 }, (_, index) => delta("output_text", "x", index));
    expect(() => played(events)).toThrow(UpstreamFault);
  });

  test("wrong types everywhere are passed on, or a fault", () => {
    const odd: Event[] = [
      { type: "response.output_item.added", output_index: "x", item: 7 },
      { type: "response.output_item.done", item: { type: "message", content: 7 } },
      { type: "response.output_item.done", item: { type: "reasoning", summary: [7, { text: {} }] } },
      { type: "response.output_text.delta", delta: { a: 1 } },
      { type: "response.in_progress", response: 7 },
      completed({ output: 7, usage: "many", incomplete_details: [] }),
    ];
    expect(played(odd)).toMatchObject({ finished: true, generated: "", usage: undefined });
  });
});

describe("readWhole", () => {
  const read = (body: object | string) =>
    openaiResponses.readWhole(
      requestOf(openaiResponses, ASKED),
      typeof body === "string" ? body : JSON.stringify(body),
    );

  test("changes the model's name and not a byte besides", () => {
    const text =
      '{ "id":"resp_1", "status": "completed","model" : "theirs", "x":1.0, "output":[{"type":"message","content":[{"type":"output_text","text":"\\u0048i"}]}],\n"usage":{"input_tokens":17,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":7}}';
    expect(read(text)).toEqual({
      text: text.replace('"theirs"', '"asked"'),
      isOutput: true,
      isReadable: true,
      generated: "Hi",
      usage: {
        inputTokens: 10,
        cachedInputTokens: 4,
        cacheWriteTokens: 3,
        cacheWrite1hTokens: 0,
        outputTokens: 7,
      },
    });
  });

  test.each<[string, object, boolean]>([
    ["nothing", { output: [] }, false],
    ["an empty text", { output: [{ type: "message", content: [{ type: "output_text", text: "" }] }] }, false],
    ["a refusal", { output: [{ type: "message", content: [{ type: "refusal", refusal: "No" }] }] }, true],
    ["a call", { output: [{ type: "custom_tool_call", name: "f", input: "" }] }, true],
    ["reasoning", { output: [{ type: "reasoning", content: [{ text: "hm" }] }] }, false],
    ["a filter", { status: "incomplete", incomplete_details: { reason: "content_filter" } }, true],
    ["a cut", { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, false],
  ])("%s: readable or not", (_, members, isReadable) => {
    expect(read(response(members)).isReadable).toBe(isReadable);
  });

  test.each<[string, object | string]>([
    ["HTML", "<html>canary</html>"],
    ["an error", { error: { message: "canary" } }],
    ["a failure", response({ status: "failed", error: { message: "canary" } })],
    ["an answer for later", response({ status: "queued" })],
    ["one that is still written", response({ status: "in_progress" })],
    ["one without an output", { id: "canary", status: "completed" }],
    ["millions of values", `{"output":[${"0,".repeat(4_000_001)}0]}`],
  ])("%s is a fault, and says nothing of what the upstream said", (_, body) => {
    expect(() => read(body)).toThrow(UpstreamFault);
    expect(() => read(body)).not.toThrow(/canary/);
  });

  test("usage that is no number is none", () => {
    for (const usage of [null, 7, {}, { input_tokens: "1", output_tokens: "1" }])
      expect(read(response({ usage })).usage).toBeUndefined();
    const details = { cached_tokens: "4" };
    const usage = { input_tokens: 9, output_tokens: 1, input_tokens_details: details };
    expect(read(response({ usage })).usage).toMatchObject({ inputTokens: 9, cachedInputTokens: 0 });
  });

  test.each([
    [{ input_tokens: "1", output_tokens: 8 }, Number.NaN, 8],
    [{ input_tokens: 9 }, 9, Number.NaN],
  ])("usage with one total in %j keeps it", (usage, inputTokens, outputTokens) => {
    expect(read(response({ usage })).usage).toMatchObject({ inputTokens, outputTokens });
  });
});
