import { describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/format.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { responsesLines } from "../../support/scripted-responses.ts";
import { eventsOf, play, requestOf } from "../play.ts";

const INPUT = { input: "hi" };
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
  return play(openaiResponses, requestOf(openaiResponses, INPUT), streamOf(events));
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

describe("a passthrough stream", () => {
  test("passes every event byte for byte except for the model name, and holds back the last one", () => {
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

  test("names every event that the upstream sends without a name", () => {
    const stream = streamOf(responsesLines(HELLO)).replaceAll(/event: .*\n/g, "");
    const { early, ending } = play(openaiResponses, requestOf(openaiResponses, INPUT), stream);
    expect(eventsOf(early + ending).every(({ event, data }) => event === JSON.parse(data).type)).toBe(true);
  });

  test.each<[string, readonly Event[], string, boolean]>([
    ["text", [delta("output_text", "Hi")], "Hi", true],
    ["a refusal", [delta("refusal", "No")], "No", true],
    ["arguments", [delta("function_call_arguments", "{}")], "{}", true],
    ["a free-form tool input", [delta("custom_tool_call_input", "x")], "x", true],
    ["a summary of reasoning", [delta("reasoning_summary_text", "hm")], "hm", false],
    ["reasoning", [delta("reasoning_text", "hm")], "hm", false],
    ["nothing", [delta("output_text", "")], "", false],
    [
      "a started call",
      [{ type: "response.output_item.added", item: { type: "function_call", name: "f" } }],
      "",
      true,
    ],
    [
      "a started message",
      [{ type: "response.output_item.added", item: { type: "message", content: [] } }],
      "",
      false,
    ],
  ])("with %s has the expected output and readability", (_, events, generated, isReadable) => {
    expect(played(events)).toMatchObject({ generated, isReadable, finished: false });
  });

  test("counts the name of a call once, and deltas once", () => {
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

  test("reads an item that comes whole, or only in the last event", () => {
    const item = { type: "message", content: [{ type: "output_text", text: "Hi" }] };
    expect(played([{ type: "response.output_item.done", output_index: 0, item }, completed()])).toMatchObject(
      {
        generated: "Hi",
        isReadable: true,
      },
    );
    expect(played([completed({ output: [item] })])).toMatchObject({ generated: "Hi", isReadable: true });
  });

  test("counts reasoning alone as output that is not readable", () => {
    const item = { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] };
    expect(played([completed({ output: [item] })])).toMatchObject({ isOutput: true, isReadable: false });
  });

  test("finishes with an incomplete response, which is readable when a filter cut it off", () => {
    const cut = (reason: string): Event => ({
      type: "response.incomplete",
      response: response({ status: "incomplete", incomplete_details: { reason } }),
    });
    expect(played([cut("max_output_tokens")])).toMatchObject({ finished: true, isReadable: false });
    expect(played([cut("content_filter")])).toMatchObject({ finished: true, isReadable: true });
  });

  test("drops everything after the end", () => {
    const { early, ending } = played([...responsesLines(HELLO), delta("output_text", "canary")]);
    expect(early + ending).not.toContain("canary");
  });

  test.each<[string, string]>([
    ["an error", 'event: error\ndata: {"type":"error","code":"server_error","message":"canary"}\n\n'],
    ["an error without a name", 'data: {"type":"error","error":{"message":"canary"}}\n\n'],
    ["an error of chat completions", 'data: {"error":{"message":"canary"}}\n\n'],
    [
      "a failure",
      streamOf([
        { type: "response.failed", response: response({ status: "failed", error: { message: "canary" } }) },
      ]),
    ],
    ["a completed failure", streamOf([completed({ status: "failed" })])],
    ["a completed response with an error", streamOf([completed({ error: { message: "canary" } })])],
    ["a cancelled response", streamOf([completed({ status: "cancelled" })])],
    ["an end without a response", streamOf([{ type: "response.completed" }])],
    ["an end marker before the end", "data: [DONE]\n\n"],
    ["what is not JSON", "data: canary\n\n"],
    ["a list", "data: []\n\n"],
    ["an event without a type", 'data: {"delta":"canary"}\n\n'],
    ["a type with a line break", 'data: {"type":"a\\nevent: b"}\n\n'],
    ["a type that is a number", 'data: {"type":7}\n\n'],
  ])("%s is a fault that does not quote the upstream", (_, stream) => {
    const run = () => play(openaiResponses, requestOf(openaiResponses, INPUT), stream);
    expect(run).toThrow(UpstreamFault);
    expect(run).not.toThrow(/canary/);
  });

  test("is a fault with more than 10,000 open items", () => {
    const events = Array.from({ length: 10_001 }, (_, index) => delta("output_text", "x", index));
    expect(() => played(events)).toThrow(UpstreamFault);
  });

  test("passes values of wrong types without reading them", () => {
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

describe("a whole response that passes through", () => {
  const read = (body: object | string) =>
    openaiResponses.readWhole(
      requestOf(openaiResponses, INPUT),
      typeof body === "string" ? body : JSON.stringify(body),
    );

  test("gets the client's model name and keeps every other byte", () => {
    const text =
      '{ "id":"resp_1", "status": "completed","model" : "theirs", "x":1.0, "output":[{"type":"message","content":[{"type":"output_text","text":"\\u0048i"}]}],\n"usage":{"input_tokens":17,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":7}}';
    expect(read(text)).toEqual({
      text: text.replace('"theirs"', '"asked"'),
      isOutput: true,
      isReadable: true,
      generated: "Hi",
      usage: { ...NO_USAGE, inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 3, outputTokens: 7 },
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
  ])("is classified as readable or not for %s", (_, members, isReadable) => {
    expect(read(response(members)).isReadable).toBe(isReadable);
  });

  test.each<[string, object | string]>([
    ["HTML", "<html>canary</html>"],
    ["an error", { error: { message: "canary" } }],
    ["a failure", response({ status: "failed", error: { message: "canary" } })],
    ["a queued response", response({ status: "queued" })],
    ["a response in progress", response({ status: "in_progress" })],
    ["a response without output", { id: "canary", status: "completed" }],
    ["millions of values", `{"output":[${"0,".repeat(4_000_001)}0]}`],
  ])("%s is a fault that does not quote the upstream", (_, body) => {
    expect(() => read(body)).toThrow(UpstreamFault);
    expect(() => read(body)).not.toThrow(/canary/);
  });

  test("has no usage without a readable total", () => {
    for (const usage of [null, 7, {}, { input_tokens: "1", output_tokens: "1" }])
      expect(read(response({ usage })).usage).toBeUndefined();
    const details = { cached_tokens: "4" };
    const usage = { input_tokens: 9, output_tokens: 1, input_tokens_details: details };
    expect(read(response({ usage })).usage).toMatchObject({ inputTokens: 9, cachedInputTokens: 0 });
  });

  test.each([
    [{ input_tokens: "1", output_tokens: 8 }, Number.NaN, 8],
    [{ input_tokens: 9 }, 9, Number.NaN],
  ])("keeps the only total of %j", (usage, inputTokens, outputTokens) => {
    expect(read(response({ usage })).usage).toMatchObject({ inputTokens, outputTokens });
  });
});
