import {
  assertRead,
  framesOf,
  isObject,
  type Json,
  listAt,
  objectAt,
  textAt,
} from "../../support/strict-json.ts";

/** An answer as its client decodes it, whole or streamed, on either surface. */
export interface ClientView {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly tools: readonly ToolView[];
  /** `undefined` when the answer did not finish. */
  readonly finish: string | undefined;
  /** The error event that ended the answer. */
  readonly error: Readonly<Record<string, unknown>> | undefined;
}

interface ToolView {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A client view that is being decoded. */
export type ViewDraft = { -readonly [Field in keyof Omit<ClientView, "tools">]: ClientView[Field] } & {
  tools: ToolView[];
};

export function emptyDraft(): ViewDraft {
  return { text: "", reasoning: "", refusal: "", tools: [], finish: undefined, error: undefined };
}

const FINISHES = ["stop", "length", "tool_calls", "content_filter", "function_call"];

/** Decodes a whole chat answer with one choice. Stricter than real clients. */
export function readWholeChat(body: string, model: string): ClientView {
  const answer = objectAt(JSON.parse(body), "an answer");
  assertRead(answer.model === model, "another model's name");
  const [choice, ...others] = listAt(answer.choices);
  assertRead(others.length === 0, "more choices than one");
  const { message, finish_reason: finish } = objectAt(choice, "a choice");
  const view = emptyDraft();
  addContent(view, objectAt(message, "a message"));
  for (const call of listAt(objectAt(message, "a message").tool_calls)) {
    view.tools.push(chatToolOf(objectAt(call, "a tool call")));
  }
  view.finish = finishOf(finish);
  return view;
}

/** Decodes a chat stream. It must have at most one finish, and end with `[DONE]` or an error, not both. */
export function readStreamedChat(body: string, model: string): ClientView {
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

function errorOf(json: Json, view: ClientView): Json {
  assertRead(view.finish === undefined, "a finish and an error");
  return json;
}

function readChunk(view: ViewDraft, chunk: Json, model: string): void {
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

function addContent(view: ViewDraft, message: Json): void {
  view.text += textAt(message.content);
  view.reasoning += textAt(message.reasoning_content);
  view.refusal += textAt(message.refusal);
}

/** Clients merge fragments by index. The first fragment of a call must have its id and name. */
function addToolCall(view: ViewDraft, call: Json): void {
  const index = Number(call.index);
  assertRead(Number.isInteger(index) && index >= 0 && index <= view.tools.length, "a tool call out of order");
  const known = view.tools[index];
  if (known === undefined) {
    assertRead(call.type === "function", "a tool call without a type");
    view.tools[index] = chatToolOf(call);
  } else {
    const more = textAt(objectAt(call.function, "a function").arguments);
    view.tools[index] = { ...known, arguments: known.arguments + more };
  }
}

function chatToolOf(call: Json): ToolView {
  const { name, arguments: input } = objectAt(call.function, "a function");
  assertRead(textAt(call.id) !== "" && textAt(name) !== "", "a tool call without id or name");
  assertRead(typeof input === "string", "arguments that are no text");
  return { id: textAt(call.id), name: textAt(name), arguments: input };
}

function finishOf(finish: unknown): string {
  assertRead(FINISHES.includes(textAt(finish)), "an invalid finish");
  return textAt(finish);
}

/** Decodes a whole message. Stricter than real clients. */
export function readWholeMessage(body: string, model: string): ClientView {
  const message = objectAt(JSON.parse(body), "a message");
  assertRead(message.type === "message" && message.model === model, "another model's name");
  const view = emptyDraft();
  for (const each of listAt(message.content)) {
    const block = objectAt(each, "a block");
    view.text += textAt(block.text);
    view.reasoning += textAt(block.thinking);
    if (block.type === "tool_use") view.tools.push(toolUseOf(block, JSON.stringify(block.input)));
  }
  view.finish = textAt(message.stop_reason) || undefined;
  return view;
}

/**
 * Decodes a messages stream: a start, blocks without overlap, and then a stop reason and `message_stop`, or
 * an error.
 */
export function readStreamedMessage(body: string, model: string): ClientView {
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

/** Returns the index of the block that is open after the event. */
function readEvent(view: ViewDraft, json: Json, openBlock: number | undefined): number | undefined {
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

function openContent(view: ViewDraft, block: Json): void {
  view.text += textAt(block.text);
  view.reasoning += textAt(block.thinking);
  if (block.type === "tool_use") view.tools.push(toolUseOf(block, ""));
}

function addDelta(view: ViewDraft, delta: Json): void {
  view.text += textAt(delta.text);
  view.reasoning += textAt(delta.thinking);
  const tool = view.tools.at(-1);
  if (tool === undefined || delta.type !== "input_json_delta") return;
  view.tools[view.tools.length - 1] = { ...tool, arguments: tool.arguments + textAt(delta.partial_json) };
}

function toolUseOf(block: Json, input: string) {
  assertRead(textAt(block.id) !== "" && textAt(block.name) !== "", "a tool use without id or name");
  return { id: textAt(block.id), name: textAt(block.name), arguments: input };
}
