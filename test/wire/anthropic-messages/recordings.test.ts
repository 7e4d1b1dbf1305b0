import { describe, expect, test } from "bun:test";
import type { ChatEvent, ChatReply, OutputEvent } from "../../../src/domain/chat-event.ts";
import { readEvents, readReply } from "../../../src/wire/anthropic-messages/egress/read-answer.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import { printEvents, printReply } from "../../../src/wire/anthropic-messages/ingress/print-answer.ts";
import { printSse } from "../../../src/wire/sse.ts";
import { collectReply } from "../../../src/wire/translate.ts";
import { hasRecordings, recordedBody, recordedLines, recordings } from "../../support/recordings.ts";
import { eventsOf, headOf, requestOf } from "../play.ts";

const request = requestOf(anthropicMessages, { thinking: { type: "enabled", budget_tokens: 1024 } });
const HEAD = headOf(request, { id: "abc1", createdAtS: 1, inputTokens: 33 });

const recorded = (form: "whole" | "streamed") =>
  recordings(form).filter(({ protocol }) => protocol === "anthropic");

function readStream(stream: string): ChatEvent[] {
  const reader = readEvents();
  const events = eventsOf(stream).flatMap(reader.read);
  expect(reader).toMatchObject({ finished: true, done: true });
  return events;
}

function printStream(reply: readonly ChatEvent[]): string {
  const printer = printEvents(HEAD);
  const { finish, usage } = collectReply(reply);
  const isOutput = (event: ChatEvent): event is OutputEvent =>
    event.kind !== "finish" && event.kind !== "usage" && event.kind !== "began";
  return (
    reply
      .filter(isOutput)
      .map((event) => printer.print(event))
      .join("") + printer.end(finish, usage)
  );
}

/**
 * An answer without permitted differences: a refusal is printed as text, and the white space of inputs may
 * change.
 */
function comparableOf({ blocks, ...rest }: ChatReply) {
  return {
    ...rest,
    blocks: blocks.map((block) => {
      if (block.kind === "refusal") return { ...block, kind: "text" };
      return block.kind === "tool_call" ? { ...block, input: JSON.parse(block.input || "{}") } : block;
    }),
  };
}

/** The content of a recording, read without the code under test. */
function contentOf(blocks: readonly Record<string, unknown>[]) {
  const calls = blocks.filter(({ type }) => type === "tool_use");
  return {
    text: blocks.map(({ text = "" }) => text).join(""),
    thinking: blocks.map(({ thinking = "" }) => thinking).join(""),
    calls: calls.map(({ id, name, input }) => ({ id, name, input })),
  };
}

function streamedContentOf(lines: readonly string[]) {
  const blocks: Record<string, unknown>[] = [];
  for (const { index, content_block: block, delta } of lines.map((line) => JSON.parse(line))) {
    if (block) blocks[index] = { ...block, json: "" };
    const open = blocks[index];
    if (!open || !delta) continue;
    if (delta.text) open.text = `${open.text}${delta.text}`;
    if (delta.thinking) open.thinking = `${open.thinking}${delta.thinking}`;
    if (delta.partial_json) open.json = `${open.json}${delta.partial_json}`;
  }
  return contentOf(blocks.map((block) => ({ ...block, input: JSON.parse(`${block.json || "{}"}`) })));
}

function contentOfReply({ blocks }: ChatReply) {
  return contentOf(
    blocks.map((block) => {
      if (block.kind === "reasoning") return { thinking: block.text };
      if (block.kind !== "tool_call") return block.kind === "text" ? { text: block.text } : {};
      return { ...block, type: "tool_use", input: JSON.parse(block.input || "{}") };
    }),
  );
}

/** Fails unless an answer reads back unchanged after printing, streamed and whole. */
function expectRoundTrip(events: readonly ChatEvent[]): void {
  const reply = collectReply(events);
  const streamed = collectReply(readStream(printStream(events)));
  const whole = collectReply(readReply(printReply(HEAD, reply)));
  expect(comparableOf(streamed)).toEqual(comparableOf(reply));
  expect(comparableOf(whole)).toEqual(comparableOf(reply));
}

describe.skipIf(!hasRecordings)("recorded messages", () => {
  test.each(recorded("streamed"))(
    "$name, streamed, is read completely and unchanged after printing",
    ({ name }) => {
      const lines = recordedLines(name);
      const stream = lines.map((data) => printSse({ event: JSON.parse(data).type, data })).join("");
      const events = readStream(stream);
      expect(contentOfReply(collectReply(events))).toEqual(streamedContentOf(lines));
      expectRoundTrip(events);
    },
  );

  test.each(recorded("whole"))(
    "$name, whole, is read completely and unchanged after printing",
    ({ name }) => {
      const body = recordedBody(name);
      const events = readReply(body);
      const { content, usage } = JSON.parse(body);
      const reply = collectReply(events);
      expect(contentOfReply(reply)).toEqual(contentOf(content));
      expect(reply.usage?.usage).toMatchObject({
        inputTokens: usage.input_tokens,
        outputTokens: usage.output_tokens,
      });
      expectRoundTrip(events);
    },
  );

  test("a streamed refusal and a whole refusal give equal answers", () => {
    const [name] = recorded("streamed").filter((each) => each.name.endsWith("refusal"));
    if (!name) throw new Error("There is no recorded refusal");
    const stream = recordedLines(name.name).map((data) => printSse({ data }));
    expect(collectReply(readStream(stream.join("")))).toEqual(
      collectReply(readReply(recordedBody(name.name))),
    );
  });
});
