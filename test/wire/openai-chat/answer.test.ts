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
import type { ReplyHead } from "../../../src/wire/codecs.ts";
import { collectReply } from "../../../src/wire/collect-reply.ts";
import { readEvents } from "../../../src/wire/openai-chat/egress/read-events.ts";
import { readReply } from "../../../src/wire/openai-chat/egress/read-reply.ts";
import { printEvents } from "../../../src/wire/openai-chat/ingress/print-events.ts";
import { printReply } from "../../../src/wire/openai-chat/ingress/print-reply.ts";
import { openaiChat } from "../../../src/wire/openai-chat/protocol.ts";
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
/** As clients know it. */
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

const text = (said: string): OutputEvent => ({ kind: "text", text: said });
const begin = (call: number, id = `id${call}`): OutputEvent => ({ kind: "tool_call", call, id, name: "f" });
const input = (call: number, json: string): OutputEvent => ({ kind: "tool_input", call, json });
const reasoning = (said: string): OutputEvent => ({ kind: "reasoning", text: said });
const seal = (signature: string): OutputEvent => ({ kind: "reasoning_seal", signature });

interface Said {
  readonly events: readonly OutputEvent[];
  readonly finish?: FinishEvent;
  readonly usage?: UsageEvent;
  readonly members?: object;
}

function isOutput(event: ChatEvent): event is OutputEvent {
  return event.kind !== "finish" && event.kind !== "usage" && event.kind !== "began";
}

/** The stream that a client would get. */
function stream({ events, finish = STOP, usage, members = {} }: Said): string {
  const printer = printEvents(headOf(members));
  return events.map((event) => printer.print(event)).join("") + printer.end(finish, usage);
}

function chunksOf(said: Said) {
  return eventsOf(stream(said))
    .filter((event) => event.data !== "[DONE]")
    .map((event) => JSON.parse(event.data));
}

function deltasOf(said: Said) {
  return chunksOf(said).map((chunk) => chunk.choices[0]?.delta);
}

/** The body that a client would get. */
function whole({ events, finish = STOP, usage, members = {} }: Said) {
  const all: ChatEvent[] = [...events, finish, ...(usage ? [usage] : [])];
  return JSON.parse(printReply(headOf(members), collectReply(all)));
}

describe("a stream", () => {
  test("cases 27 and 68: begins with the role, and names answer and model in every chunk", () => {
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

  test("says nothing for nothing, and the role even then", () => {
    expect(printEvents(headOf()).print(text(""))).toBe("");
    expect(deltasOf({ events: [text(""), input(0, "")] })).toEqual([
      { role: "assistant", content: "", refusal: null },
      {},
    ]);
  });

  test("case 33: ends with usage for those who asked, on a chunk of its own", () => {
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

  test("case 33: has no word of usage for others, nor where there is none", () => {
    expect(stream({ events: [text("a")], usage: USAGE })).not.toContain("usage");
    const absurd = { ...USAGE, usage: { ...USAGE.usage, outputTokens: Number.NaN } };
    for (const usage of [undefined, absurd]) {
      const chunks = chunksOf({ events: [text("a")], members: ASKS_USAGE, ...(usage && { usage }) });
      expect(chunks.map(({ choices }) => choices.length)).toEqual([1, 1, 1]);
    }
  });

  test("case 30: calls begin with index, id, type, name and a text of arguments", () => {
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

  test("a call without arguments ends as an object, unless it was cut off", () => {
    const events = [begin(0), input(0, " "), begin(1), input(1, "{}")];
    const completed = deltasOf({ events, finish: finishOf("tool_calls") }).at(-2);
    expect(completed).toEqual({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] });
    expect(stream({ events: [begin(0)], finish: finishOf("length") })).not.toContain('{}"');
  });

  test("a call without an id gets one of ours", () => {
    const [, call] = deltasOf({ events: [begin(0, "")] });
    expect(call.tool_calls[0].id).toBe("call_abc_0");
  });

  test("a call with the id of another gets one of ours", () => {
    const events = [begin(0, "a"), begin(1, "a"), begin(2, "b"), begin(3, "b")];
    const ids = ["a", "call_abc_1", "b", "call_abc_3"];
    const begun = deltasOf({ events }).flatMap(({ tool_calls: calls = [] }) => calls);
    expect(begun.flatMap(({ id }: { id?: string }) => id ?? [])).toEqual(ids);
    const { message } = whole({ events }).choices[0];
    expect(message.tool_calls.map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  test("case 42: a refusal goes out as one, and so does a filter's finish", () => {
    const said = { events: [{ kind: "refusal", text: "No" } as const], finish: finishOf("content_filter") };
    expect(deltasOf(said)[1]).toEqual({ refusal: "No" });
    expect(chunksOf(said).at(-1).choices[0].finish_reason).toBe("content_filter");
  });

  test("reasoning goes out as it comes, and its seal together with its text", () => {
    const redacted: OutputEvent = { kind: "redacted_reasoning", data: "xyz" };
    const events = [
      reasoning("h"),
      reasoning("m"),
      seal("s1"),
      redacted,
      reasoning("so"),
      seal("s2"),
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

  test("reasoning stays out for those who want none", () => {
    const events = [reasoning("hm"), seal("s")];
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
  test("has every member that clients insist on", () => {
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

  test("leaves out usage that nobody reported", () => {
    expect(whole({ events: [text("a")] })).not.toHaveProperty("usage");
  });

  test("of calls alone has no content, and arguments that can be parsed", () => {
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

  test("that was cut off in a call leaves it as it is", () => {
    const cut = (...events: OutputEvent[]) =>
      whole({ events: [begin(0), ...events], finish: finishOf("length") }).choices[0].message.tool_calls[0]
        .function;
    expect(cut().arguments).toBe("");
    expect(cut(input(0, '{"a')).arguments).toBe('{"a');
  });

  test("case 42: of a refusal has it beside no content", () => {
    const events = [{ kind: "refusal", text: "No" } as const];
    expect(whole({ events, finish: finishOf("content_filter") }).choices[0]).toMatchObject({
      message: { content: null, refusal: "No" },
      finish_reason: "content_filter",
    });
  });

  test("has reasoning as a text, and its seals where there are any", () => {
    const plain = whole({ events: [reasoning("hm"), text("a")] }).choices[0].message;
    expect(plain).toEqual({ role: "assistant", content: "a", refusal: null, reasoning_content: "hm" });
    const sealed = whole({ events: [reasoning("h"), seal("s"), reasoning("m"), text("a")] }).choices[0]
      .message;
    expect(sealed).toMatchObject({
      reasoning_content: "hm",
      reasoning_details: [
        { type: "reasoning.text", text: "h", signature: "s", format: "anthropic-claude-v1", index: 0 },
      ],
    });
  });

  test("its reasoning comes back in the next request as it was sealed", () => {
    const redacted: OutputEvent = { kind: "redacted_reasoning", data: "xyz" };
    const { message } = whole({ events: [reasoning("h"), seal("s"), redacted, text("a")] }).choices[0];
    const [, turn] = requestOf(openaiChat, { messages: [{ role: "user" }, message] }).readChat().turns;
    expect(turn?.parts as unknown).toEqual([
      { kind: "reasoning", text: "h", signature: "s", redacted: undefined },
      { kind: "reasoning", text: "", signature: undefined, redacted: "xyz" },
      { kind: "text", text: "a", cache: undefined },
    ]);
  });
});

/** What our own reader makes of what was printed. */
function readBack(printed: string): readonly ChatEvent[] {
  const reader = readEvents();
  return eventsOf(printed).flatMap((event) => reader.read(event));
}

describe("what was printed", () => {
  const word = fc.string({ minLength: 1, maxLength: 8, unit: "binary" });
  const words = fc.array(word, { minLength: 1, maxLength: 3 });
  const spoken = fc.oneof(
    word.map((said) => [text(said)]),
    word.map((said): OutputEvent[] => [{ kind: "refusal", text: said }]),
    fc
      .array(fc.constantFrom('{"a":', "1", "}"), { minLength: 1, maxLength: 3 })
      .map((pieces) => [begin(0), ...pieces.map((json) => input(0, json))]),
  );
  const plain = words.map((said) => said.map(reasoning));
  const sealed = fc.oneof(
    word.map((data): OutputEvent[] => [{ kind: "redacted_reasoning", data }]),
    fc.tuple(fc.array(word, { maxLength: 3 }), word).map(([said, by]) => [...said.map(reasoning), seal(by)]),
  );
  // A provider seals all of its reasoning or none.
  const output = fc
    .oneof(
      fc.array(fc.oneof(spoken, plain), { maxLength: 6 }),
      fc.array(fc.oneof(spoken, sealed), { maxLength: 6 }),
    )
    .map(numberCalls);
  const finish = fc.constantFrom("length", "content_filter").map(finishOf);

  test("reads as what was said", () => {
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

/** Calls are numbered as they come. */
function numberCalls(pieces: readonly OutputEvent[][]): readonly OutputEvent[] {
  let calls = -1;
  return pieces.flat().map((event) => {
    if (event.kind === "tool_call") return begin(++calls);
    return event.kind === "tool_input" ? { ...event, call: calls } : event;
  });
}

/** A chat message keeps the order of each kind, but not between them. */
function kindsApart({ blocks }: ChatReply) {
  const textOf = (kind: string) =>
    blocks.map((block) => (block.kind === kind && "text" in block ? block.text : "")).join("");
  return {
    texts: ["text", "refusal", "reasoning"].map(textOf),
    calls: blocks.filter(({ kind }) => kind === "tool_call"),
    sealed: blocks.filter((block) => block.kind === "redacted_reasoning" || sealOf(block) !== undefined),
  };
}

function sealOf(block: ReplyBlock): string | undefined {
  return block.kind === "reasoning" ? block.signature : undefined;
}

describe.skipIf(!hasRecordings)("recordings of hosts", () => {
  const ofOpenai = (form: "whole" | "streamed") =>
    recordings(form).filter(({ protocol }) => protocol === "openai");

  const streamedOf = (name: string) =>
    readBack([...recordedLines(name), "[DONE]"].map((line) => `data: ${line}\n\n`).join(""));

  /** Which kinds an answer has, and whether somebody counted it. */
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

  test.each(ofOpenai("streamed").map(({ name }) => name))("%s is read and printed without loss", (name) => {
    const events = streamedOf(name);
    const output = events.filter(isOutput);
    const { finish, usage, blocks } = collectReply(events);
    expect(blocks.length).toBeGreaterThan(0);
    const printed = stream({ events: output, finish, members: ASKS_USAGE, ...(usage && { usage }) });
    expect(collectReply(readBack(printed))).toEqual(collectReply(events));
    expect(readBack(printed).filter(({ kind }) => kind !== "usage")).toEqual(
      events.filter(({ kind }) => kind !== "usage"),
    );
  });

  const both = ofOpenai("whole").filter(({ name }) =>
    ofOpenai("streamed").some((other) => other.name === name),
  );

  test.each(both.map(({ name }) => name))("%s has the same shape streamed and whole", (name) => {
    expect(shapeOf(readReply(recordedBody(name)))).toEqual(shapeOf(streamedOf(name)));
  });
});
