import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/domain/chat-event.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { readEvents, readReply } from "../../../src/wire/google-gemini/egress/read-answer.ts";
import { encodeSignature } from "../../../src/wire/google-gemini/thinking.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { chunkOf, eventsOf as framesOf, type Json, SHORT_ANSWER } from "../../support/scripted-google.ts";
import { eventsOf } from "../play.ts";

const SOURCE = { origin: "google gemini-3", isClaude: false };
const FINISH = { kind: "finish", reason: "stop", stopSequence: undefined } as const;
const OUR_USAGE = { ...NO_USAGE, inputTokens: 5, cachedInputTokens: 2, outputTokens: 7 };

/** Reads chunks as a stream. */
function read(...chunks: readonly Json[]): readonly ChatEvent[] {
  const reader = readEvents(SOURCE);
  return eventsOf(framesOf(chunks)).flatMap((event) => reader.read(event));
}

function readWhole(body: Json): readonly ChatEvent[] {
  return readReply(JSON.stringify(body), SOURCE);
}

function sealed(signature: string, callId?: string): ChatEvent {
  return { kind: "redacted_reasoning", data: encodeSignature(SOURCE.origin, { signature, callId }) };
}

function faultOf(run: () => unknown): UpstreamFault {
  try {
    run();
  } catch (error) {
    if (error instanceof UpstreamFault) return error;
    throw error;
  }
  throw new Error("There was no fault");
}

describe("an answer of Gemini", () => {
  test("is read to its texts, its finish and its usage, whole and streamed", () => {
    const expected = [
      { kind: "text", text: "Hello there." },
      FINISH,
      { kind: "usage", usage: OUR_USAGE, reasoningTokens: 4 },
    ] as const;
    expect(readWhole(SHORT_ANSWER)).toEqual(expected);
    expect(read(SHORT_ANSWER)).toEqual(expected);
  });

  test("has thoughts as reasoning and signatures as encrypted reasoning before a call", () => {
    const thought = { text: "Let me see.", thought: true };
    const one = {
      functionCall: { id: "f1", name: "weather", args: { city: "Bonn" } },
      thoughtSignature: "c2ln",
    };
    const two = { functionCall: { name: "time" } };
    expect(read(chunkOf([thought]), chunkOf([one, two]), chunkOf([], {}, "STOP"))).toEqual([
      { kind: "reasoning", text: "Let me see." },
      sealed("c2ln", "f1"),
      { kind: "tool_call", call: 0, id: "f1", name: "weather" },
      { kind: "tool_input", call: 0, json: '{"city":"Bonn"}' },
      { kind: "tool_call", call: 1, id: "call_resp-1_1", name: "time" },
      { kind: "tool_input", call: 1, json: "{}" },
      FINISH,
    ]);
  });

  test("has the signature of a text before it, or at the end where the text has begun", () => {
    const signed = { text: "One", thoughtSignature: "YQ==" };
    expect(read(chunkOf([signed], {}, "STOP"))).toEqual([
      sealed("YQ=="),
      { kind: "text", text: "One" },
      FINISH,
    ]);
    const last = { text: "", thoughtSignature: "Yg==" };
    expect(read(chunkOf([{ text: "One" }]), chunkOf([last], {}, "STOP"))).toEqual([
      { kind: "text", text: "One" },
      sealed("Yg=="),
      FINISH,
    ]);
  });

  test.each([
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["MALFORMED_FUNCTION_CALL", "length"],
    ["OTHER", "length"],
    ["A_NEW_REASON", "stop"],
  ] as const)("that ends with %s finishes with %s", (reason, expected) => {
    expect(read(chunkOf([{ text: "x" }], {}, reason)).at(-1)).toEqual({ ...FINISH, reason: expected });
  });

  test("to a blocked prompt is a content filter without output", () => {
    const blocked = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 4 } };
    expect(readWhole(blocked)).toEqual([
      { ...FINISH, reason: "content_filter" },
      {
        kind: "usage",
        usage: { ...OUR_USAGE, inputTokens: 4, cachedInputTokens: 0, outputTokens: 0 },
        reasoningTokens: undefined,
      },
    ]);
  });

  test("counts results of Google's own tools as input, and tokens of the total alone as output", () => {
    const usageMetadata = {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: 3,
      totalTokenCount: 25,
    };
    expect(read(chunkOf([{ text: "x" }], { usageMetadata }, "STOP")).at(-1)).toMatchObject({
      usage: { inputTokens: 15, cachedInputTokens: 0, outputTokens: 10 },
    });
  });

  test("without candidates, without a finish or with a malformed part is a fault", () => {
    expect(faultOf(() => readWhole({ candidates: [] })).message).toBe("The answer has no finish");
    expect(faultOf(() => readWhole(chunkOf([{ text: "x" }]))).message).toBe("The answer has no finish");
    expect(faultOf(() => readReply("[]")).message).toBe("The answer is not JSON");
    expect(faultOf(() => read(chunkOf([{ functionCall: { args: {} } }]))).message).toContain("no name");
    expect(faultOf(() => read(chunkOf([{ functionCall: { name: "f", args: [] } }]))).message).toContain(
      "no object",
    );
    expect(faultOf(() => read({ candidates: [{}, {}] })).message).toBe("There are several candidates");
    expect(faultOf(() => readEvents().read({ event: undefined, data: "{" })).message).toBe(
      "A chunk is not JSON",
    );
  });

  test("that reports an error inside of a stream is a fault, with the tokens of a prompt that is too long", () => {
    const error = { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" };
    expect(faultOf(() => read({ error })).promptTooLong).toBeUndefined();
    const tooLong = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";
    expect(faultOf(() => read({ error: { ...error, message: tooLong } })).promptTooLong).toEqual({
      tokens: 1_200_293,
    });
  });

  test("ignores output and malformed chunks after its finish, but not the usage", () => {
    const reader = readEvents(SOURCE);
    const events = eventsOf(
      `${framesOf([chunkOf([{ text: "x" }], {}, "STOP"), chunkOf([{ text: "y" }])])}data: {\n\n${framesOf([{ usageMetadata: { promptTokenCount: 1 } }])}`,
    ).flatMap((event) => reader.read(event));
    expect(events.map(({ kind }) => kind)).toEqual(["text", "finish", "usage"]);
    expect(reader.finished).toBe(true);
  });
});
