import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../src/domain/chat-event.ts";
import { collectReply } from "../../src/wire/translate.ts";
import { UpstreamFault } from "../../src/wire/upstream-fault.ts";

const FINISH: ChatEvent = { kind: "finish", reason: "stop", stopSequence: undefined };

const blocksOf = (...events: ChatEvent[]) => collectReply([...events, FINISH]).blocks;

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
        { kind: "reasoning_seal", signature: "s1" },
        { kind: "reasoning", text: "b" },
        { kind: "redacted_reasoning", data: "d" },
        { kind: "reasoning_seal", signature: "s2" },
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

  test("makes no block of an empty text", () => {
    expect(blocksOf({ kind: "text", text: "" })).toEqual([]);
  });

  test("throws an UpstreamFault for an answer without a finish", () => {
    expect(() => collectReply([{ kind: "text", text: "a" }])).toThrow(UpstreamFault);
  });
});
