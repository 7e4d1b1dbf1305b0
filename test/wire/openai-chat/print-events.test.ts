import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type {
  ChatEvent,
  ChatReply,
  FinishEvent,
  OutputEvent,
  ReplyBlock,
  UsageEvent,
} from "../../../src/domain/chat-event.ts";
import type { ReplyHead } from "../../../src/wire/format.ts";
import { readEvents, readReply } from "../../../src/wire/openai-chat/egress/read-answer.ts";
import { openaiChat } from "../../../src/wire/openai-chat/format.ts";
import { printEvents, printReply } from "../../../src/wire/openai-chat/ingress/print-answer.ts";
import { collectReply } from "../../../src/wire/translate.ts";
import { hasRecordings, recordedBody, recordedLines, recordings } from "../../support/recordings.ts";
import { eventsOf, headOf as replyHeadOf, requestOf } from "../play.ts";

const ASKS_USAGE = { stream_options: { include_usage: true } };
const HIDES = { reasoning: { exclude: true } };
const STOP = finishOf("stop");
const USAGE: UsageEvent = {
  kind: "usage",
  usage: {
    inputTokens: 10,
    cachedInputTokens: 4,
    cacheWriteTokens: 2,
    cacheWrite1hTokens: 1,
    outputTokens: 7,
  },
  reasoningTokens: 5,
};
/** The usage as clients receive it. */
const PRINTED_USAGE = {
  prompt_tokens: 17,
  completion_tokens: 7,
  total_tokens: 24,
  prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 5,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

function finishOf(reason: FinishEvent["reason"]): FinishEvent {
  return { kind: "finish", reason, stopSequence: undefined };
}

function headOf(members: object = {}): ReplyHead {
  return replyHeadOf(requestOf(openaiChat, members));
}

const text = (value: string): OutputEvent => ({ kind: "text", text: value });
const begin = (call: number, id = `id${call}`): OutputEvent => ({ kind: "tool_call", call, id, name: "f" });
const input = (call: number, json: string): OutputEvent => ({ kind: "tool_input", call, json });
const reasoning = (value: string): OutputEvent => ({ kind: "reasoning", text: value });
const signedBy = (signature: string): OutputEvent => ({ kind: "reasoning_signature", signature });

interface AnswerParts {
  readonly events: readonly OutputEvent[];
  readonly finish?: FinishEvent;
  readonly usage?: UsageEvent;
  readonly members?: object;
}

function isOutput(event: ChatEvent): event is OutputEvent {
  return event.kind !== "finish" && event.kind !== "usage" && event.kind !== "began";
}

/** Prints the stream for a client. */
function stream({ events, finish = STOP, usage, members = {} }: AnswerParts): string {
  const printer = printEvents(headOf(members));
  return events.map((event) => printer.print(event)).join("") + printer.end(finish, usage);
}

function chunksOf(value: AnswerParts) {
  return eventsOf(stream(value))
    .filter((event) => event.data !== "[DONE]")
    .map((event) => JSON.parse(event.data));
}

function deltasOf(value: AnswerParts) {
  return chunksOf(value).map((chunk) => chunk.choices[0]?.delta);
}

/** Prints the body for a client and parses it. */
function whole({ events, finish = STOP, usage, members = {} }: AnswerParts) {
  const all: ChatEvent[] = [...events, finish, ...(usage ? [usage] : [])];
  return JSON.parse(printReply(headOf(members), collectReply(all)));
}

describe("a stream", () => {
  test("cases 27 and 68: begins with the role and has the id and the model in every chunk", () => {
    const head = { id: "chatcmpl-abc", object: "chat.completion.chunk", created: 7, model: "asked" };
    const chunk = (delta: object, reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    });
    expect(chunksOf({ events: [text("Hel"), text("lo")] })).toEqual([
      chunk({ role: "assistant", content: "", refusal: null }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo" }),
      chunk({}, "stop"),
    ]);
  });

  test("has no chunk for an empty text, and the role even without output", () => {
    expect(printEvents(headOf()).print(text(""))).toBe("");
    expect(deltasOf({ events: [text(""), input(0, "")] })).toEqual([
      { role: "assistant", content: "", refusal: null },
      {},
    ]);
  });

  test("case 33: ends with the usage on a chunk of its own if the client requested it", () => {
    const chunks = chunksOf({ events: [text("a")], usage: USAGE, members: ASKS_USAGE });
    expect(chunks.map(({ usage }) => usage)).toEqual([null, null, null, PRINTED_USAGE]);
    expect(chunks.at(-1)).toEqual({
      id: "chatcmpl-abc",
      object: "chat.completion.chunk",
      created: 7,
      model: "asked",
      choices: [],
      usage: PRINTED_USAGE,
    });
    expect(stream({ events: [text("a")], usage: USAGE, members: ASKS_USAGE })).toEndWith("data: [DONE]\n\n");
  });

  test("case 33: has no usage if the client did not request it or it is unknown", () => {
    expect(stream({ events: [text("a")], usage: USAGE })).not.toContain("usage");
    const absurd = { ...USAGE, usage: { ...USAGE.usage, outputTokens: Number.NaN } };
    for (const usage of [undefined, absurd]) {
      const chunks = chunksOf({ events: [text("a")], members: ASKS_USAGE, ...(usage && { usage }) });
      expect(chunks.map(({ choices }) => choices.length)).toEqual([1, 1, 1]);
    }
  });

  test("case 30: begins each call with its index, id, type, name and a text of arguments", () => {
    const events = [begin(0), input(0, '{"a"'), begin(1), input(1, "{}"), input(0, ":1}")];
    const first = (index: number) => ({
      tool_calls: [{ index, id: `id${index}`, type: "function", function: { name: "f", arguments: "" } }],
    });
    const next = (index: number, json: string) => ({
      tool_calls: [{ index, function: { arguments: json } }],
    });
    expect(deltasOf({ events, finish: finishOf("tool_calls") }).slice(1, -1)).toEqual([
      first(0),
      next(0, '{"a"'),
      first(1),
      next(1, "{}"),
      next(0, ":1}"),
    ]);
  });

  test("completes a call without arguments to an object, unless the answer was cut off", () => {
    const events = [begin(0), input(0, " "), begin(1), input(1, "{}")];
    const completed = deltasOf({ events, finish: finishOf("tool_calls") }).at(-2);
    expect(completed).toEqual({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] });
    expect(stream({ events: [begin(0)], finish: finishOf("length") })).not.toContain('{}"');
  });

  test("generates the id of a call without one", () => {
    const [, call] = deltasOf({ events: [begin(0, "")] });
    expect(call.tool_calls[0].id).toBe("call_abc_0");
  });

  test("generates the id of a call with a repeated one", () => {
    const events = [begin(0, "a"), begin(1, "a"), begin(2, "b"), begin(3, "b")];
    const ids = ["a", "call_abc_1", "b", "call_abc_3"];
    const begun = deltasOf({ events }).flatMap(({ tool_calls: calls = [] }) => calls);
    expect(begun.flatMap(({ id }: { id?: string }) => id ?? [])).toEqual(ids);
    const { message } = whole({ events }).choices[0];
    expect(message.tool_calls.map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  test("case 42: sends a refusal as a refusal and a filter's finish as content_filter", () => {
    const value = { events: [{ kind: "refusal", text: "No" } as const], finish: finishOf("content_filter") };
    expect(deltasOf(value)[1]).toEqual({ refusal: "No" });
    expect(chunksOf(value).at(-1).choices[0].finish_reason).toBe("content_filter");
  });

  test("sends reasoning as it arrives, and its signature together with its text", () => {
    const redacted: OutputEvent = { kind: "redacted_reasoning", data: "xyz" };
    const events = [
      reasoning("h"),
      reasoning("m"),
      signedBy("s1"),
      redacted,
      reasoning("so"),
      signedBy("s2"),
      text("a"),
    ];
    const detail = (index: number, members: object) => ({
      reasoning_details: [{ format: "anthropic-claude-v1", index, ...members }],
    });
    expect(deltasOf({ events }).slice(1, -1)).toEqual([
      { reasoning_content: "h" },
      { reasoning_content: "m" },
      detail(0, { type: "reasoning.text", text: "hm", signature: "s1" }),
      detail(1, { type: "reasoning.encrypted", data: "xyz" }),
      { reasoning_content: "so" },
      detail(2, { type: "reasoning.text", text: "so", signature: "s2" }),
      { content: "a" },
    ]);
  });

  test("omits reasoning if the client excludes it", () => {
    const events = [reasoning("hm"), signedBy("s")];
    const printer = printEvents(headOf(HIDES));
    expect(events.map((event) => printer.print(event))).toEqual(["", ""]);
    expect(whole({ events, members: HIDES }).choices[0].message).toEqual({
      role: "assistant",
      content: "",
      refusal: null,
    });
  });
});

describe("a whole answer", () => {
  test("has every member that clients require", () => {
    expect(whole({ events: [text("Hel"), text("lo")], usage: USAGE })).toEqual({
      id: "chatcmpl-abc",
      object: "chat.completion",
      created: 7,
      model: "asked",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: PRINTED_USAGE,
    });
  });

  test("omits usage that was not reported", () =>
    expect(whole({ events: [text("a")] })).not.toHaveProperty("usage"));

  test("has null content and parsable arguments if it consists of calls", () => {
    const { choices } = whole({
      events: [begin(0), begin(1, ""), input(1, '{"a":1}')],
      finish: finishOf("tool_calls"),
    });
    expect(choices[0].message).toEqual({
      role: "assistant",
      content: null,
      refusal: null,
      tool_calls: [
        { id: "id0", type: "function", function: { name: "f", arguments: "{}" } },
        { id: "call_abc_1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
      ],
    });
  });

  test("keeps the arguments of a call that was cut off", () => {
    const cut = (...events: OutputEvent[]) =>
      whole({ events: [begin(0), ...events], finish: finishOf("length") }).choices[0].message.tool_calls[0]
        .function;
    expect(cut().arguments).toBe("");
    expect(cut(input(0, '{"a')).arguments).toBe('{"a');
  });

  test("case 42: has a refusal and null content", () => {
    const events = [{ kind: "refusal", text: "No" } as const];
    expect(whole({ events, finish: finishOf("content_filter") }).choices[0]).toMatchObject({
      message: { content: null, refusal: "No" },
      finish_reason: "content_filter",
    });
  });

  test("has reasoning as a text, and its signatures if there are any", () => {
    const plain = whole({ events: [reasoning("hm"), text("a")] }).choices[0].message;
    expect(plain).toEqual({ role: "assistant", content: "a", refusal: null, reasoning_content: "hm" });
    const signed = whole({ events: [reasoning("h"), signedBy("s"), reasoning("m"), text("a")] }).choices[0]
      .message;
    expect(signed).toMatchObject({
      reasoning_content: "hm",
      reasoning_details: [
        { type: "reasoning.text", text: "h", signature: "s", format: "anthropic-claude-v1", index: 0 },
      ],
    });
  });

  test("has reasoning that the next request returns with its signatures", () => {
    const redacted: OutputEvent = { kind: "redacted_reasoning", data: "xyz" };
    const { message } = whole({ events: [reasoning("h"), signedBy("s"), redacted, text("a")] }).choices[0];
    const [, turn] = requestOf(openaiChat, { messages: [{ role: "user" }, message] }).readChat().turns;
    expect(turn?.parts as unknown).toEqual([
      { kind: "reasoning", text: "h", signature: "s", redacted: undefined },
      { kind: "reasoning", text: "", signature: undefined, redacted: "xyz" },
      { kind: "text", text: "a", cache: undefined },
    ]);
  });
});

/** Reads a printed stream with the gateway's own reader. */
function readBack(printed: string): readonly ChatEvent[] {
  const reader = readEvents();
  return eventsOf(printed).flatMap((event) => reader.read(event));
}

describe("a printed answer", () => {
  const word = fc.string({ minLength: 1, maxLength: 8, unit: "binary" });
  const words = fc.array(word, { minLength: 1, maxLength: 3 });
  const readable = fc.oneof(
    word.map((value) => [text(value)]),
    word.map((value): OutputEvent[] => [{ kind: "refusal", text: value }]),
    fc
      .array(fc.constantFrom('{"a":', "1", "}"), { minLength: 1, maxLength: 3 })
      .map((pieces) => [begin(0), ...pieces.map((json) => input(0, json))]),
  );
  const plain = words.map((value) => value.map(reasoning));
  const signed = fc.oneof(
    word.map((data): OutputEvent[] => [{ kind: "redacted_reasoning", data }]),
    fc
      .tuple(fc.array(word, { maxLength: 3 }), word)
      .map(([value, by]) => [...value.map(reasoning), signedBy(by)]),
  );
  // A provider signs all of its reasoning or nothing.
  const output = fc
    .oneof(
      fc.array(fc.oneof(readable, plain), { maxLength: 6 }),
      fc.array(fc.oneof(readable, signed), { maxLength: 6 }),
    )
    .map(numberCalls);
  const finish = fc.constantFrom("length", "content_filter").map(finishOf);

  test("is read back to equal events", () => {
    fc.assert(
      fc.property(output, finish, (events, ended) => {
        const usage = { ...USAGE, usage: { ...USAGE.usage, cacheWriteTokens: 3, cacheWrite1hTokens: 0 } };
        const all: ChatEvent[] = [...events, ended, usage];
        expect(readBack(stream({ events, finish: ended, usage, members: ASKS_USAGE }))).toEqual(all);
        const reply = collectReply(readReply(printReply(headOf(), collectReply(all))));
        expect(kindsApart(reply)).toEqual(kindsApart(collectReply(all)));
        expect(reply).toMatchObject({ finish: ended, usage });
      }),
      { numRuns: 100, seed: 6 },
    );
  });
});

/** Numbers calls in order of arrival. */
function numberCalls(pieces: readonly OutputEvent[][]): readonly OutputEvent[] {
  let calls = -1;
  return pieces.flat().map((event) => {
    if (event.kind === "tool_call") return begin(++calls);
    return event.kind === "tool_input" ? { ...event, call: calls } : event;
  });
}

/** Groups blocks by kind: a chat message keeps the order within a kind only. */
function kindsApart({ blocks }: ChatReply) {
  const textOf = (kind: string) =>
    blocks.map((block) => (block.kind === kind && "text" in block ? block.text : "")).join("");
  return {
    texts: ["text", "refusal", "reasoning"].map(textOf),
    calls: blocks.filter(({ kind }) => kind === "tool_call"),
    signed: blocks.filter((block) => block.kind === "redacted_reasoning" || signatureOf(block) !== undefined),
  };
}

function signatureOf(block: ReplyBlock): string | undefined {
  return block.kind === "reasoning" ? block.signature : undefined;
}

describe.skipIf(!hasRecordings)("a recorded answer of a host", () => {
  const ofOpenai = (form: "whole" | "streamed") =>
    recordings(form).filter(({ protocol }) => protocol === "openai");

  const streamedOf = (name: string) =>
    readBack([...recordedLines(name), "[DONE]"].map((line) => `data: ${line}\n\n`).join(""));

  /** Returns the kinds of blocks of an answer, and whether it has a usage. */
  const shapeOf = (events: readonly ChatEvent[]) => {
    const { blocks, finish, usage } = collectReply(events);
    return {
      kinds: blocks.map(({ kind }) => kind),
      calls: blocks.flatMap((block) =>
        block.kind === "tool_call" ? [[block.name, JSON.parse(block.input)]] : [],
      ),
      finish,
      isCounted: (usage?.usage.outputTokens ?? 0) > 0,
    };
  };

  test.each(ofOpenai("streamed").map(({ name }) => name))("is read and printed without loss: %s", (name) => {
    const events = streamedOf(name);
    const output = events.filter(isOutput);
    const { finish, usage, blocks } = collectReply(events);
    expect(blocks.length).toBeGreaterThan(0);
    const printed = stream({ events: output, finish, members: ASKS_USAGE, ...(usage && { usage }) });
    expect(collectReply(readBack(printed))).toEqual(collectReply(events));
    expect(readBack(printed).filter(({ kind }) => kind !== "usage")).toEqual(
      // The tier of an answer is charged, and not said to clients of another format.
      events.filter(({ kind }) => kind !== "usage" && kind !== "tier"),
    );
  });

  const both = ofOpenai("whole").filter(({ name }) =>
    ofOpenai("streamed").some((other) => other.name === name),
  );

  test.each(both.map(({ name }) => name))("has one shape, streamed and whole: %s", (name) => {
    expect(shapeOf(readReply(recordedBody(name)))).toEqual(shapeOf(streamedOf(name)));
  });
});
