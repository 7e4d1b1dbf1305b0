import { readStreamedMessage, readWholeMessage } from "../../http/faults/client-view.ts";
import {
  assertRead,
  type Frame,
  framesOf,
  isObject,
  type Json,
  listAt,
  objectAt,
  textAt,
} from "../../support/strict-json.ts";
import { type ExpectedAnswer, FINISHED, isCount, type Reading } from "./expected.ts";
import { readError } from "./read-error.ts";

const STOPS = ["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"];

/**
 * Decodes a whole message. A translated one must be exact; a passed-through one must have model, content and
 * stop reason.
 */
export function readMessageWhole(expected: ExpectedAnswer, text: string): Reading {
  const body = objectAt(JSON.parse(text), "a message");
  assertRead(body.model === expected.model, "another model's name");
  assertRead(Array.isArray(body.content), "no content");
  assertRead(textAt(body.stop_reason) !== "", "no stop reason");
  if (expected.isPassthrough) return FINISHED;
  readWholeMessage(text, expected.model);
  assertRead(STOPS.includes(textAt(body.stop_reason)), "an invalid stop reason");
  for (const each of listAt(body.content)) checkBlock(objectAt(each, "a block"));
  checkUsage(objectAt(body.usage, "usage"));
  return FINISHED;
}

/** Decodes a messages stream by the same rules as a whole message. */
export function readMessageStream(expected: ExpectedAnswer, text: string): Reading {
  const frames = framesOf(text);
  const last = frames.at(-1);
  const end = frames.findIndex(({ event }) => event === "message_stop" || event === "error");
  assertRead(last !== undefined && end === frames.length - 1, "a stream without an end");
  for (const { event, json } of frames)
    assertRead(isObject(json) && json.type === event, "an event under another's name");
  const starts = frames.filter(({ event }) => event === "message_start");
  assertRead(starts.length <= 1, "a second start");
  const stops = frames.filter(
    ({ event, json }) =>
      event === "message_delta" && isObject(json) && isObject(json.delta) && isSaid(json.delta.stop_reason),
  );
  assertRead(stops.length <= 1, "a second stop reason");
  // A start may contain the whole message, and then its stop reason.
  const isWhole = starts.some(({ json }) => isSaid(messageOf(json).stop_reason));
  const isEnded = last.event === "message_stop";
  assertRead(isEnded ? isWhole || stops.length === 1 : stops.length === 0, "an end without a stop reason");
  for (const { json } of starts) {
    const { model } = messageOf(json);
    assertRead(model === expected.model, "another model's name");
  }
  if (!expected.isPassthrough && starts.length > 0) readPrinted(expected, frames, text);
  if (last.event === "message_stop") return FINISHED;
  return { ended: "failed", row: readError("messages", objectAt(last.json, "an error")) };
}

function messageOf(start: unknown) {
  return objectAt(objectAt(start, "an event").message, "a message");
}

function isSaid(reason: unknown): boolean {
  return typeof reason === "string" && reason !== "";
}

/** Rules of a translated stream: blocks numbered from 0 without gaps, each with deltas of its own type. */
function readPrinted({ model }: ExpectedAnswer, frames: readonly Frame[], text: string): void {
  readStreamedMessage(text, model);
  let blocks = 0;
  let open: Json = {};
  let input = "";
  for (const { json } of frames) {
    const event = objectAt(json, "an event");
    if (event.type === "message_start")
      checkUsage(objectAt(objectAt(event.message, "a message").usage, "usage"));
    if (event.type === "content_block_start") {
      assertRead(event.index === blocks, "a block out of its turn");
      blocks += 1;
      open = objectAt(event.content_block, "a block");
      input = "";
      checkBlock(open);
    }
    if (event.type === "content_block_delta") {
      const delta = objectAt(event.delta, "a delta");
      assertRead(listAt(DELTAS[textAt(open.type)]).includes(delta.type), "a delta of another kind of block");
      input += textAt(delta.partial_json);
    }
    if (event.type === "content_block_stop" && open.type === "tool_use") checkInput(input, frames);
    if (event.type === "message_delta") {
      assertRead(
        STOPS.includes(textAt(objectAt(event.delta, "a delta").stop_reason)),
        "an invalid stop reason",
      );
      checkUsage(objectAt(event.usage, "usage"));
    }
  }
}

const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ["text_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
};

/** Only an answer that was cut off may end within the input of a tool call. */
function checkInput(input: string, frames: readonly Frame[]): void {
  const isCut = frames.some(
    ({ event, json }) =>
      event === "error" ||
      (isObject(json) && isObject(json.delta) && json.delta.stop_reason === "max_tokens"),
  );
  if (isCut || input === "") return;
  objectAt(JSON.parse(input), "a tool's input");
}

function checkBlock(block: Json): void {
  assertRead(
    ["text", "thinking", "redacted_thinking", "tool_use"].includes(textAt(block.type)),
    "an invalid block",
  );
  if (block.type === "tool_use") objectAt(block.input, "a tool's input");
}

function checkUsage(usage: Json): void {
  assertRead(isCount(usage.input_tokens) && isCount(usage.output_tokens), "usage that is no count");
  for (const name of ["cache_read_input_tokens", "cache_creation_input_tokens"]) {
    assertRead(
      usage[name] === undefined || usage[name] === null || isCount(usage[name]),
      "usage that is no count",
    );
  }
}
