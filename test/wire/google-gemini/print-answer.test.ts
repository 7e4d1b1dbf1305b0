import { describe, expect, test } from "bun:test";
import type { ChatEvent, FinishReason, OutputEvent } from "../../../src/domain/chat-event.ts";
import type { ReplyHead } from "../../../src/wire/format.ts";
import { decodeReasoning } from "../../../src/wire/google-gemini/carried-reasoning.ts";
import { googleGemini } from "../../../src/wire/google-gemini/format.ts";
import { collectReply } from "../../../src/wire/translate.ts";
import { eventsOf } from "../play.ts";

const request = googleGemini.parseRequest('{"contents":[{"parts":[{"text":"hi"}]}],"model":"asked"}');
const head = (isReasoningShown: boolean): ReplyHead => ({
  request,
  id: "abc",
  createdAtS: 7,
  inputTokens: 1,
  isReasoningShown,
});
const finishOf = (reason: FinishReason) => ({ kind: "finish", reason, stopSequence: undefined }) as const;
const usage = {
  kind: "usage",
  usage: {
    inputTokens: 5,
    cachedInputTokens: 2,
    cacheWriteTokens: 1,
    cacheWrite1hTokens: 0,
    outputTokens: 9,
  },
  reasoningTokens: 4,
} as const;

type Part = { readonly [member: string]: unknown; readonly thoughtSignature?: string };

/** Prints the events as a stream and as a whole answer. */
function print(events: readonly ChatEvent[], isShown = true) {
  const ingress = googleGemini.ingress;
  if (!ingress) throw new Error("Gemini's format has no ingress");
  const printer = ingress.printStream(head(isShown));
  let text = "";
  for (const event of events) {
    if (event.kind === "finish") text += printer.end(event, usage);
    else if (event.kind !== "began" && event.kind !== "usage" && event.kind !== "tier")
      text += printer.print(event);
  }
  const chunks = eventsOf(text).map(({ data }) => JSON.parse(data));
  const whole = JSON.parse(ingress.printWhole(head(isShown), collectReply([...events, usage])));
  const partsOf = (response: { candidates: { content: { parts: Part[] } }[] }) =>
    response.candidates[0]?.content.parts ?? [];
  return { chunks, whole, streamed: chunks.flatMap(partsOf), parts: partsOf(whole) };
}

const reasoning: readonly ChatEvent[] = [
  { kind: "reasoning", text: "Hm" },
  { kind: "reasoning", text: "." },
  { kind: "reasoning_signature", signature: "c2ln" },
  { kind: "redacted_reasoning", data: "eHg=" },
];
/** More digits than a number of JavaScript's has. */
const LONG = "12345678901234567890";
const call: readonly ChatEvent[] = [
  { kind: "tool_call", call: 0, id: "a", name: "f" },
  { kind: "tool_input", call: 0, json: `{"n":${LONG.slice(0, 9)}` },
  { kind: "tool_input", call: 0, json: `${LONG.slice(9)},\n"b":1}` },
];

describe("an answer for a client of Gemini's", () => {
  test("has texts, the finish, the usage and the names that the client sent", () => {
    const { chunks, whole } = print([{ kind: "text", text: "Hi" }, finishOf("stop")]);
    expect(chunks[0]).toEqual({
      candidates: [{ content: { parts: [{ text: "Hi" }], role: "model" }, index: 0 }],
      modelVersion: "asked",
      responseId: "abc",
    });
    expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: "STOP" }] });
    expect(whole).toEqual({
      candidates: [{ content: { parts: [{ text: "Hi" }], role: "model" }, finishReason: "STOP", index: 0 }],
      usageMetadata: {
        promptTokenCount: 8,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 4,
        cachedContentTokenCount: 2,
        totalTokenCount: 17,
      },
      modelVersion: "asked",
      responseId: "abc",
    });
  });

  test.each([true, false])("carries signed reasoning with the next call, thoughts shown: %p", (isShown) => {
    const { streamed, parts } = print([...reasoning, ...call, finishOf("tool_calls")], isShown);
    for (const printed of [streamed, parts]) {
      expect(
        printed
          .filter(({ thought }) => thought)
          .map(({ text }) => text)
          .join(""),
      ).toBe(isShown ? "Hm." : "");
      const found = printed.find(({ functionCall }) => functionCall);
      expect(found).toMatchObject({ functionCall: { id: "a", name: "f", args: { b: 1 } } });
      expect(decodeReasoning(found?.thoughtSignature ?? "")).toEqual([
        { kind: "reasoning", text: "Hm.", signature: "c2ln", redacted: undefined },
        { kind: "reasoning", text: "", signature: undefined, redacted: "eHg=" },
      ]);
    }
  });

  test("carries reasoning with the first text after it, once", () => {
    const { streamed } = print(
      [...reasoning, { kind: "text", text: "a" }, { kind: "text", text: "b" }, finishOf("stop")],
      false,
    );
    expect(streamed.map(({ text, thoughtSignature }) => [text, thoughtSignature !== undefined])).toEqual([
      ["a", true],
      ["b", false],
      ["", false],
    ]);
  });

  test("has whole calls in the order in which they began, before later text", () => {
    const other: ChatEvent[] = [
      { kind: "tool_call", call: 1, id: "a", name: "g" },
      { kind: "text", text: "then" },
      { kind: "tool_input", call: 1, json: "" },
    ];
    const { streamed } = print([...call, ...other, finishOf("tool_calls")]);
    expect(streamed.map(({ functionCall, text }) => functionCall ?? text)).toEqual([
      { id: "a", name: "f", args: { n: Number(LONG), b: 1 } },
      "then",
      { id: "call_abc_1", name: "g", args: {} },
    ]);
  });

  test("has long numbers of calls as the model wrote them, in one line", () => {
    const printer = googleGemini.ingress?.printStream(head(true));
    for (const event of call) printer?.print(event as OutputEvent);
    expect(printer?.end(finishOf("tool_calls"), usage)).toContain(`"args":{"n":${LONG}, "b":1}`);
  });

  test("leaves out an incomplete call of an answer that was cut off, and fails for one that was not", () => {
    const cut = [...call.slice(0, 2), finishOf("length")];
    const { streamed, chunks } = print(cut);
    expect(streamed).toEqual([{ text: "" }]);
    expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: "MAX_TOKENS" }] });
    expect(() => print([...call.slice(0, 2), finishOf("stop")])).toThrow("no object");
  });

  test.each<[readonly ChatEvent[], string]>([
    [[finishOf("content_filter")], "SAFETY"],
    [[{ kind: "refusal", text: "No." }, finishOf("stop")], "SAFETY"],
    [[...call, finishOf("tool_calls")], "STOP"],
  ])("ends %j with %s", (events, reason) => {
    const { chunks, whole } = print(events);
    expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: reason }] });
    expect(whole).toMatchObject({ candidates: [{ finishReason: reason }] });
  });
});
