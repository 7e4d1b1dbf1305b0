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

const ENDS = ["response.completed", "response.incomplete", "response.failed"];
const STATUSES = ["completed", "incomplete"];

/**
 * Decodes a whole response. A translated one must be exact; a passed-through one must have model, status and
 * output.
 */
export function readResponseWhole(expected: ExpectedAnswer, text: string): Reading {
  const body = objectAt(JSON.parse(text), "a response");
  assertRead(body.model === expected.model, "another model's name");
  // Some hosts leave the status out.
  assertRead(!body.status || STATUSES.includes(textAt(body.status)), "a response that has not ended");
  assertRead(Array.isArray(body.output), "no output");
  if (!expected.isPassthrough) checkResponse(body);
  return FINISHED;
}

/** Decodes a responses stream by the same rules as a whole response. */
export function readResponseStream(expected: ExpectedAnswer, text: string): Reading {
  const frames = framesOf(text);
  const last = frames.at(-1);
  const end = frames.findIndex(({ event }) => ENDS.includes(event ?? ""));
  assertRead(last !== undefined && end === frames.length - 1, "a stream without an end");
  for (const { event, json } of frames) {
    assertRead(isObject(json) && json.type === event, "an event under another's name");
    const { response } = json;
    if (isObject(response)) assertRead(response.model === expected.model, "another model's name");
  }
  if (!expected.isPassthrough) readPrinted(frames);
  if (last.event !== "response.failed") return FINISHED;
  return { ended: "failed", row: readError("responses", objectAt(last.json, "an event")) };
}

/** Events must be in sequence. Each item must begin, grow and end under its own index and id. */
function readPrinted(frames: readonly Frame[]): void {
  const open = new Map<unknown, Json>();
  let items = 0;
  for (const [position, { json }] of frames.entries()) {
    const event = objectAt(json, "an event");
    assertRead(event.sequence_number === position, "an event out of its turn");
    if (event.type === "response.output_item.added") {
      assertRead(event.output_index === items, "an item out of its turn");
      items += 1;
      open.set(event.output_index, objectAt(event.item, "an item"));
    } else if (event.output_index !== undefined) {
      const item = objectAt(open.get(event.output_index), "an item that is open");
      if (event.item_id !== undefined) assertRead(event.item_id === item.id, "an event of another item");
      if (event.type === "response.output_item.done") {
        assertRead(objectAt(event.item, "an item").id === item.id, "the end of another item");
        open.delete(event.output_index);
      }
    }
    if (event.type === "response.completed" || event.type === "response.incomplete") {
      assertRead(open.size === 0, "an end within an item");
      const response = objectAt(event.response, "a response");
      checkResponse(response);
      assertRead(listAt(response.output).length === items, "items that were never streamed");
    }
  }
}

function checkResponse(response: Json): void {
  assertRead(
    response.object === "response" && STATUSES.includes(textAt(response.status)),
    "no response that has ended",
  );
  for (const each of listAt(response.output)) {
    const item = objectAt(each, "an item");
    assertRead(textAt(item.type) !== "" && textAt(item.id) !== "", "an item without type or id");
    if (item.type !== "function_call") continue;
    assertRead(textAt(item.call_id) !== "" && textAt(item.name) !== "", "a call without id or name");
    // Arguments need not be JSON: the client reports invalid ones to its model.
    if (response.status === "completed")
      assertRead(textAt(item.arguments) !== "", "a call without arguments");
  }
  if (response.usage === null) return;
  const {
    input_tokens: input,
    output_tokens: output,
    total_tokens: total,
  } = objectAt(response.usage, "usage");
  assertRead(
    isCount(input) && isCount(output) && Number(input) + Number(output) === total,
    "usage that is no count",
  );
}
