import { describe, expect, test } from "bun:test";
import type { ChatEvent, FinishReason, OutputEvent } from "../../../src/domain/chat-event.ts";
import { ERRORS, GatewayError } from "../../../src/errors.ts";
import type { ReplyHead } from "../../../src/wire/codecs.ts";
import { collectReply } from "../../../src/wire/collect-reply.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/protocol.ts";
import { isSeal, printSeal } from "../../../src/wire/openai-responses/sealed-reasoning.ts";

import type { SentStream } from "../../../src/wire/protocol.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { eventsOf, headOf as replyHeadOf } from "../play.ts";

const CUSTOM = [{ type: "custom", name: "patch" }];
const SPACE = [{ type: "namespace", name: "space", tools: [{ type: "function", name: "go" }] }];
const SEALED = { include: ["reasoning.encrypted_content"] };
const SHOWN = { reasoning: { summary: "auto" } };

type Json = Record<string, unknown>;

function headOf(members: object = {}): ReplyHead {
  const text = JSON.stringify({ model: "asked", input: "hi", ...members });
  const request = openaiResponses.parseRequest(text);
  return replyHeadOf(request, { createdAtS: 1_790_000_000, inputTokens: 5 });
}

function end(): NonNullable<typeof openaiResponses.client> {
  if (!openaiResponses.client) throw new Error("It has no client's end");
  return openaiResponses.client;
}

const finished = (reason: FinishReason = "stop") =>
  ({ kind: "finish", reason, stopSequence: undefined }) as const;
const USAGE = {
  kind: "usage",
  usage: {
    inputTokens: 10,
    cachedInputTokens: 4,
    cacheWriteTokens: 2,
    cacheWrite1hTokens: 1,
    outputTokens: 7,
  },
  reasoningTokens: 3,
} as const;

/** The events of a stream as values. */
function stream(said: readonly OutputEvent[], members: object = {}, reason: FinishReason = "stop"): Json[] {
  const printer = end().printStream(headOf(members));
  const text = said.map((event) => printer.print(event)).join("") + printer.end(finished(reason), USAGE);
  return eventsOf(text).map(({ event, data }) => {
    const value = JSON.parse(data);
    expect(event).toBe(value.type);
    return value;
  });
}

/** The whole answer of the same. */
function whole(said: readonly OutputEvent[], members: object = {}, reason: FinishReason = "stop") {
  const events: ChatEvent[] = [...said, finished(reason), USAGE];
  return JSON.parse(end().printWhole(headOf(members), collectReply(events)));
}

function outputOf(said: readonly OutputEvent[], members: object = {}, reason: FinishReason = "stop"): Json[] {
  const { output } = whole(said, members, reason);
  const last = stream(said, members, reason).at(-1)?.response;
  expect(last).toEqual(whole(said, members, reason));
  return output;
}

const typesOf = (events: readonly Json[]) => events.map(({ type }) => String(type).replace("response.", ""));
const say = (text: string): OutputEvent => ({ kind: "text", text });
const think = (text: string): OutputEvent => ({ kind: "reasoning", text });
const call = (number: number, name = "f"): OutputEvent => ({
  kind: "tool_call",
  call: number,
  id: `call_${number}`,
  name,
});
const input = (number: number, json: string): OutputEvent => ({ kind: "tool_input", call: number, json });

describe("a stream", () => {
  test("case 70: the full sequence of a text, with rising numbers", () => {
    const events = stream([say("Hel"), say("lo"), say("")]);
    expect(typesOf(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, number) => number));
    expect(events[4]).toEqual({
      type: "response.output_text.delta",
      sequence_number: 4,
      output_index: 0,
      item_id: "msg_abc_0",
      content_index: 0,
      delta: "Hel",
      logprobs: [],
    });
    expect(events[6]).toMatchObject({ text: "Hello", item_id: "msg_abc_0" });
    expect(events[8]).toMatchObject({
      output_index: 0,
      item: {
        id: "msg_abc_0",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }],
      },
    });
  });

  test("the response that it is about is the same at both ends", () => {
    const events = stream([say("Hello")]);
    expect(events[0]?.response).toMatchObject({
      id: "resp_abc",
      status: "in_progress",
      model: "asked",
      output: [],
      usage: null,
    });
    expect(events.at(-1)?.response).toMatchObject({
      id: "resp_abc",
      status: "completed",
      created_at: 1_790_000_000,
      usage: {
        input_tokens: 17,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: 24,
      },
    });
  });

  test("arguments come as they are written, under the upstream's own id", () => {
    const events = stream([call(0), input(0, '{"a":'), input(0, "1}")]);
    expect(typesOf(events).slice(2)).toEqual([
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "completed",
    ]);
    expect(events[2]).toMatchObject({
      item: { type: "function_call", call_id: "call_0", arguments: "", status: "in_progress" },
    });
    expect(events[6]?.item).toEqual({
      id: "fc_abc_0",
      type: "function_call",
      status: "completed",
      call_id: "call_0",
      name: "f",
      arguments: '{"a":1}',
    });
  });

  test("a call without arguments has an empty object, in its deltas too", () => {
    const events = stream([call(0)]);
    expect(events.filter(({ type }) => type === "response.function_call_arguments.delta")).toMatchObject([
      { delta: "{}" },
    ]);
    expect(events.at(-2)).toMatchObject({ item: { arguments: "{}" } });
  });

  test("one item is done before the next begins, unless more of it may come", () => {
    const order = (said: readonly OutputEvent[]) =>
      stream(said)
        .filter(({ type }) => String(type).startsWith("response.output_item"))
        .map(({ type, output_index }) => `${String(type).slice(21)} ${output_index}`);
    expect(order([say("a"), call(0), input(0, "{}"), call(1), input(1, "{}"), say("b")])).toEqual([
      "added 0",
      "done 0",
      "added 1",
      "done 1",
      "added 2",
      "done 2",
      "added 3",
      "done 3",
    ]);
    expect(order([call(0), input(0, "{"), call(1), input(1, "{"), input(0, "}"), input(1, "}")])).toEqual([
      "added 0",
      "added 1",
      "done 0",
      "done 1",
    ]);
  });

  test("calls that come interleaved keep their own arguments", () => {
    const said = [call(0), input(0, '{"a"'), call(1), input(1, '{"b"'), input(0, ":0}"), input(1, ":1}")];
    expect(outputOf(said)).toMatchObject([{ arguments: '{"a":0}' }, { arguments: '{"b":1}' }]);
    const items = stream(said).filter(({ type }) => type === "response.function_call_arguments.delta");
    expect(items.map(({ item_id }) => item_id)).toEqual(["fc_abc_0", "fc_abc_1", "fc_abc_0", "fc_abc_1"]);
  });

  test("many calls that never end are no work that grows with their number squared", () => {
    const printer = end().printStream(headOf());
    const ms = cpuMs(() => {
      for (let number = 0; number < 20_000; number += 1) printer.print(call(number));
      expect(printer.end(finished("tool_calls"), undefined)).toContain("fc_abc_19999");
    });
    expect(ms).toBeLessThan(5_000);
  });

  test("a long call that never ends is not read again for everything behind it", () => {
    const printer = end().printStream(headOf());
    const ms = cpuMs(() => {
      printer.print(call(0));
      printer.print(input(0, `{"a":"${"x".repeat(4_000_000)}`));
      for (let number = 0; number < 5_000; number += 1)
        printer.print({ kind: "redacted_reasoning", data: "x" });
      printer.end(finished("length"), undefined);
    });
    expect(ms).toBeLessThan(5_000);
  });

  test("a stream in which nothing was said still begins and ends", () => {
    expect(typesOf(stream([], {}, "content_filter"))).toEqual(["created", "in_progress", "incomplete"]);
  });
});

describe("items", () => {
  test("text, a refusal and text again are parts of one message", () => {
    const said = [say("a"), { kind: "refusal", text: "No" } as const, say("b")];
    expect(outputOf(said)).toMatchObject([
      { content: [{ text: "a" }, { type: "refusal", refusal: "No" }, { text: "b" }] },
    ]);
    const parts = stream(said).filter(({ type }) => type === "response.content_part.done");
    expect(parts.map(({ content_index }) => content_index)).toEqual([0, 1, 2]);
  });

  test("a tool that takes any text gets it unwrapped, whole", () => {
    const said = [call(0, "patch"), input(0, '{"input":"*** Be'), input(0, 'gin\\n"}')];
    expect(outputOf(said, { tools: CUSTOM })).toEqual([
      {
        id: "ctc_abc_0",
        type: "custom_tool_call",
        status: "completed",
        call_id: "call_0",
        name: "patch",
        input: "*** Begin\n",
      },
    ]);
    expect(typesOf(stream(said, { tools: CUSTOM })).slice(2)).toEqual([
      "output_item.added",
      "custom_tool_call_input.delta",
      "custom_tool_call_input.done",
      "output_item.done",
      "completed",
    ]);
  });

  test.each<[string, string]>([
    ['{"patch":"x"}', "x"],
    ['{"a":"x","b":"y"}', '{"a":"x","b":"y"}'],
    ["*** Begin", "*** Begin"],
    ['"x"', '"x"'],
  ])("a model that writes %s to it means %s", (json, text) => {
    expect(outputOf([call(0, "patch"), input(0, json)], { tools: CUSTOM })).toMatchObject([{ input: text }]);
  });

  test("a tool of a namespace is called by both its names", () => {
    expect(outputOf([call(0, "space__go")], { tools: SPACE })).toMatchObject([
      { name: "go", namespace: "space" },
    ]);
  });

  test("reasoning is shown as a summary to those who asked for one", () => {
    const said = [think("hm"), think("!"), say("Hi")];
    expect(outputOf(said)).toMatchObject([{ type: "message" }]);
    expect(outputOf(said, SHOWN)).toMatchObject([
      { id: "rs_abc_0", type: "reasoning", summary: [{ type: "summary_text", text: "hm!" }] },
      { id: "msg_abc_1" },
    ]);
    expect(typesOf(stream(said, SHOWN)).slice(2, 9)).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
    ]);
  });

  test("sealed reasoning can be sent back by those who asked for it, and is read again", () => {
    const seal = { kind: "reasoning_seal", signature: "sig" } as const;
    const redacted = { kind: "redacted_reasoning", data: "secret" } as const;
    const said = [think("hm"), seal, redacted, call(0), input(0, "{}")];
    expect(outputOf(said)).toHaveLength(1);
    expect(JSON.stringify(outputOf(said, SHOWN))).not.toContain("encrypted_content");
    const items = outputOf(said, SEALED);
    expect(items).toMatchObject([
      { type: "reasoning", summary: [], encrypted_content: printSeal({ text: "hm", signature: "sig" }) },
      { type: "reasoning", summary: [], encrypted_content: printSeal({ data: "secret" }) },
      { type: "function_call" },
    ]);
    const result = { type: "function_call_output", call_id: "call_0", output: "x" };
    const back = openaiResponses
      .parseRequest(JSON.stringify({ model: "m", input: [...items, result] }))
      .readChat();
    expect(back.turns[0]?.parts).toMatchObject([
      { kind: "reasoning", text: "hm", signature: "sig" },
      { kind: "reasoning", redacted: "secret" },
      { kind: "tool_call", id: "call_0" },
    ]);
  });

  test("reasoning that nobody sealed is not made to look so", () => {
    expect(outputOf([think("hm"), say("Hi")], SEALED)).toHaveLength(1);
    expect(isSeal("gAAAA")).toBe(false);
  });

  test("an answer that was cut says so, and so does what was being written", () => {
    const said = [say("a"), call(0), input(0, '{"a":')];
    expect(whole(said, {}, "length")).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    expect(outputOf(said, {}, "length")).toMatchObject([
      { status: "completed" },
      { status: "incomplete", arguments: '{"a":' },
    ]);
    expect(outputOf([say("a")], {}, "length")).toMatchObject([{ status: "incomplete" }]);
    expect(whole([say("a")], {}, "content_filter")).toMatchObject({
      incomplete_details: { reason: "content_filter" },
    });
  });

  test("a call without an id gets one", () => {
    expect(outputOf([{ kind: "tool_call", call: 0, id: "", name: "f" }])).toMatchObject([
      { call_id: "call_abc_0" },
    ]);
  });

  test("a call with the id of another gets one of its own", () => {
    const said = [0, 1, 2].map(
      (number): OutputEvent => ({ kind: "tool_call", call: number, id: "c", name: "f" }),
    );
    expect(outputOf(said)).toMatchObject([
      { call_id: "c" },
      { call_id: "call_abc_1" },
      { call_id: "call_abc_2" },
    ]);
  });

  test("nothing is said while nothing is shown", () => {
    const printer = end().printStream(headOf());
    expect(printer.print(think("hm"))).toBe("");
    expect(printer.print({ kind: "reasoning_seal", signature: "x" })).toBe("");
    expect(
      typesOf(eventsOf(printer.print(say("a"))).map(({ data }) => JSON.parse(data))).slice(0, 3),
    ).toEqual(["created", "in_progress", "output_item.added"]);
  });
});

describe("the response", () => {
  test("repeats what was asked, and says what holds where nothing was", () => {
    const tools = [{ type: "function", name: "f" }, { type: "web_search" }];
    const asked = {
      instructions: "Be brief.",
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      metadata: { a: "b" },
      tools,
      tool_choice: "required",
      parallel_tool_calls: false,
      reasoning: { effort: "low" },
      text: { format: { type: "json_object" }, verbosity: "low" },
      truncation: "auto",
      prompt_cache_key: "k",
      user: "u",
      store: true,
    };
    expect(whole([say("x")], asked)).toMatchObject({
      ...asked,
      tools: [
        { type: "function", name: "f", description: null, parameters: null, strict: null },
        { type: "web_search" },
      ],
      reasoning: { effort: "low", summary: null },
      store: false,
      previous_response_id: null,
    });
    expect(whole([say("x")])).toMatchObject({
      instructions: null,
      temperature: 1,
      tools: [],
      tool_choice: "auto",
      text: { format: { type: "text" } },
      metadata: {},
    });
  });

  test("does not repeat megabytes, nor what is nested without end", () => {
    const long = { instructions: "x".repeat(1_100_000) };
    expect(whole([say("x")], long)).toMatchObject({ instructions: null });
    const deep = `${'{"a":'.repeat(90_000)}1${"}".repeat(90_000)}`;
    const request = openaiResponses.parseRequest(`{"model":"asked","input":"hi","metadata":${deep}}`);
    const printer = end().printStream(replyHeadOf(request));
    expect(printer.print(say("x"))).toContain('"metadata":{}');
  });

  test.each([-1, 0.5, Number.NaN, 1e300])("says nothing of %d tokens, which cannot be", (outputTokens) => {
    const usage = { ...USAGE, usage: { ...USAGE.usage, outputTokens } };
    const last = eventsOf(end().printStream(headOf()).end(finished(), usage)).at(-1);
    expect(JSON.parse(last?.data ?? "").response.usage).toBeNull();
  });

  test("without usage says that there is none", () => {
    const printer = end().printStream(headOf());
    expect(printer.end(finished(), undefined)).toContain('"usage":null');
  });
});

// Safe because the keys of the table are its causes.
const CAUSES = Object.keys(ERRORS) as (keyof typeof ERRORS)[];

describe("errors", () => {
  test.each(CAUSES)(
    "%s is said in the envelope of chat, with a status of its own and nothing of its reason",
    (cause) => {
      const error = new GatewayError(cause, { reason: new Error("canary") });
      const { message, chat, responses, code } = ERRORS[cause];
      expect(openaiResponses.statusOf(error)).toBe(responses[0]);
      expect(JSON.parse(openaiResponses.printError(error, "r"))).toEqual({
        error: {
          message,
          type: chat[1],
          code: cause === "prompt_too_long" ? "context_length_exceeded" : code,
        },
      });
      expect(openaiResponses.printErrorFrame(error, "r")).not.toContain("canary");
    },
  );

  test("case 19: a prompt that is too long has the code on which agents compact", () => {
    const error = new GatewayError("prompt_too_long");
    expect(openaiResponses.statusOf(error)).toBe(400);
    expect(JSON.parse(openaiResponses.printError(error, "r"))).toEqual({
      error: { message: error.publicMessage, type: "invalid_request_error", code: "context_length_exceeded" },
    });
  });

  const requestId = "0197f3a0-0000-7000-8000-000000000000";

  const failedEvents = (sent?: SentStream) =>
    eventsOf(
      openaiResponses.printErrorFrame(new GatewayError("upstream_broke_charged"), requestId, sent),
    ).map(({ event, data }) => {
      expect(event).toBe(JSON.parse(data).type);
      return JSON.parse(data);
    });
  const eventText = (members: object) => `event: x\ndata: ${JSON.stringify({ type: "x", ...members })}\n\n`;

  test("in a stream is a failed response with the code that agents know and the model that was asked for", () => {
    expect(failedEvents({ model: "asked", last: eventText({ sequence_number: 41 }) })).toMatchObject([
      {
        type: "response.failed",
        sequence_number: 42,
        response: {
          id: "resp_0197f3a0000070008000000000000000",
          created_at: Math.floor(0x0197f3a00000 / 1000),
          model: "asked",
          status: "failed",
          error: { code: "upstream_unavailable", message: ERRORS.upstream_broke_charged.message },
          output: [],
        },
      },
    ]);
  });

  test.each<[string, string, number]>([
    ["the last of several events", eventText({ sequence_number: 6 }) + eventText({ sequence_number: 7 }), 8],
    [
      "an event whose text looks like a number",
      eventText({ delta: '"sequence_number":99', sequence_number: 3 }),
      4,
    ],
    ["an event with data of several lines", 'event: x\ndata: {"sequence_number":\ndata: 5}\n\n', 6],
    ["events without numbers", eventText({}), 0],
    ["a number that is none", eventText({ sequence_number: "9" }), 0],
  ])("in a stream has the number behind %s", (_, last, next) => {
    expect(failedEvents({ model: "asked", last })).toMatchObject([
      { type: "response.failed", sequence_number: next },
    ]);
  });

  test("in a stream that has nothing in it comes behind the beginning of a response", () => {
    expect(failedEvents({ model: "asked", last: "" })).toMatchObject([
      { type: "response.created", sequence_number: 0, response: { model: "asked", status: "in_progress" } },
      { type: "response.failed", sequence_number: 1, response: { model: "asked", status: "failed" } },
    ]);
  });

  test("what must be paid first is refused in a stream that has nothing else in it", () => {
    for (const cause of ["wallet_empty", "wallet_on_hold", "spending_limit"] as const) {
      const error = new GatewayError(cause);
      expect(openaiResponses.refusesInStream(error)).toBe(true);
      const events = eventsOf(openaiResponses.printErrorFrame(error, requestId)).map(({ data }) =>
        JSON.parse(data),
      );
      expect(events).toMatchObject([
        { type: "response.created", sequence_number: 0, response: { status: "in_progress", error: null } },
        { type: "response.failed", sequence_number: 1, response: { error: { code: "insufficient_quota" } } },
      ]);
    }
    expect(openaiResponses.refusesInStream(new GatewayError("rate_limited"))).toBe(false);
  });
});
