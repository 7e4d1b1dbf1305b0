import { describe, expect, test } from "bun:test";
import type { ChatEvent, FinishEvent } from "../../src/domain/chat-event.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import { anthropicMessages } from "../../src/wire/anthropic-messages/format.ts";
import { printEvents, printReply } from "../../src/wire/anthropic-messages/ingress/print-answer.ts";
import type { EventReader } from "../../src/wire/format.ts";
import { collectReply, translateStream, translateWhole } from "../../src/wire/translate.ts";
import { UpstreamFault } from "../../src/wire/upstream-fault.ts";
import { requestOf } from "./play.ts";

const HEAD = {
  request: requestOf(anthropicMessages),
  isReasoningShown: false,
  id: "abc",
  createdAtS: 1,
  inputTokens: 3,
};
const SILENT = { text: "", isOutput: false, isReadable: false, generated: "", usage: undefined };

const finish = (reason: FinishEvent["reason"]): ChatEvent => ({
  kind: "finish",
  reason,
  stopSequence: undefined,
});
const called = (json: string): ChatEvent[] => [
  { kind: "tool_call", call: 0, id: "a", name: "f" },
  { kind: "tool_input", call: 0, json },
];

/** Translates one SSE event that contains these events, for a messages client without reasoning. */
function stream(...events: ChatEvent[]) {
  const reader: EventReader = { read: () => events, finished: true, done: true };
  const translated = translateStream(reader, printEvents(HEAD), (name) => name);
  return { part: translated.read({ event: undefined, data: "" }), ending: translated.ending };
}

function whole(...events: ChatEvent[]) {
  return translateWhole(
    events,
    (reply) => printReply(HEAD, reply),
    (name) => name,
  );
}

describe("an event that the client does not see", () => {
  test.each<[string, ChatEvent, generated: string]>([
    ["a block that began", { kind: "began" }, ""],
    ["reasoning", { kind: "reasoning", text: "hm" }, "hm"],
    ["a signature", { kind: "reasoning_signature", signature: "x" }, ""],
    ["redacted reasoning", { kind: "redacted_reasoning", data: "x" }, ""],
  ])("counts as output: %s", (_, event, generated) => {
    expect(stream(event).part).toEqual({ ...SILENT, isOutput: true, generated });
  });

  test("is not reported as output if there is no event", () => expect(stream().part).toEqual(SILENT));
});

describe("an answer with tool calls", () => {
  test("ends with the reason for tool calls if the host sends stop", () => {
    const { part, ending } = stream(...called("{}"), finish("stop"));
    expect(part.text + ending()).toContain('"stop_reason":"tool_use"');
    expect(whole(...called("{}"), finish("stop")).text).toContain('"stop_reason":"tool_use"');
  });

  test("is metered if the client format cannot represent it", () => {
    const usage = { ...NO_USAGE, inputTokens: 9, outputTokens: 7 };
    const part = whole(...called("no json"), finish("tool_calls"), {
      kind: "usage",
      usage,
      reasoningTokens: undefined,
    });
    expect(part).toMatchObject({ text: "", isReadable: true, generated: "fno json", usage });
    expect(part.unrepresentable).toBeInstanceOf(UpstreamFault);
    expect(stream(...called("no json"), finish("tool_calls")).ending).toThrow(UpstreamFault);
  });

  test("throws an UpstreamFault if it never finished", () =>
    expect(() => whole(...called("{}"))).toThrow(UpstreamFault));
});

const STOP: ChatEvent = { kind: "finish", reason: "stop", stopSequence: undefined };

const blocksOf = (...events: ChatEvent[]) => collectReply([...events, STOP]).blocks;

describe("collectReply", () => {
  test("joins consecutive texts of one kind and keeps the order in which blocks began", () => {
    expect(
      blocksOf(
        { kind: "reasoning", text: "hm" },
        { kind: "reasoning", text: "m" },
        { kind: "text", text: "a" },
        { kind: "text", text: "b" },
        { kind: "tool_call", call: 0, id: "c0", name: "f" },
        { kind: "text", text: "c" },
      ),
    ).toEqual([
      { kind: "reasoning", text: "hmm", signature: undefined },
      { kind: "text", text: "ab" },
      { kind: "tool_call", id: "c0", name: "f", input: "" },
      { kind: "text", text: "c" },
    ]);
  });

  test("ends a block of reasoning at its signature", () => {
    expect(
      blocksOf(
        { kind: "reasoning", text: "a" },
        { kind: "reasoning_signature", signature: "s1" },
        { kind: "reasoning", text: "b" },
        { kind: "redacted_reasoning", data: "d" },
        { kind: "reasoning_signature", signature: "s2" },
      ),
    ).toEqual([
      { kind: "reasoning", text: "a", signature: "s1" },
      { kind: "reasoning", text: "b", signature: undefined },
      { kind: "redacted_reasoning", data: "d" },
      { kind: "reasoning", text: "", signature: "s2" },
    ]);
  });

  test("assigns interleaved input fragments to their calls", () => {
    expect(
      blocksOf(
        { kind: "tool_call", call: 0, id: "a", name: "f" },
        { kind: "tool_call", call: 1, id: "b", name: "g" },
        { kind: "tool_input", call: 1, json: "{}" },
        { kind: "tool_input", call: 0, json: '{"x"' },
        { kind: "tool_input", call: 0, json: ":1}" },
      ),
    ).toEqual([
      { kind: "tool_call", id: "a", name: "f", input: '{"x":1}' },
      { kind: "tool_call", id: "b", name: "g", input: "{}" },
    ]);
  });

  test("makes no block of an empty text", () => expect(blocksOf({ kind: "text", text: "" })).toEqual([]));

  test("throws an UpstreamFault for an answer without a finish", () =>
    expect(() => collectReply([{ kind: "text", text: "a" }])).toThrow(UpstreamFault));
});
