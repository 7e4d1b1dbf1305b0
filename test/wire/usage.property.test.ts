import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatSurface } from "../../src/domain/model.ts";
import { inputTokensOf, NO_USAGE, totalTokensOf, type Usage } from "../../src/domain/usage.ts";
import { findFormatPair } from "../../src/wire/format-pair.ts";
import { isJsonObject, type JsonObject } from "../../src/wire/json/read.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { printSse } from "../../src/wire/sse.ts";
import { codecSessionOf, eventsOf, requestOf } from "./play.ts";

/** A format whose answers contain text. */
type Format = ChatSurface;

/** The usage that an upstream counted. */
interface Counted {
  readonly usage: Usage;
  readonly reasoningTokens: number;
}

/** An answer that contains little but usage: its body, or its events. */
interface Answer {
  readonly format: Format;
  readonly text: string;
}

const FORMATS: readonly Format[] = ["chat", "messages", "responses"];
/** The only format that separates tokens cached for an hour from tokens cached for minutes. */
const HOURLY: Format = "messages";

const count = fc.oneof(fc.constant(0), fc.nat(20), fc.nat(1_000_000_000));
const counted: fc.Arbitrary<Counted> = fc
  .record({
    inputTokens: count,
    cachedInputTokens: count,
    cacheWriteTokens: count,
    cacheWrite1hTokens: count,
    outputTokens: count,
  })
  .chain((usage) => fc.record({ usage: fc.constant(usage), reasoningTokens: fc.nat(usage.outputTokens) }));

/** The formats that an answer passes, upstream first: a gateway may be the upstream of another gateway. */
const path = fc
  .tuple(fc.constantFrom(...FORMATS), fc.array(fc.constantFrom(...FORMATS), { minLength: 1, maxLength: 4 }))
  .map(([first, others]) => others.reduce((formats, next) => extend(formats, next), [first]))
  .filter((formats) => formats.length > 1);

/** Selects one of the styles in which hosts of a format report usage. */
const manner = fc.nat(2);

describe("usage", () => {
  test("is billed and printed with equal totals and classes on every path, streamed and whole", () => {
    fc.assert(
      fc.property(counted, path, manner, fc.boolean(), ({ usage, reasoningTokens }, formats, how, stream) => {
        const [first = "chat", ...clients] = formats;
        let reported = representable({ usage, reasoningTokens }, first);
        let answer = report(reported, { format: first, how, stream });
        for (const client of clients) {
          const relayed = relay(answer, client, stream);
          expect(relayed.billed).toEqual(reported.usage);
          reported = representable(reported, client);
          answer = relayed.answer;
          expect(totalTokensOf(reported.usage)).toBe(totalTokensOf(usage));
          expect(inputTokensOf(reported.usage)).toBe(inputTokensOf(usage));
          expect(readByClient(answer, stream)).toEqual(reported.usage);
          expect(printedTotals(answer, stream)).toEqual({
            reasoningTokens,
            ...(client !== HOURLY && { total: totalTokensOf(usage) }),
          });
        }
      }),
      { numRuns: 300, seed: 6 },
    );
  });

  test("that is impossible is billed unchanged and not printed for clients of another format", () => {
    const more = fc.integer({ min: 1, max: 1_000 });
    const pairs = fc.constantFrom<[Format, Format]>(
      ["chat", "messages"],
      ["chat", "responses"],
      ["messages", "chat"],
      ["messages", "responses"],
    );
    fc.assert(
      fc.property(counted, more, pairs, fc.boolean(), ({ usage }, excess, [first, client], stream) => {
        const impossible = { ...NO_USAGE, outputTokens: usage.outputTokens, inputTokens: -excess };
        const answer = report({ usage: impossible, reasoningTokens: 0 }, { format: first, how: 0, stream });
        const relayed = relay(answer, client, stream);
        expect(relayed.billed).toEqual(impossible);
        const read = readByClient(relayed.answer, stream);
        expect(Object.values(read ?? {}).every((tokens) => tokens >= 0)).toBe(true);
        expect(read?.outputTokens ?? 0).toBe(0);
      }),
      { numRuns: 60, seed: 6 },
    );
  });
});

/** Appends the next format if a format pair leads from the last one to it. */
function extend(formats: Format[], next: Format): Format[] {
  return findFormatPair(WIRES[next], formats.slice(-1)) ? [...formats, next] : formats;
}

/** Returns a usage as a format represents it: most have one class of tokens written to a cache. */
function representable({ usage, reasoningTokens }: Counted, format: Format): Counted {
  if (format === HOURLY) return { usage, reasoningTokens };
  const cacheWriteTokens = usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return { usage: { ...usage, cacheWriteTokens, cacheWrite1hTokens: 0 }, reasoningTokens };
}

/** Relays an answer through the gateway to a client of the format. */
function relay({ format, text }: Answer, client: Format, stream: boolean) {
  const session = codecSessionOf(WIRES[client], format, requestFor(client, stream));
  const head = { id: "a1", createdAtS: 1, inputTokens: 5 };
  if (!stream) {
    const { text: body, usage: billed } = session.readWhole(head, text);
    return { answer: { format: client, text: body }, billed };
  }
  const reader = session.readStream(head);
  const parts = eventsOf(text).map((event) => reader.read(event));
  const events = parts.map((part) => part.text).join("") + reader.ending();
  const billed = parts.findLast((part) => part.usage !== undefined)?.usage;
  return { answer: { format: client, text: events }, billed };
}

/** Returns the usage that a client reads from an answer, with the reader that bills such answers. */
function readByClient(answer: Answer, stream: boolean): Usage | undefined {
  return relay(answer, answer.format, stream).billed;
}

/** Returns the reasoning tokens of an answer, and the total if the format has one. */
function printedTotals({ format, text }: Answer, stream: boolean) {
  const usage = usagesIn(text, stream).at(-1) ?? {};
  const details = usage[format === "chat" ? "completion_tokens_details" : "output_tokens_details"];
  const { reasoning_tokens, thinking_tokens } = isJsonObject(details) ? details : {};
  const reasoningTokens = reasoning_tokens ?? thinking_tokens;
  return { reasoningTokens, ...(usage.total_tokens !== undefined && { total: usage.total_tokens }) };
}

function usagesIn(text: string, stream: boolean): readonly JsonObject[] {
  const bodies = stream ? eventsOf(text).map(({ data }) => data) : [text];
  return bodies
    .filter((body) => body.startsWith("{"))
    .map((body) => JSON.parse(body))
    .map((body) => body.usage ?? body.response?.usage)
    .filter(isJsonObject);
}

function requestFor(format: Format, stream: boolean) {
  const members = { input: "hi", stream, stream_options: { include_usage: true } };
  return requestOf(WIRES[format], members);
}

type Manner = { readonly format: Format; readonly how: number; readonly stream: boolean };

/** Builds an answer of an upstream of the format, in one of its reporting styles. */
function report(reported: Counted, { format, how, stream }: Manner): Answer {
  const { events, whole } = { chat: chatReports, messages: messagesReports, responses: responsesReports }[
    format
  ](reported, how);
  const text = stream ? events.map(printEvent).join("") : JSON.stringify(whole);
  return { format, text: stream && format === "chat" ? `${text}data: [DONE]\n\n` : text };
}

function printEvent(event: JsonObject): string {
  const name = typeof event.type === "string" ? { event: event.type } : {};
  return printSse({ ...name, data: JSON.stringify(event) });
}

/** Reports the usage on the finish, on a chunk of its own, or with every chunk. */
function chatReports({ usage, reasoningTokens }: Counted, how: number) {
  const total = {
    prompt_tokens: inputTokensOf(usage),
    completion_tokens: usage.outputTokens,
    total_tokens: totalTokensOf(usage),
    prompt_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
  const chunk = (delta: object, finish_reason: string | null, more: object = {}) => ({
    id: "c",
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  });
  const soFar = { usage: { ...total, completion_tokens: 0 } };
  const message = { role: "assistant", content: "hi" };
  return {
    events: [
      chunk(message, null, how === 2 ? soFar : {}),
      chunk({}, "stop", how === 1 ? {} : { usage: total }),
      ...(how === 1 ? [{ id: "c", choices: [], usage: total }] : []),
    ],
    whole: { id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage: total },
  };
}

/** Reports the input at the start. Reports at the end the output, both again, or both with empty members. */
function messagesReports({ usage, reasoningTokens }: Counted, how: number) {
  const split = {
    ephemeral_5m_input_tokens: usage.cacheWriteTokens,
    ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
  };
  const input = {
    input_tokens: usage.inputTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    // Some hosts report only the split.
    ...(how !== 2 && { cache_creation_input_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens }),
    cache_creation: split,
  };
  const output = {
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
  };
  const empty = { input_tokens: null, cache_read_input_tokens: null, cache_creation: null };
  const atEnd = [output, { ...input, ...output }, { ...empty, ...output }][how];
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  const text = { type: "text", text: "hi" };
  return {
    events: [
      { type: "message_start", message: { ...message, usage: { ...input, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: text },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: atEnd },
      { type: "message_stop" },
    ],
    whole: { ...message, content: [text], stop_reason: "end_turn", usage: { ...input, ...output } },
  };
}

function responsesReports({ usage, reasoningTokens }: Counted) {
  const content = [{ type: "output_text", text: "hi", annotations: [] }];
  const response = {
    id: "r",
    object: "response",
    status: "completed",
    model: "m",
    output: [{ id: "i", type: "message", role: "assistant", status: "completed", content }],
    usage: {
      input_tokens: inputTokensOf(usage),
      input_tokens_details: {
        cached_tokens: usage.cachedInputTokens,
        cache_write_tokens: usage.cacheWriteTokens,
      },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: totalTokensOf(usage),
    },
  };
  return { events: [{ type: "response.completed", response }], whole: response };
}
