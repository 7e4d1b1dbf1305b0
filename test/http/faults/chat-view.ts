import {
  assertRead,
  framesOf,
  isObject,
  type Json,
  listAt,
  objectAt,
  textAt,
} from "../../support/strict-json.ts";
import { type Draft, emptyDraft, type ToolView, type View } from "./view.ts";

const FINISHES = ["stop", "length", "tool_calls", "content_filter", "function_call"];

/** Reads a whole chat answer of one choice, as strictly as no real client does. */
export function readWholeChat(body: string, model: string): View {
  const answer = objectAt(JSON.parse(body), "an answer");
  assertRead(answer.model === model, "another model's name");
  const [choice, ...others] = listAt(answer.choices);
  assertRead(others.length === 0, "more choices than one");
  const { message, finish_reason: finish } = objectAt(choice, "a choice");
  const view = emptyDraft();
  addContent(view, objectAt(message, "a message"));
  for (const call of listAt(objectAt(message, "a message").tool_calls)) {
    view.tools.push(toolOf(objectAt(call, "a tool call")));
  }
  view.finish = finishOf(finish);
  return view;
}

/** Reads a streamed one: at most one finish, `[DONE]` or an error last, never both. */
export function readStreamedChat(body: string, model: string): View {
  const view = emptyDraft();
  let isOver = false;
  for (const { json } of framesOf(body)) {
    assertRead(!isOver, "an event behind the last one");
    isOver = json === "[DONE]" || isObject(json.error);
    if (json === "[DONE]") assertRead(view.finish !== undefined, "an end without a finish");
    else if (json.error !== undefined) view.error = errorOf(json, view);
    else readChunk(view, json, model);
  }
  assertRead(isOver, "a stream without an end");
  return view;
}

function errorOf(json: Json, view: View): Json {
  assertRead(view.finish === undefined, "a finish and an error");
  return json;
}

function readChunk(view: Draft, chunk: Json, model: string): void {
  assertRead(chunk.model === model, "another model's name");
  assertRead(chunk.usage === undefined || chunk.usage === null, "usage that it has not asked for");
  assertRead(Array.isArray(chunk.choices), "a chunk without choices");
  for (const each of listAt(chunk.choices)) {
    const choice = objectAt(each, "a choice");
    assertRead(choice.index === 0, "a choice that it has not asked for");
    const delta = objectAt(choice.delta, "a delta");
    addContent(view, delta);
    for (const call of listAt(delta.tool_calls)) addToolCall(view, objectAt(call, "a tool call"));
    if (choice.finish_reason === null || choice.finish_reason === undefined) continue;
    assertRead(view.finish === undefined, "a second finish");
    view.finish = finishOf(choice.finish_reason);
  }
}

function addContent(view: Draft, message: Json): void {
  view.text += textAt(message.content);
  view.reasoning += textAt(message.reasoning_content);
  view.refusal += textAt(message.refusal);
}

/** Clients add up fragments by index; the first one of a call must name it. */
function addToolCall(view: Draft, call: Json): void {
  const index = Number(call.index);
  assertRead(Number.isInteger(index) && index >= 0 && index <= view.tools.length, "a tool call out of order");
  const known = view.tools[index];
  if (known === undefined) {
    assertRead(call.type === "function", "a tool call without a type");
    view.tools[index] = toolOf(call);
  } else {
    const more = textAt(objectAt(call.function, "a function").arguments);
    view.tools[index] = { ...known, arguments: known.arguments + more };
  }
}

function toolOf(call: Json): ToolView {
  const { name, arguments: input } = objectAt(call.function, "a function");
  assertRead(textAt(call.id) !== "" && textAt(name) !== "", "a tool call without id or name");
  assertRead(typeof input === "string", "arguments that are no text");
  return { id: textAt(call.id), name: textAt(name), arguments: input };
}

function finishOf(finish: unknown): string {
  assertRead(FINISHES.includes(textAt(finish)), "a finish that is none");
  return textAt(finish);
}
