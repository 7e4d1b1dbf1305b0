import { describe, expect, test } from "bun:test";
import { anthropicMessages } from "../../src/wire/anthropic-messages/format.ts";
import type { WireFormat } from "../../src/wire/format.ts";
import { openaiChat } from "../../src/wire/openai-chat/format.ts";
import type { SseEvent } from "../../src/wire/sse.ts";
import { createSseDecoder, printSse } from "../../src/wire/sse.ts";
import { hasRecordings, recordedBody, recordedLines, recordings } from "../support/recordings.ts";
import { eventsOf, play, requestOf } from "./play.ts";

const WIRES: Record<string, WireFormat> = { openai: openaiChat, anthropic: anthropicMessages };
const WITH_USAGE = { stream_options: { include_usage: true } };
const SMALL_BYTES = 4000;

function wireOf(protocol: string): WireFormat {
  const wire = WIRES[protocol];
  if (!wire) throw new Error(`No wire speaks ${protocol}`);
  return wire;
}

function streamOf(name: string, protocol: string): string {
  const lines = recordedLines(name);
  if (protocol === "openai") return `${lines.map((data) => printSse({ data })).join("")}data: [DONE]\n\n`;
  return lines.map((data) => printSse({ event: JSON.parse(data).type, data })).join("");
}

function piecesOf(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}

function decode(chunks: readonly Uint8Array[]): SseEvent[] {
  const decoder = createSseDecoder();
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()];
}

/** Joins text and tool arguments as a client would, without the gateway's code. */
function collect(events: readonly SseEvent[]): string {
  return events
    .filter((event) => event.data !== "[DONE]")
    .map((event) => {
      const { choices = [], delta, content_block: block } = JSON.parse(event.data);
      const chat = choices[0]?.delta ?? {};
      const call = chat.tool_calls?.[0]?.function ?? {};
      const started = block?.type?.endsWith("_use") ? block.name : "";
      const value = delta?.text ?? delta?.thinking ?? delta?.partial_json ?? started;
      return [chat.reasoning_content ?? chat.reasoning, chat.content, call.name, call.arguments, value].join(
        "",
      );
    })
    .join("");
}

describe.skipIf(!hasRecordings)("recorded streams", () => {
  test.each(recordings("streamed"))(
    "$name passes through except the model and the usage",
    ({ name, protocol }) => {
      const wire = wireOf(protocol);
      const stream = streamOf(name, protocol);
      const played = play(wire, requestOf(wire, WITH_USAGE), stream);
      const before = eventsOf(stream);
      const after = eventsOf(played.early + played.ending);

      expect(played).toMatchObject({ finished: true, done: true, isReadable: true, isOutput: true });
      expect(played.generated).toBe(collect(before));
      expect(collect(after)).toBe(collect(before));
      expect(withoutUsage(after)).toEqual(withoutUsage(before));
      expect(played.early + played.ending).not.toMatch(/"model":"(?!asked)/);
      expect(played.usage?.outputTokens).toBe(lastOutputTokens(before));
    },
  );

  test.each(recordings("streamed"))(
    "$name is decoded to equal events wherever its bytes are cut",
    ({ name, protocol }) => {
      const bytes = new TextEncoder().encode(streamOf(name, protocol));
      const whole = decode([bytes]);
      const isSmall = bytes.length < SMALL_BYTES;
      for (let size = 1; size <= (isSmall ? bytes.length : 40); size += 1) {
        expect(Bun.deepEquals(decode(piecesOf(bytes, size)), whole)).toBe(true);
      }
      for (let at = 1; isSmall && at < bytes.length; at += 1) {
        expect(Bun.deepEquals(decode([bytes.subarray(0, at), bytes.subarray(at)]), whole)).toBe(true);
      }
    },
  );

  test.each(recordings("streamed"))(
    "$name is read to equal parts one byte at a time",
    ({ name, protocol }) => {
      const wire = wireOf(protocol);
      const stream = streamOf(name, protocol);
      const bytes = new TextEncoder().encode(stream);
      const request = requestOf(wire);
      expect(play(wire, request, piecesOf(bytes, 1))).toEqual(play(wire, request, [bytes]));
    },
  );

  test.each(recordings("streamed"))(
    "$name is not finished before its finish reason",
    ({ name, protocol }) => {
      const wire = wireOf(protocol);
      const events = eventsOf(streamOf(name, protocol));
      const finishAt = events.findIndex(({ data }) => /"(finish|stop)_reason":"/.test(data));
      const reader = wire.readStream(requestOf(wire));
      events.forEach((event, position) => {
        const { text } = reader.read(event);
        expect(reader.finished).toBe(position >= finishAt);
        if (position >= finishAt) expect(text).toBe("");
      });
    },
  );
});

describe.skipIf(!hasRecordings)("recorded bodies", () => {
  test.each(recordings("whole"))(
    "$name passes byte for byte except the model's name",
    ({ name, protocol }) => {
      const wire = wireOf(protocol);
      const body = recordedBody(name);
      const { text, ...meaning } = wire.readWhole(requestOf(wire, { stream: false }), body);
      const { model, usage } = JSON.parse(body);
      expect(text).toBe(body.replace(`"model": ${JSON.stringify(model)}`, '"model": "asked"'));
      expect(text).not.toBe(body);
      expect(meaning).toMatchObject({ isReadable: true, isOutput: true });
      expect(meaning.usage?.outputTokens).toBe(usage.completion_tokens ?? usage.output_tokens);
    },
  );
});

/** Parses events without the members that the reader may change. Drops chunks that contain only usage. */
function withoutUsage(events: readonly SseEvent[]): unknown[] {
  return events
    .filter(({ data }) => data !== "[DONE]")
    .map(({ event, data }) => {
      const { model: _, usage: __, ...rest } = JSON.parse(data);
      if (rest.message) rest.message.model = "";
      return { event, rest };
    })
    .filter(({ rest }) => !(rest.choices?.length === 0 && !rest.prompt_filter_results));
}

function lastOutputTokens(events: readonly SseEvent[]): number {
  const reported = events
    .filter(({ data }) => data !== "[DONE]")
    .map(({ data }) => JSON.parse(data).usage ?? {})
    .map((usage) => usage.completion_tokens ?? usage.output_tokens);
  return reported.findLast((tokens) => tokens !== undefined);
}
