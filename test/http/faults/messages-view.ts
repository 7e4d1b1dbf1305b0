import {
  assertRead,
  framesOf,
  isObject,
  type Json,
  listAt,
  objectAt,
  textAt,
} from "../../support/strict-json.ts";
import { type Draft, emptyDraft, type View } from "./view.ts";

/** Reads a whole message, as strictly as no real client does. */
export function readWholeMessage(body: string, model: string): View {
  const message = objectAt(JSON.parse(body), "a message");
  assertRead(message.type === "message" && message.model === model, "another model's name");
  const view = emptyDraft();
  for (const each of listAt(message.content)) {
    const block = objectAt(each, "a block");
    view.text += textAt(block.text);
    view.reasoning += textAt(block.thinking);
    if (block.type === "tool_use") view.tools.push(toolOf(block, JSON.stringify(block.input)));
  }
  view.finish = textAt(message.stop_reason) || undefined;
  return view;
}

/** Reads a streamed one: a start, blocks that open and close in turn, one stop reason and `message_stop`, or an error. */
export function readStreamedMessage(body: string, model: string): View {
  const view = emptyDraft();
  const [start, ...rest] = framesOf(body);
  assertRead(isObject(start?.json) && start.json.type === "message_start", "no start first");
  assertRead(objectAt(start.json.message, "a message").model === model, "another model's name");
  let isOver = false;
  let openBlock: number | undefined;
  for (const { event, json } of rest) {
    assertRead(json !== "[DONE]" && json.type === event, "an event under another's name");
    assertRead(!isOver, "an event behind the last one");
    isOver = event === "message_stop" || event === "error";
    if (event === "error") view.error = errorOf(json, view);
    else if (event === "message_stop") assertRead(view.finish !== undefined, "an end without a stop reason");
    else openBlock = readEvent(view, json, openBlock);
  }
  assertRead(isOver, "a stream without an end");
  return view;
}

function errorOf(json: Json, view: View): Json {
  assertRead(view.finish === undefined, "a finish and an error");
  return json;
}

/** Returns the block that is open behind the event. */
function readEvent(view: Draft, json: Json, openBlock: number | undefined): number | undefined {
  if (json.type === "ping") return openBlock;
  if (json.type === "content_block_start") {
    assertRead(openBlock === undefined, "a block within another");
    openContent(view, objectAt(json.content_block, "a block"));
    return Number(json.index);
  }
  if (json.type === "content_block_delta") {
    assertRead(json.index === openBlock, "a delta of no open block");
    addDelta(view, objectAt(json.delta, "a delta"));
    return openBlock;
  }
  if (json.type === "content_block_stop") {
    assertRead(json.index === openBlock, "the end of no open block");
    return undefined;
  }
  assertRead(json.type === "message_delta", "an event that is unknown");
  const reason = textAt(objectAt(json.delta, "a delta").stop_reason);
  if (reason !== "") {
    assertRead(view.finish === undefined, "a second stop reason");
    view.finish = reason;
  }
  return openBlock;
}

function openContent(view: Draft, block: Json): void {
  view.text += textAt(block.text);
  view.reasoning += textAt(block.thinking);
  if (block.type === "tool_use") view.tools.push(toolOf(block, ""));
}

function addDelta(view: Draft, delta: Json): void {
  view.text += textAt(delta.text);
  view.reasoning += textAt(delta.thinking);
  const tool = view.tools.at(-1);
  if (tool === undefined || delta.type !== "input_json_delta") return;
  view.tools[view.tools.length - 1] = { ...tool, arguments: tool.arguments + textAt(delta.partial_json) };
}

function toolOf(block: Json, input: string) {
  assertRead(textAt(block.id) !== "" && textAt(block.name) !== "", "a tool use without id or name");
  return { id: textAt(block.id), name: textAt(block.name), arguments: input };
}
