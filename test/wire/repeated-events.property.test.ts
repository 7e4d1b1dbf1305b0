import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anthropicMessages } from "../../src/wire/anthropic-messages/protocol.ts";
import { openaiChat } from "../../src/wire/openai-chat/protocol.ts";
import { openaiResponses } from "../../src/wire/openai-responses/protocol.ts";
import type { WireProtocol } from "../../src/wire/protocol.ts";
import { createRepeatedEvents } from "../../src/wire/repeated-events.ts";
import { UpstreamFault } from "../../src/wire/upstream-fault.ts";
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
  { weight: 6, arbitrary: fc.string({ unit: "grapheme", minLength: 1 }).map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: fc.constantFrom('"\\n"', '"\\"quoted\\""', '"\\ud800"', '"\\\\"', '"\\u0041b"') },
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
  const change = fc.option(fc.tuple(fc.nat(), fc.constantFrom('"', "\\", "{", "]", " ", "0", "\t")), {
    nil: undefined,
    freq: 8,
  });
  const texts = fc.array(fc.tuple(stringText, fc.nat(12), change), { minLength: 1, maxLength: 8 });
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

/** Reads a stream, every event with the name that `nameOf` returns. */
function readAll(
  wire: WireProtocol,
  members: object,
  stream: readonly string[],
  nameOf: (at: number) => string,
) {
  const reader = wire.readStream(requestOf(wire, members));
  const results = stream.map((data, at) => {
    try {
      return { ...reader.read({ event: nameOf(at), data }), finished: reader.finished };
    } catch (fault) {
      if (fault instanceof UpstreamFault) return fault.message;
      throw fault;
    }
  });
  return { results, ending: reader.finished ? reader.ending() : undefined };
}

describe("a stream whose events repeat", () => {
  test.each<[name: string, wire: WireProtocol, members: object, shapes: readonly Shape[]]>([
    ["chat", openaiChat, {}, CHAT],
    ["chat of two choices", openaiChat, { n: 2 }, CHAT],
    ["messages", anthropicMessages, {}, MESSAGES],
    ["responses", openaiResponses, { input: "hi" }, RESPONSES],
  ])("of %s is read as if every event was parsed", (_, wire, members, shapes) => {
    const start = shapes === MESSAGES && shapes[0] ? [shapes[0]("", 0)] : [];
    fc.assert(
      fc.property(streamsOf(shapes), (stream) => {
        const whole = [...start, ...stream];
        // No event repeats one of another name, so that each of them is parsed.
        const parsed = readAll(wire, members, whole, (at) => `name${at % 2}`);
        expect(readAll(wire, members, whole, () => "name")).toEqual(parsed);
      }),
      { numRuns: 3_000 },
    );
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
  const eventOf = (data: string, event?: string) => ({ event, data });

  test("reads an event that differs in its text only", () => {
    const repeated = createRepeatedEvents();
    repeated.learn(example);
    const text = 'data: {"t":"b\\n"}\n\n';
    expect(repeated.read(eventOf('{"t":"b\\n"}'))).toEqual({ ...part, text, generated: "b\n" });
  });

  test.each([
    ["another text before", '{"u":"b"}', undefined],
    ["another text behind", '{"t":"b","u":1}', undefined],
    ["an empty text", '{"t":""}', undefined],
    ["a control character in the text", '{"t":"\u0001"}', undefined],
    ["an invalid escape in the text", '{"t":"\\x"}', undefined],
    ["another name", '{"t":"b"}', "error"],
    ["a text above 65,536 characters", `{"t":"${"b".repeat(65_536)}"}`, undefined],
  ])("does not read an event with %s, and forgets its example", (_, data, name) => {
    const repeated = createRepeatedEvents();
    repeated.learn(example);
    expect(repeated.read(eventOf(data, name))).toBeUndefined();
    expect(repeated.read(eventOf('{"t":"b"}'))).toBeUndefined();
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
    expect(repeated.read(eventOf('{"t":"b"}'))).toBeUndefined();
  });

  test("learns no more after eight examples in vain, and one more for each event that matched", () => {
    const repeated = createRepeatedEvents();
    const learnAndMiss = () => {
      repeated.learn(example);
      repeated.read(eventOf("{}"));
    };
    for (let vain = 0; vain < 7; vain += 1) learnAndMiss();
    repeated.learn(example);
    expect(repeated.read(eventOf('{"t":"b"}'))).toBeDefined();
    repeated.read(eventOf("{}"));
    repeated.learn(example);
    expect(repeated.read(eventOf('{"t":"b"}'))).toBeDefined();
    learnAndMiss();
    learnAndMiss();
    repeated.learn(example);
    expect(repeated.read(eventOf('{"t":"b"}'))).toBeUndefined();
  });
});
