import { describe, expect, test } from "bun:test";
import type { ChatEvent, FinishEvent, OutputEvent, UsageEvent } from "../../../src/domain/chat-event.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import { printEvents, printReply } from "../../../src/wire/anthropic-messages/ingress/print-answer.ts";
import type { ReplyHead } from "../../../src/wire/format.ts";
import { collectReply } from "../../../src/wire/translate.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { eventsOf, headOf as replyHeadOf, requestOf } from "../play.ts";

const SHOWN = { thinking: { type: "enabled", budget_tokens: 1024 } };

function headOf(members: object = SHOWN): ReplyHead {
  return replyHeadOf(requestOf(anthropicMessages, members), { id: "abc1", createdAtS: 1, inputTokens: 33 });
}

const text = (words: string): OutputEvent => ({ kind: "text", text: words });
const call = (number: number, id = `t${number}`): OutputEvent => ({
  kind: "tool_call",
  call: number,
  id,
  name: `f${number}`,
});
const input = (number: number, json: string): OutputEvent => ({ kind: "tool_input", call: number, json });
const finish = (reason: FinishEvent["reason"] = "stop", stopSequence?: string): FinishEvent => ({
  kind: "finish",
  reason,
  stopSequence,
});
const USAGE: UsageEvent = {
  kind: "usage",
  usage: {
    inputTokens: 10,
    cachedInputTokens: 4,
    cacheWriteTokens: 3,
    cacheWrite1hTokens: 2,
    outputTokens: 7,
  },
  reasoningTokens: 5,
};
const PRINTED_USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 4,
  cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 2 },
  output_tokens: 7,
  output_tokens_details: { thinking_tokens: 5 },
};
const GUESSED_USAGE = {
  input_tokens: 33,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: null,
  output_tokens: 0,
};

interface Printing {
  readonly head?: ReplyHead;
  readonly finish?: FinishEvent;
  readonly usage?: UsageEvent;
}

/** The events of a streamed answer, before and from its finish. */
function stream(output: readonly OutputEvent[], how: Printing = {}) {
  const printer = printEvents(how.head ?? headOf());
  const early = output.map((event) => printer.print(event)).join("");
  const frames = (printed: string) => eventsOf(printed).map(({ data }) => JSON.parse(data));
  return { early: frames(early), end: frames(printer.end(how.finish ?? finish(), how.usage)), text: early };
}

function whole(output: readonly OutputEvent[], how: Printing = {}) {
  const usage: readonly ChatEvent[] = how.usage ? [how.usage] : [];
  const reply = collectReply([...output, how.finish ?? finish(), ...usage]);
  return JSON.parse(printReply(how.head ?? headOf(), reply));
}

interface Frame {
  readonly type: string;
  readonly index?: number;
  readonly delta?: Readonly<Record<string, string>>;
  readonly content_block?: { readonly type: string };
}

/** Types of events, with the index of their block and the content of their delta. */
function shapeOf(frames: readonly Frame[]): string[] {
  return frames.map(({ type, index, delta = {}, content_block: block }) => {
    const words = delta.text ?? delta.thinking ?? delta.signature ?? delta.partial_json;
    return `${type.replace("content_block_", "")} ${index ?? ""} ${block?.type ?? words ?? ""}`.trim();
  });
}

describe("a printed stream", () => {
  test("contains every event that clients expect, each under its name", () => {
    const head = headOf();
    const printer = printEvents(head);
    const printed = printer.print(text("Hi")) + printer.end(finish(), USAGE);
    for (const { event, data } of eventsOf(printed)) expect(event).toBe(JSON.parse(data).type);
    expect(eventsOf(printed).map(({ data }) => JSON.parse(data))).toEqual([
      {
        type: "message_start",
        message: {
          id: "msg_abc1",
          type: "message",
          role: "assistant",
          model: "asked",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          usage: GUESSED_USAGE,
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null, stop_details: null },
        usage: PRINTED_USAGE,
      },
      { type: "message_stop" },
    ]);
  });

  test("case 45: starts each block after the previous one stops, with its own deltas only", () => {
    const output = [
      { kind: "reasoning", text: "hm" } as const,
      { kind: "reasoning_signature", signature: "c2ln" } as const,
      { kind: "redacted_reasoning", data: "eA==" } as const,
      text("So"),
      text(""),
      text(" be it"),
      call(0),
      input(0, '{"a":'),
      input(0, "1}"),
      call(1),
      text("Done"),
    ];
    const { early, end } = stream(output, { finish: finish("tool_calls") });
    expect(shapeOf([...early, ...end])).toEqual([
      "message_start",
      "start 0 thinking",
      "delta 0 hm",
      "delta 0 c2ln",
      "stop 0",
      "start 1 redacted_thinking",
      "stop 1",
      "start 2 text",
      "delta 2 So",
      "delta 2  be it",
      "stop 2",
      "start 3 tool_use",
      'delta 3 {"a":',
      "delta 3 1}",
      "stop 3",
      "start 4 tool_use",
      "stop 4",
      "start 5 text",
      "delta 5 Done",
      "stop 5",
      "message_delta",
      "message_stop",
    ]);
  });

  test("case 46: starts a call with an empty input, and sends no delta for a call without input", () => {
    const { early, end } = stream([call(0), input(0, "")], { finish: finish("tool_calls") });
    expect(early[1].content_block).toEqual({ type: "tool_use", id: "t0", name: "f0", input: {} });
    expect(shapeOf(end)).toEqual(["stop 0", "message_delta", "message_stop"]);
  });

  test("drops white space before and after an input", () => {
    const { early } = stream([call(0), input(0, " \n"), input(0, "{}"), input(0, "\n")], {
      finish: finish("tool_calls"),
    });
    expect(shapeOf(early).slice(1)).toEqual(["start 0 tool_use", "delta 0 {}"]);
  });

  test("holds an interleaved call back only until the open call is complete", () => {
    const printer = printEvents(headOf());
    const shapes = (event: OutputEvent) =>
      shapeOf(eventsOf(printer.print(event)).map(({ data }) => JSON.parse(data)));
    expect(shapes(call(0))).toEqual(["message_start", "start 0 tool_use"]);
    expect(shapes(call(1))).toEqual([]);
    expect(shapes(input(1, '{"b":"}'))).toEqual([]);
    expect(shapes(input(0, '{"a":"}\\"'))).toEqual(['delta 0 {"a":"}\\"']);
    expect(shapes(input(1, '"}'))).toEqual([]);
    expect(shapes(text("Well"))).toEqual([]);
    expect(shapes(input(0, '"}'))).toEqual([
      'delta 0 "}',
      "stop 0",
      "start 1 tool_use",
      'delta 1 {"b":"}',
      'delta 1 "}',
      "stop 1",
      "start 2 text",
      "delta 2 Well",
    ]);
    expect(shapes(input(0, " \n"))).toEqual([]);
  });

  test("prints all waiting calls at the end", () => {
    const { early, end } = stream([call(0), call(1), input(1, "{}")], { finish: finish("tool_calls") });
    expect(shapeOf(early)).toEqual(["message_start", "start 0 tool_use"]);
    expect(shapeOf(end)).toEqual([
      "stop 0",
      "start 1 tool_use",
      "delta 1 {}",
      "stop 1",
      "message_delta",
      "message_stop",
    ]);
  });

  test("shows reasoning only to clients that asked for it, and starts no message for others", () => {
    const reasoning: OutputEvent[] = [
      { kind: "reasoning", text: "hm" },
      { kind: "reasoning_signature", signature: "c2ln" },
      { kind: "redacted_reasoning", data: "eA==" },
    ];
    const hidden = { head: headOf({ thinking: { type: "adaptive", display: "omitted" } }) };
    expect(stream(reasoning, hidden).text).toBe("");
    expect(shapeOf(stream([...reasoning, text("Hi")], hidden).early)).toEqual([
      "message_start",
      "start 0 text",
      "delta 0 Hi",
    ]);
    expect(stream(reasoning).early[1].content_block).toEqual({
      type: "thinking",
      thinking: "",
      signature: "",
    });
  });

  test("starts and ends even without output", () =>
    expect(shapeOf(stream([text("")]).end)).toEqual(["message_start", "message_delta", "message_stop"]));

  test("prints a thousand calls that waited for the first", () => {
    const calls = Array.from({ length: 1000 }, (_, number) => call(number));
    const inputs = calls.flatMap((_, number) => Array.from({ length: 4 }, () => input(999 - number, " ")));
    const { end } = stream([...calls, ...inputs], { finish: finish("tool_calls") });
    expect(end.filter(({ type }) => type === "content_block_start")).toHaveLength(999);
  });
});

describe("a printed message", () => {
  test("contains all blocks in order", () => {
    const output: OutputEvent[] = [
      { kind: "reasoning", text: "hm" },
      { kind: "reasoning_signature", signature: "c2ln" },
      { kind: "reasoning", text: "ah" },
      { kind: "redacted_reasoning", data: "eA==" },
      text("So"),
      call(0),
      call(1),
      input(1, '{"n":1.0}'),
    ];
    expect(whole(output, { finish: finish("tool_calls"), usage: USAGE })).toEqual({
      id: "msg_abc1",
      type: "message",
      role: "assistant",
      model: "asked",
      content: [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "thinking", thinking: "ah", signature: "" },
        { type: "redacted_thinking", data: "eA==" },
        { type: "text", text: "So" },
        { type: "tool_use", id: "t0", name: "f0", input: {} },
        { type: "tool_use", id: "t1", name: "f1", input: { n: 1 } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      stop_details: null,
      usage: PRINTED_USAGE,
    });
  });

  test("contains no reasoning for a client that did not ask for it", () => {
    const output: OutputEvent[] = [
      { kind: "reasoning", text: "hm" },
      { kind: "redacted_reasoning", data: "eA==" },
    ];
    expect(whole([...output, text("So")], { head: headOf({}) }).content).toEqual([
      { type: "text", text: "So" },
    ]);
  });

  test("keeps all digits of numbers in an input", () => {
    const reply = collectReply([call(0), input(0, '{"n":12345678901234567890}'), finish("tool_calls")]);
    expect(printReply(headOf(), reply)).toContain('"input":{"n":12345678901234567890}');
  });
});

describe("a printed answer, whole or streamed", () => {
  const ends = (output: readonly OutputEvent[], how: Printing) => {
    const { end } = stream(output, how);
    const { delta, usage } = end.find(({ type }) => type === "message_delta");
    const { stop_reason, stop_sequence, stop_details, usage: wholeUsage } = whole(output, how);
    expect({ stop_reason, stop_sequence, stop_details }).toEqual(delta);
    expect(wholeUsage).toEqual(usage);
    return { ...delta, usage };
  };

  test.each<[string, readonly OutputEvent[], FinishEvent, object]>([
    ["an ordinary end", [text("Hi")], finish(), { stop_reason: "end_turn", stop_sequence: null }],
    [
      "a stop sequence",
      [text("Hi")],
      finish("stop", "END"),
      { stop_reason: "stop_sequence", stop_sequence: "END" },
    ],
    ["a limit", [text("Hi")], finish("length"), { stop_reason: "max_tokens" }],
    ["calls", [call(0)], finish("tool_calls"), { stop_reason: "tool_use" }],
    [
      "a filter",
      [text("Hi")],
      finish("content_filter"),
      { stop_reason: "refusal", stop_details: { type: "refusal" } },
    ],
    ["a refusal", [{ kind: "refusal", text: "No." }], finish(), { stop_reason: "refusal" }],
  ])("ends with the stop reason for %s", (_, output, finishEvent, expected) => {
    expect(ends(output, { finish: finishEvent })).toMatchObject(expected);
  });

  test("case 47: reports usage at the end, and a guess without output at the start", () => {
    expect(ends([text("Hi")], { usage: USAGE }).usage).toEqual(PRINTED_USAGE);
    expect(stream([text("Hi")], { usage: USAGE }).early[0].message.usage).toEqual(GUESSED_USAGE);
  });

  test.each([Number.NaN, -1, 0.5, 2 ** 60])(
    "reports the guess when the upstream reports %p output tokens",
    (outputTokens) => {
      const usage: UsageEvent = { ...USAGE, usage: { ...USAGE.usage, outputTokens } };
      expect(ends([text("Hi")], { usage }).usage).toEqual(GUESSED_USAGE);
      expect(ends([text("Hi")], {}).usage).toEqual(GUESSED_USAGE);
    },
  );

  test("prints a refusal as text", () => {
    const output: OutputEvent[] = [text("Well"), { kind: "refusal", text: "No." }];
    expect(whole(output).content).toEqual([
      { type: "text", text: "Well" },
      { type: "text", text: "No." },
    ]);
    expect(shapeOf(stream(output).early).at(-1)).toBe("delta 1 No.");
  });

  test("keeps call ids, and replaces unusable and repeated ones", () => {
    const ids = ["call_1", "", "call_1", "a b", "x".repeat(257)];
    const output = ids.map((id, number) => call(number, id));
    const how = { finish: finish("tool_calls") };
    const { early, end } = stream(output, how);
    const started = [...early, ...end].flatMap(({ content_block: block }) => (block ? [block.id] : []));
    expect(started).toEqual(["call_1", "toolu_abc11", "toolu_abc12", "toolu_abc13", "toolu_abc14"]);
    expect(whole(output, how).content.map((block: { id: string }) => block.id)).toEqual(started);
  });

  test.each(['{"a":', "[]", '"{}"', "{}{}", "null", "canary"])(
    "case 53: is a fault with a tool input of %j",
    (json) => {
      const output = [call(0), input(0, json)];
      for (const run of [() => stream(output), () => whole(output)]) {
        expect(run).toThrow(UpstreamFault);
        expect(run).not.toThrow(/canary/);
      }
    },
  );

  test("is a fault when a call continues after its end", () => {
    const output = [call(0), input(0, "{}"), call(1), input(0, "{}")];
    for (const run of [() => stream(output), () => whole(output)]) expect(run).toThrow(UpstreamFault);
  });

  test.each(["\ufeff", "\u00a0", "\u2028"])(
    "is a fault with %j in a tool input, which JSON does not accept as white space",
    (odd) => {
      const output = [call(0), input(0, odd), input(0, "{}")];
      for (const run of [() => stream(output), () => whole(output)]) expect(run).toThrow(UpstreamFault);
    },
  );

  test.each(["length", "content_filter"] as const)(
    "cut off by %s, contains a partial call in a stream and none as a whole",
    (reason) => {
      const output = [call(0), input(0, "{}"), call(1), input(1, '{"a":')];
      const { early } = stream(output, { finish: finish(reason) });
      expect(shapeOf(early).at(-1)).toBe('delta 1 {"a":');
      expect(whole(output, { finish: finish(reason) }).content).toEqual([
        { type: "tool_use", id: "t0", name: "f0", input: {} },
      ]);
    },
  );

  test("passes a very deeply nested input unchanged", () => {
    const json = `{"a":${"[".repeat(90_000)}${"]".repeat(90_000)}}`;
    const output = [call(0), input(0, json)];
    const how = { finish: finish("tool_calls") };
    expect(printReply(headOf(), collectReply([...output, how.finish]))).toContain(json);
    expect(stream(output, how).early.at(-1).delta.partial_json).toBe(json);
  });
});
