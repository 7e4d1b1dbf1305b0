import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anthropicMessages } from "../../src/wire/anthropic-messages/format.ts";
import type { WireFormat } from "../../src/wire/format.ts";
import { openaiChat } from "../../src/wire/openai-chat/format.ts";
import { openaiResponses } from "../../src/wire/openai-responses/format.ts";
import { createRepeatedEvents, type RepeatedEvents } from "../../src/wire/repeated-events.ts";
import type { ReplyPart, ReplyReader } from "../../src/wire/reply-part.ts";
import { createSseDecoder, printSse, type SseListener } from "../../src/wire/sse.ts";
import { UpstreamFault } from "../../src/wire/upstream-fault.ts";
import { hasRecordings, recordedLines, recordings } from "../support/recordings.ts";
import { requestOf } from "./play.ts";

/** A kind of event of a format, without the JSON text of its generated string. */
type Shape = (text: string, count: number) => string;

const chunk = (delta: string, finish = "null", rest = "") =>
  `{"id":"c","model":"theirs","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]${rest}}`;

const CHAT: readonly Shape[] = [
  (text) => chunk(`{"content":${text}}`),
  (text) => chunk(`{"content":${text}}`, "null", ',"usage":null'),
  (text, count) => chunk(`{"content":${text}}`, "null", `,"obfuscation":"${"x".repeat(count)}"`),
  (text) => chunk(`{"role":"assistant","content":null,"reasoning_content":${text}}`),
  (text) => chunk(`{"reasoning_content":"","reasoning":${text}}`),
  (text) => chunk(`{"reasoning":${text},"reasoning_details":[{"text":"x"}]}`),
  (text) => chunk(`{"content":"a","content":${text}}`),
  (text) => chunk(`{"content":${text},"content":"a"}`),
  (text) => chunk(`{"refusal":${text}}`),
  (text) => chunk(`{"tool_calls":[{"index":0,"function":{"arguments":${text}}}]}`),
  (text) => chunk(`{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":${text}}}]}`),
  (text) => chunk(`{"tool_calls":[{"index":1,"function":{"arguments":${text}}}]}`),
  (text) => chunk(`{"content":${text}}`, "null", ',"usage":{"prompt_tokens":1,"completion_tokens":2}'),
  (text) => chunk(`{"content":${text}}`, "null", ',"usage":7'),
  (text) => chunk(`{"content":${text}}`, '"stop"'),
  (text) => chunk(`{"content":${text}}`, '""'),
  (text) => chunk("{}", text),
  (text) => `{ "choices" : [ {"delta":{"content": ${text} },"index":0} ] , "model" : "theirs" }`,
  (text) => `{"choices":[{"delta":{"content":${text}},"index":1}],"model":"asked"}`,
  (text) => `{"error":${text}}`,
  () => "[DONE]",
];

const MESSAGES: readonly Shape[] = [
  () => '{"type":"message_start","message":{"model":"theirs","content":[]}}',
  (text) => `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${text}}}`,
  (text) => `{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":${text}}}`,
  (text) =>
    `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":${text}}}`,
  (text) => `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":${text}}}`,
  () => '{"type":"ping"}',
  () => '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}',
  (text) => `{"type":"error","error":${text}}`,
];

const RESPONSES: readonly Shape[] = [
  (text, count) =>
    `{"type":"response.output_text.delta","sequence_number":${count},"output_index":0,"delta":${text},"logprobs":[],"obfuscation":"${"y".repeat(count)}"}`,
  (text, count) => `{"type":"response.reasoning_text.delta","delta":${text},"sequence_number":${count}.5}`,
  (text) => `{"type":"response.audio.delta","delta":${text}}`,
  (text) => `{"type":"response.x.delta","delta":${text},"response":{"model":"theirs"}}`,
  () => '{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[]}}',
  (text) => `{"type":"response.completed","response":{"status":"completed","id":${text}}}`,
];

/** Text of a JSON string, mostly valid. */
const stringText = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.string({ unit: "grapheme", minLength: 1 }).map((text) => JSON.stringify(text)),
  },
  { weight: 12, arbitrary: fc.constantFrom('"\\n"', '"\\"quoted\\""', '"\\ud800"', '"\\\\"', '"\\u0041b"') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '""',
      '"\t"',
      '"\\x"',
      '"\\u12"',
      '"a"b"',
      '"a","content":"b"',
      '"a"},"finish_reason":"stop","x":{"y":"z"',
      '"\\"',
      '"a\nb"',
      "null",
      "5",
      '["a"]',
    ),
  },
);

/** Runs of one shape with different texts, as models send them. Some events have one character replaced. */
function streamsOf(shapes: readonly Shape[]) {
  const character = fc.constantFrom('"', "\\", "{", "]", " ", "0", "\t");
  const change = fc.oneof(
    { weight: 30, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.tuple(fc.nat(), character) },
  );
  const texts = fc.array(fc.tuple(stringText, fc.nat(12), change), { minLength: 2, maxLength: 8 });
  return fc.array(fc.tuple(fc.constantFrom(...shapes), texts), { maxLength: 8 }).map((runs) =>
    runs.flatMap(([shape, pieces]) =>
      pieces.map(([text, count, changed]) => {
        const data = shape(text, count);
        if (changed === undefined) return data;
        const at = changed[0] % data.length;
        return data.slice(0, at) + changed[1] + data.slice(at + 1);
      }),
    ),
  );
}

/** Everything that is read from a stream up to its fault. */
function readAll(reader: ReplyReader, chunks: readonly Uint8Array[]) {
  const decoder = createSseDecoder();
  const read = { text: "", generated: "", isReadable: false, isOutput: false, usage: undefined as unknown };
  const take = (part: ReplyPart) => {
    read.text += part.text;
    read.generated += part.generated;
    read.isReadable ||= part.isReadable;
    read.isOutput ||= part.isOutput;
    read.usage = part.usage ?? read.usage;
  };
  let repeated = 0;
  const listener: SseListener = {
    read: (event) => take(reader.read(event)),
    readText(text, start) {
      const part = reader.readRepeated?.(text, start);
      if (part === undefined) return start;
      repeated += 1;
      take(part);
      return part.end;
    },
  };
  const fault = faultOf(() => {
    for (const each of chunks) decoder.decode(each, listener);
    decoder.decode(undefined, listener);
  });
  const { finished, done } = reader;
  return { read: { ...read, fault, finished, done, ending: finished && reader.ending() }, repeated };
}

/** A reader that parses every event. */
function parsingOnly(reader: ReplyReader): ReplyReader {
  return {
    read: (event) => reader.read(event),
    ending: () => reader.ending(),
    get finished() {
      return reader.finished;
    },
    get done() {
      return reader.done;
    },
  };
}

function faultOf(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (fault) {
    if (fault instanceof UpstreamFault) return fault.message;
    throw fault;
  }
}

function print(stream: readonly string[], name: string | undefined): Uint8Array {
  return encoder.encode(stream.map((data) => printSse({ event: name, data })).join(""));
}

/** Cuts bytes at the given positions, taken modulo their length. */
function cutBytes(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
}

const encoder = new TextEncoder();

describe("a stream whose events repeat", () => {
  test.each<[name: string, wire: WireFormat, members: object, shapes: readonly Shape[]]>([
    ["chat", openaiChat, {}, CHAT],
    ["chat of two choices", openaiChat, { n: 2 }, CHAT],
    ["messages", anthropicMessages, {}, MESSAGES],
    ["responses", openaiResponses, { input: "hi" }, RESPONSES],
  ])("of %s is read as if every event was parsed", (_, wire, members, shapes) => {
    const start = shapes === MESSAGES && shapes[0] ? [shapes[0]("", 0)] : [];
    const request = requestOf(wire, members);
    let repeated = 0;
    fc.assert(
      fc.property(
        streamsOf(shapes),
        fc.option(fc.constant("name"), { nil: undefined }),
        fc.array(fc.nat(), { maxLength: 3 }),
        (stream, name, cuts) => {
          const chunks = cutBytes(print([...start, ...stream], name), cuts);
          const parsed = readAll(parsingOnly(wire.readStream(request)), chunks);
          const compared = readAll(wire.readStream(request), chunks);
          expect(compared.read).toEqual(parsed.read);
          repeated += compared.repeated;
        },
      ),
      { numRuns: 1_000 },
    );
    expect(repeated).toBeGreaterThan(100);
  });
});

describe.skipIf(!hasRecordings)("recorded streams", () => {
  test.each(recordings("streamed"))("$name is read as if every event was parsed", ({ name, protocol }) => {
    const wire = protocol === "openai" ? openaiChat : anthropicMessages;
    const lines = recordedLines(name);
    const events = lines.map((data) => printSse({ event: JSON.parse(data).type, data })).join("");
    const request = requestOf(wire);
    for (const cut of [[], [100], [1_000, 1_001, 5_000]]) {
      const chunks = cutBytes(encoder.encode(events), cut);
      const parsed = readAll(parsingOnly(wire.readStream(request)), chunks);
      expect(readAll(wire.readStream(request), chunks).read).toEqual(parsed.read);
    }
  });
});

describe("createRepeatedEvents", () => {
  const part = {
    text: 'data: {"t":"a"}\n\n',
    isOutput: true,
    isReadable: true,
    generated: "a",
    usage: undefined,
  };
  const example = {
    event: { event: undefined, data: '{"t":"a"}' },
    part,
    frame: { data: '{"t":"a"}' },
    paths: [["t"]],
  };
  const eventOf = (data: string) => ({ event: undefined, data });
  const readOne = (repeated: RepeatedEvents, data: string) => repeated.read(`data: ${data}\n\n`, 0);

  test("reads the events that differ in their text only as one part", () => {
    const repeated = createRepeatedEvents();
    repeated.learn(example);
    const run = 'data: {"t":"b\\n"}\n\ndata: {"t":"c"}\n\n';
    const text = `: comment\n\n${run}data: {"u":"d"}\n\n`;
    const end = text.indexOf('data: {"u"');
    expect(repeated.read(text, 0)).toBeUndefined();
    expect(repeated.read(text, 11)).toEqual({ ...part, text: run, generated: "b\nc", end });
  });

  test.each([
    ["another text before", '{"u":"b"}'],
    ["another text behind", '{"t":"b","u":1}'],
    ["an empty text", '{"t":""}'],
    ["a control character in the text", '{"t":"\u0001"}'],
    ["an invalid escape in the text", '{"t":"\\x"}'],
    ["a text that does not end", '{"t":"b'],
    ["a text above 65,536 characters", `{"t":"${"b".repeat(65_536)}"}`],
  ])("does not read an event with %s", (_, data) => {
    const repeated = createRepeatedEvents();
    repeated.learn(example);
    expect(readOne(repeated, data)).toBeUndefined();
  });

  test("reads nothing after it has forgotten its example", () => {
    const repeated = createRepeatedEvents();
    repeated.learn(example);
    repeated.forget();
    expect(readOne(repeated, '{"t":"b"}')).toBeUndefined();
  });

  test.each([
    ["whose path is repeated", { event: eventOf('{"t":"a","t":"a"}') }],
    ["with a usage", { part: { ...part, usage: { inputTokens: 1 } } }],
    ["whose text is not the one of the path", { part: { ...part, generated: "ab" } }],
    ["whose part prints more than the event", { part: { ...part, text: `: x\n\n${part.text}` } }],
    ["of several lines", { event: eventOf('{"t":\n"a"}'), frame: eventOf('{"t":\n"a"}') }],
    ["without a path", { paths: [] }],
  ])("learns nothing from an event %s", (_, change) => {
    const repeated = createRepeatedEvents();
    // The cast is safe: the usage of the second case is never read.
    repeated.learn({ ...example, ...change } as typeof example);
    expect(readOne(repeated, '{"t":"b"}')).toBeUndefined();
  });

  test("learns no more after eight examples in vain, and one more for each run that matched", () => {
    const repeated = createRepeatedEvents();
    const matchesAfter = (examples: number) => {
      for (let learned = 0; learned < examples; learned += 1) {
        repeated.forget();
        repeated.learn(example);
      }
      return readOne(repeated, '{"t":"b"}') !== undefined;
    };
    expect([8, 1, 1, 2].map(matchesAfter)).toEqual([true, true, true, false]);
  });
});
