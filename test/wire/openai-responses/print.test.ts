import { describe, expect, test } from "bun:test";
import type { ChatEvent, FinishReason, OutputEvent } from "../../../src/domain/chat-event.ts";
import { ERRORS, GatewayError } from "../../../src/errors.ts";
import type { ReplyHead, SentStream } from "../../../src/wire/format.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/format.ts";
import { encodeReasoning, isEncodedReasoning } from "../../../src/wire/openai-responses/items.ts";
import { collectReply } from "../../../src/wire/translate.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { eventsOf, headOf as replyHeadOf } from "../play.ts";

const CUSTOM = [{ type: "custom", name: "patch" }];
const NAMESPACED = [{ type: "namespace", name: "space", tools: [{ type: "function", name: "go" }] }];
const ENCRYPTED = { include: ["reasoning.encrypted_content"] };
const SHOWN = { reasoning: { summary: "auto" } };

type Json = Record<string, unknown>;

function headOf(members: object = {}): ReplyHead {
  const text = JSON.stringify({ model: "asked", input: "hi", ...members });
  const request = openaiResponses.parseRequest(text);
  return replyHeadOf(request, { createdAtS: 1_790_000_000, inputTokens: 5 });
}

function ingress(): NonNullable<typeof openaiResponses.ingress> {
  if (!openaiResponses.ingress) throw new Error("The format has no ingress codec");
  return openaiResponses.ingress;
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

/** The parsed events of a stream. */
function stream(steps: readonly OutputEvent[], members: object = {}, reason: FinishReason = "stop"): Json[] {
  const printer = ingress().printStream(headOf(members));
  const text = steps.map((event) => printer.print(event)).join("") + printer.end(finished(reason), USAGE);
  return eventsOf(text).map(({ event, data }) => {
    const value = JSON.parse(data);
    expect(event).toBe(value.type);
    return value;
  });
}

/** The whole answer for the output that {@link stream} prints. */
function whole(steps: readonly OutputEvent[], members: object = {}, reason: FinishReason = "stop") {
  const events: ChatEvent[] = [...steps, finished(reason), USAGE];
  return JSON.parse(ingress().printWhole(headOf(members), collectReply(events)));
}

function outputOf(
  steps: readonly OutputEvent[],
  members: object = {},
  reason: FinishReason = "stop",
): Json[] {
  const { output } = whole(steps, members, reason);
  const last = stream(steps, members, reason).at(-1)?.response;
  expect(last).toEqual(whole(steps, members, reason));
  return output;
}

const typesOf = (events: readonly Json[]) => events.map(({ type }) => String(type).replace("response.", ""));
const textStep = (text: string): OutputEvent => ({ kind: "text", text });
const reasoningStep = (text: string): OutputEvent => ({ kind: "reasoning", text });
const call = (number: number, name = "f"): OutputEvent => ({
  kind: "tool_call",
  call: number,
  id: `call_${number}`,
  name,
});
const input = (number: number, json: string): OutputEvent => ({ kind: "tool_input", call: number, json });

describe("a printed stream", () => {
  test("case 70: contains the full sequence of a text, with rising sequence numbers", () => {
    const events = stream([textStep("Hel"), textStep("lo"), textStep("")]);
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

  test("contains one response at both ends, first in progress and then completed", () => {
    const events = stream([textStep("Hello")]);
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

  test("sends arguments as they arrive, under the upstream's call id", () => {
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

  test("turns missing arguments into an empty object, in its deltas too", () => {
    const events = stream([call(0)]);
    expect(events.filter(({ type }) => type === "response.function_call_arguments.delta")).toMatchObject([
      { delta: "{}" },
    ]);
    expect(events.at(-2)).toMatchObject({ item: { arguments: "{}" } });
  });

  test("ends an item before the next begins, unless it may continue", () => {
    const order = (steps: readonly OutputEvent[]) =>
      stream(steps)
        .filter(({ type }) => String(type).startsWith("response.output_item"))
        .map(({ type, output_index }) => `${String(type).slice(21)} ${output_index}`);
    expect(order([textStep("a"), call(0), input(0, "{}"), call(1), input(1, "{}"), textStep("b")])).toEqual([
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

  test("keeps the arguments of interleaved calls apart", () => {
    const steps = [call(0), input(0, '{"a"'), call(1), input(1, '{"b"'), input(0, ":0}"), input(1, ":1}")];
    expect(outputOf(steps)).toMatchObject([{ arguments: '{"a":0}' }, { arguments: '{"b":1}' }]);
    const items = stream(steps).filter(({ type }) => type === "response.function_call_arguments.delta");
    expect(items.map(({ item_id }) => item_id)).toEqual(["fc_abc_0", "fc_abc_1", "fc_abc_0", "fc_abc_1"]);
  });

  test("prints 20,000 calls that never end in linear time", () => {
    const printer = ingress().printStream(headOf());
    const ms = cpuMs(() => {
      for (let number = 0; number < 20_000; number += 1) printer.print(call(number));
      expect(printer.end(finished("tool_calls"), undefined)).toContain("fc_abc_19999");
    });
    expect(ms).toBeLessThan(5_000);
  });

  test("does not parse a long unfinished call again for every later event", () => {
    const printer = ingress().printStream(headOf());
    const ms = cpuMs(() => {
      printer.print(call(0));
      printer.print(input(0, `{"a":"${"x".repeat(4_000_000)}`));
      for (let number = 0; number < 5_000; number += 1)
        printer.print({ kind: "redacted_reasoning", data: "x" });
      printer.end(finished("length"), undefined);
    });
    expect(ms).toBeLessThan(5_000);
  });

  test("begins and ends even without output", () =>
    expect(typesOf(stream([], {}, "content_filter"))).toEqual(["created", "in_progress", "incomplete"]));
});

describe("the printed items", () => {
  test("include texts and a refusal as parts of one message", () => {
    const steps = [textStep("a"), { kind: "refusal", text: "No" } as const, textStep("b")];
    expect(outputOf(steps)).toMatchObject([
      { content: [{ text: "a" }, { type: "refusal", refusal: "No" }, { text: "b" }] },
    ]);
    const parts = stream(steps).filter(({ type }) => type === "response.content_part.done");
    expect(parts.map(({ content_index }) => content_index)).toEqual([0, 1, 2]);
  });

  test("include the call of a free-form tool with its text unwrapped", () => {
    const steps = [call(0, "patch"), input(0, '{"input":"*** Be'), input(0, 'gin\\n"}')];
    expect(outputOf(steps, { tools: CUSTOM })).toEqual([
      {
        id: "ctc_abc_0",
        type: "custom_tool_call",
        status: "completed",
        call_id: "call_0",
        name: "patch",
        input: "*** Begin\n",
      },
    ]);
    expect(typesOf(stream(steps, { tools: CUSTOM })).slice(2)).toEqual([
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
  ])("unwrap the free-form input %s to %s", (json, text) => {
    expect(outputOf([call(0, "patch"), input(0, json)], { tools: CUSTOM })).toMatchObject([{ input: text }]);
  });

  test("include the call of a namespaced tool with both its names", () => {
    expect(outputOf([call(0, "space__go")], { tools: NAMESPACED })).toMatchObject([
      { name: "go", namespace: "space" },
    ]);
  });

  test("include reasoning as a summary if the client asked for one", () => {
    const steps = [reasoningStep("hm"), reasoningStep("!"), textStep("Hi")];
    expect(outputOf(steps)).toMatchObject([{ type: "message" }]);
    expect(outputOf(steps, SHOWN)).toMatchObject([
      { id: "rs_abc_0", type: "reasoning", summary: [{ type: "summary_text", text: "hm!" }] },
      { id: "msg_abc_1" },
    ]);
    expect(typesOf(stream(steps, SHOWN)).slice(2, 9)).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
    ]);
  });

  test("include encrypted reasoning if the client asked for it, which reads back unchanged", () => {
    const signed = { kind: "reasoning_signature", signature: "sig" } as const;
    const redacted = { kind: "redacted_reasoning", data: "secret" } as const;
    const steps = [reasoningStep("hm"), signed, redacted, call(0), input(0, "{}")];
    expect(outputOf(steps)).toHaveLength(1);
    expect(JSON.stringify(outputOf(steps, SHOWN))).not.toContain("encrypted_content");
    const items = outputOf(steps, ENCRYPTED);
    expect(items).toMatchObject([
      {
        type: "reasoning",
        summary: [],
        encrypted_content: encodeReasoning({ text: "hm", signature: "sig" }),
      },
      { type: "reasoning", summary: [], encrypted_content: encodeReasoning({ data: "secret" }) },
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

  test("include no encrypted content for unsigned reasoning", () => {
    expect(outputOf([reasoningStep("hm"), textStep("Hi")], ENCRYPTED)).toHaveLength(1);
    expect(isEncodedReasoning("gAAAA")).toBe(false);
  });

  test("are incomplete when the answer was cut off in them", () => {
    const steps = [textStep("a"), call(0), input(0, '{"a":')];
    expect(whole(steps, {}, "length")).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    expect(outputOf(steps, {}, "length")).toMatchObject([
      { status: "completed" },
      { status: "incomplete", arguments: '{"a":' },
    ]);
    expect(outputOf([textStep("a")], {}, "length")).toMatchObject([{ status: "incomplete" }]);
    expect(whole([textStep("a")], {}, "content_filter")).toMatchObject({
      incomplete_details: { reason: "content_filter" },
    });
  });

  test("include an id for a call without one", () => {
    expect(outputOf([{ kind: "tool_call", call: 0, id: "", name: "f" }])).toMatchObject([
      { call_id: "call_abc_0" },
    ]);
  });

  test("include a new id for a call with a repeated one", () => {
    const steps = [0, 1, 2].map(
      (number): OutputEvent => ({ kind: "tool_call", call: number, id: "c", name: "f" }),
    );
    expect(outputOf(steps)).toMatchObject([
      { call_id: "c" },
      { call_id: "call_abc_1" },
      { call_id: "call_abc_2" },
    ]);
  });

  test("are not begun while all output is hidden", () => {
    const printer = ingress().printStream(headOf());
    expect(printer.print(reasoningStep("hm"))).toBe("");
    expect(printer.print({ kind: "reasoning_signature", signature: "x" })).toBe("");
    expect(
      typesOf(eventsOf(printer.print(textStep("a"))).map(({ data }) => JSON.parse(data))).slice(0, 3),
    ).toEqual(["created", "in_progress", "output_item.added"]);
  });
});

describe("the printed response", () => {
  test("echoes the fields of its request, with defaults for missing ones", () => {
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
    expect(whole([textStep("x")], asked)).toMatchObject({
      ...asked,
      tools: [
        { type: "function", name: "f", description: null, parameters: null, strict: null },
        { type: "web_search" },
      ],
      reasoning: { effort: "low", summary: null },
      store: false,
      previous_response_id: null,
    });
    expect(whole([textStep("x")])).toMatchObject({
      instructions: null,
      temperature: 1,
      tools: [],
      tool_choice: "auto",
      text: { format: { type: "text" } },
      metadata: {},
    });
  });

  test("does not echo very long or very deeply nested fields", () => {
    const long = { instructions: "x".repeat(1_100_000) };
    expect(whole([textStep("x")], long)).toMatchObject({ instructions: null });
    const deep = `${'{"a":'.repeat(90_000)}1${"}".repeat(90_000)}`;
    const request = openaiResponses.parseRequest(`{"model":"asked","input":"hi","metadata":${deep}}`);
    const printer = ingress().printStream(replyHeadOf(request));
    expect(printer.print(textStep("x"))).toContain('"metadata":{}');
  });

  test.each([-1, 0.5, Number.NaN, 1e300])(
    "has no usage when the upstream reports %d output tokens",
    (outputTokens) => {
      const usage = { ...USAGE, usage: { ...USAGE.usage, outputTokens } };
      const last = eventsOf(ingress().printStream(headOf()).end(finished(), usage)).at(-1);
      expect(JSON.parse(last?.data ?? "").response.usage).toBeNull();
    },
  );

  test("has null usage when the upstream reports none", () => {
    const printer = ingress().printStream(headOf());
    expect(printer.end(finished(), undefined)).toContain('"usage":null');
  });
});

// Safe because the keys of the table are the causes.
const CAUSES = Object.keys(ERRORS) as (keyof typeof ERRORS)[];

/** The codes of OpenAI on which clients act. */
const KNOWN_CODES: Partial<Record<keyof typeof ERRORS, string>> = {
  prompt_too_long: "context_length_exceeded",
  unknown_previous_response: "previous_response_not_found",
  wrong_stream_id: "invalid_stream_id",
  too_many_streams: "websocket_stream_limit_reached",
  socket_too_old: "websocket_connection_limit_reached",
};

describe("a printed error", () => {
  test.each(CAUSES)(
    "for %s has the envelope of chat completions, its own status, and no internal reason",
    (cause) => {
      const error = new GatewayError(cause, { reason: new Error("canary") });
      const { message, chat, responses, code } = ERRORS[cause];
      expect(openaiResponses.statusOf(error)).toBe(responses[0]);
      expect(JSON.parse(openaiResponses.printError(error, "r"))).toEqual({
        error: {
          message,
          type: chat[1],
          code: KNOWN_CODES[cause] ?? code,
        },
      });
      expect(openaiResponses.printErrorFrame(error, "r")).not.toContain("canary");
    },
  );

  test("case 19: for a prompt that is too long has the code on which agents compact", () => {
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

  test("in a stream is response.failed with a code that agents know and the requested model", () => {
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
    ["a number as a string", eventText({ sequence_number: "9" }), 0],
  ])("in a stream has the sequence number after %s", (_, last, next) => {
    expect(failedEvents({ model: "asked", last })).toMatchObject([
      { type: "response.failed", sequence_number: next },
    ]);
  });

  test("in an empty stream follows response.created", () => {
    expect(failedEvents({ model: "asked", last: "" })).toMatchObject([
      { type: "response.created", sequence_number: 0, response: { model: "asked", status: "in_progress" } },
      { type: "response.failed", sequence_number: 1, response: { model: "asked", status: "failed" } },
    ]);
  });

  test("with status 402 is sent inside an otherwise empty stream", () => {
    for (const cause of ["wallet_empty", "wallet_on_hold", "spending_limit"] as const) {
      const error = new GatewayError(cause);
      expect(openaiResponses.sendsErrorInStream(error)).toBe(true);
      const events = eventsOf(openaiResponses.printErrorFrame(error, requestId)).map(({ data }) =>
        JSON.parse(data),
      );
      expect(events).toMatchObject([
        { type: "response.created", sequence_number: 0, response: { status: "in_progress", error: null } },
        { type: "response.failed", sequence_number: 1, response: { error: { code: "insufficient_quota" } } },
      ]);
    }
    expect(openaiResponses.sendsErrorInStream(new GatewayError("rate_limited"))).toBe(false);
  });
});
