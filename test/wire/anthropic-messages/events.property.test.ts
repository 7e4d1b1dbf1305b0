import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatEvent, ChatReply, FinishEvent, OutputEvent } from "../../../src/domain/chat-event.ts";
import { readEvents, readReply } from "../../../src/wire/anthropic-messages/egress/read-answer.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import { printEvents, printReply } from "../../../src/wire/anthropic-messages/ingress/print-answer.ts";
import type { SseEvent } from "../../../src/wire/sse.ts";
import { collectReply } from "../../../src/wire/translate.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { eventsOf, headOf, requestOf } from "../play.ts";

const request = requestOf(anthropicMessages, { thinking: { type: "enabled", budget_tokens: 1024 } });
const HEAD = headOf(request, { id: "abc1", createdAtS: 1, inputTokens: 33 });
const FINISH: FinishEvent = { kind: "finish", reason: "stop", stopSequence: undefined };

const words = fc.string({ minLength: 1, maxLength: 5 });
const textual: fc.Arbitrary<OutputEvent> = fc.oneof(
  words.map((text) => ({ kind: "text", text }) as const),
  words.map((text) => ({ kind: "reasoning", text }) as const),
  words.map((signature) => ({ kind: "reasoning_signature", signature }) as const),
  words.map((data) => ({ kind: "redacted_reasoning", data }) as const),
);
/** The input of a call as JSON, cut into pieces at random positions. */
const call = fc
  .tuple(
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
    fc.array(fc.nat(40), { maxLength: 4 }),
  )
  .map(([input, cuts]) => {
    const json = JSON.stringify(input);
    const ends = [...cuts.filter((cut) => cut < json.length).sort((a, b) => a - b), json.length];
    return ends.map((end, at) => json.slice(at === 0 ? 0 : ends[at - 1], end));
  });

/** An answer with interleaved calls. A number in `order` selects the call whose next piece follows. */
const answer = fc
  .tuple(fc.array(call, { maxLength: 4 }), fc.array(fc.oneof(textual, fc.nat(9)), { maxLength: 30 }))
  .map(([calls, order]) => interleave(calls, order));

function interleave(calls: readonly string[][], order: readonly (OutputEvent | number)[]): OutputEvent[] {
  const rest = calls.map((pieces) => [...pieces]);
  const numbers = new Map<number, number>();
  const output: OutputEvent[] = [];
  const advance = (at: number) => {
    const known = numbers.get(at);
    if (known === undefined) {
      const number = numbers.size;
      numbers.set(at, number);
      output.push({ kind: "tool_call", call: number, id: `t${number}`, name: `f${number}` });
    } else output.push({ kind: "tool_input", call: known, json: rest[at]?.shift() ?? "" });
  };
  for (const next of order) {
    if (typeof next !== "number") output.push(next);
    else if (calls.length > 0) advance(next % calls.length);
  }
  for (const at of numbers.keys()) while (rest[at]?.length) advance(at);
  return output;
}

function print(output: readonly OutputEvent[]): SseEvent[] {
  const printer = printEvents(HEAD);
  return eventsOf(output.map((event) => printer.print(event)).join("") + printer.end(FINISH, undefined));
}

function isOutput(event: ChatEvent): event is OutputEvent {
  return event.kind !== "finish" && event.kind !== "usage" && event.kind !== "began";
}

/** Fails unless blocks are numbered from 0 and each stops before the next starts. */
function expectOrder(frames: readonly SseEvent[]): void {
  let index = -1;
  let isOpen = false;
  for (const frame of frames.map(({ data }) => JSON.parse(data))) {
    if (frame.index === undefined) expect(isOpen).toBe(false);
    else {
      if (frame.type === "content_block_start") index += 1;
      expect(isOpen).toBe(frame.type !== "content_block_start");
      expect(frame.index).toBe(index);
      isOpen = frame.type !== "content_block_stop";
    }
  }
}

function contentOf({ blocks }: ChatReply) {
  return blocks.map((block) =>
    block.kind === "tool_call" ? { ...block, input: JSON.parse(block.input || "{}") } : block,
  );
}

describe("a random answer", () => {
  test("reads back unchanged after printing, streamed or whole, however its calls are interleaved", () => {
    fc.assert(
      fc.property(answer, (output) => {
        const reply = collectReply([...output, FINISH]);
        const frames = print(output);
        expectOrder(frames);
        const reader = readEvents();
        expect(contentOf(collectReply(frames.flatMap(reader.read)))).toEqual(contentOf(reply));
        expect(contentOf(collectReply(readReply(printReply(HEAD, reply))))).toEqual(contentOf(reply));
      }),
      { numRuns: 100, seed: 6 },
    );
  });

  test("with malformed events is either read and printed or an UpstreamFault", () => {
    const anything = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant({ a: 1 }));
    const type = fc.constantFrom("text", "thinking", "tool_use", "server_tool_use", "redacted_thinking");
    const content_block = fc.record(
      {
        type,
        text: anything,
        thinking: anything,
        name: fc.oneof(words, anything),
        id: anything,
        input: anything,
      },
      { requiredKeys: ["type"] },
    );
    const delta = fc.record(
      {
        type: fc.constantFrom("text_delta", "thinking_delta", "signature_delta", "input_json_delta"),
        text: fc.oneof(words, anything),
        partial_json: fc.oneof(words, anything),
        signature: fc.oneof(words, anything),
        stop_reason: fc.constantFrom(undefined, "end_turn", "max_tokens", "refusal"),
        stop_details: anything,
      },
      { requiredKeys: ["type"] },
    );
    const event = fc.record(
      {
        type: fc.constantFrom(
          "content_block_start",
          "content_block_delta",
          "content_block_stop",
          "message_delta",
        ),
        index: fc.oneof(fc.nat(2), anything),
        content_block: fc.oneof(content_block, anything),
        delta: fc.oneof(delta, anything),
        usage: fc.oneof(fc.record({ output_tokens: anything }), anything),
      },
      { requiredKeys: ["type", "index", "content_block", "delta"] },
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (sent) => {
        try {
          const reader = readEvents();
          const start = { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } };
          const stream = [start, ...sent].map((each) => ({ event: undefined, data: JSON.stringify(each) }));
          const events = stream.flatMap(reader.read);
          expectOrder(print(events.filter(isOutput)));
          JSON.parse(printReply(HEAD, collectReply(events)));
        } catch (error) {
          if (!(error instanceof UpstreamFault)) throw error;
        }
      }),
      { numRuns: 200, seed: 6 },
    );
  });
});
