import { isJsonObject, type JsonObject, objectsIn, parseAnyJson } from "../wire/json/read.ts";
import { createSseDecoder } from "../wire/sse.ts";

// A stream is kept as the answer that it comes to: its pieces alone would hide from rules what is split between two
// of them. What upstreams send may lie about itself: members of other types are ignored, and indices are bounded.

type Assemble = (events: readonly JsonObject[]) => unknown;

const INDEX_MAX = 127;

/**
 * Puts the events of a streamed answer together, as the format prints a whole one. Returns `undefined` for a stream
 * that is none. Of formats whose streams end with the whole answer, the last event is taken.
 */
export function assembleStream(surface: string, stream: string): unknown {
  const events = readEvents(stream);
  if (events.length === 0) return undefined;
  const assemble = Object.hasOwn(FORMATS, surface) ? FORMATS[surface] : undefined;
  return assemble ? assemble(events) : events.at(-1);
}

const FORMATS: Readonly<Record<string, Assemble>> = {
  chat: assembleChat,
  messages: assembleMessages,
  responses: assembleResponse,
  gemini: assembleGemini,
};

function readEvents(stream: string): readonly JsonObject[] {
  const decoder = createSseDecoder();
  try {
    const events = [...decoder.push(Buffer.from(stream)), ...decoder.end()];
    return events.flatMap(({ data }) => {
      const value = parseAnyJson(data);
      return isJsonObject(value) ? [value] : [];
    });
  } catch {
    // An event above the decoder's bounds: nothing of the stream is kept.
    return [];
  }
}

/** @see https://platform.openai.com/docs/api-reference/chat-streaming */
function assembleChat(events: readonly JsonObject[]): unknown {
  const choices = new Map<number, Draft>();
  let head: JsonObject = {};
  for (const { choices: pieces, ...rest } of events) {
    head = { ...head, ...rest };
    for (const piece of objectsIn(pieces)) {
      const choice = draftAt(choices, piece.index);
      if (choice) addChatPiece(choice, piece);
    }
  }
  const printed = [...choices].map(([index, choice]) => ({ index, ...printChoice(choice) }));
  return { ...head, object: "chat.completion", choices: printed };
}

function addChatPiece(choice: Draft, piece: JsonObject): void {
  if (typeof piece.finish_reason === "string") choice.finish = piece.finish_reason;
  if (!isJsonObject(piece.delta)) return;
  const { tool_calls: calls, ...delta } = piece.delta;
  for (const [name, value] of Object.entries(delta)) choice.add(name, value);
  for (const call of objectsIn(calls)) {
    const draft = draftAt(choice.parts, call.index);
    if (!draft) continue;
    const { function: called, index: _, ...members } = call;
    for (const [name, value] of Object.entries(members)) draft.members.set(name, value);
    if (!isJsonObject(called)) continue;
    if (typeof called.name === "string") draft.texts.set("name", called.name);
    draft.add("arguments", called.arguments ?? "");
  }
}

function printChoice({ members, texts, parts, finish }: Draft): JsonObject {
  const calls = [...parts.values()].map((part) => ({
    ...Object.fromEntries(part.members),
    function: Object.fromEntries(part.texts),
  }));
  const message = { role: "assistant", ...Object.fromEntries(members), ...Object.fromEntries(texts) };
  return {
    message: calls.length > 0 ? { ...message, tool_calls: calls } : message,
    finish_reason: finish ?? null,
  };
}

/** @see https://docs.claude.com/en/docs/build-with-claude/streaming */
function assembleMessages(events: readonly JsonObject[]): unknown {
  const blocks = new Map<number, Draft>();
  let message: JsonObject = {};
  for (const event of events) {
    if (event.type === "message_start" && isJsonObject(event.message)) message = event.message;
    if (event.type === "message_delta") {
      message = { ...message, ...(isJsonObject(event.delta) ? event.delta : {}), ...pick(event, "usage") };
    }
    const block = draftAt(blocks, event.index);
    if (!block) continue;
    const { content_block: begun, delta } = event;
    if (isJsonObject(begun)) for (const [name, value] of Object.entries(begun)) block.add(name, value);
    if (!isJsonObject(delta)) continue;
    for (const [name, value] of Object.entries(delta)) if (name !== "type") block.add(name, value);
  }
  return { ...message, content: [...blocks.values()].map(printBlock) };
}

/** The pieces of a tool's input are JSON together. */
function printBlock({ members, texts }: Draft): JsonObject {
  const { partial_json: input, ...block } = {
    ...Object.fromEntries(members),
    ...Object.fromEntries(texts),
  } as JsonObject;
  return typeof input === "string" ? { ...block, input: parseAnyJson(input) ?? input } : block;
}

/** @see https://platform.openai.com/docs/api-reference/responses-streaming */
function assembleResponse(events: readonly JsonObject[]): unknown {
  const last = events.findLast(({ response }) => isJsonObject(response));
  const response = isJsonObject(last?.response) ? last.response : {};
  if (last && last.type !== "response.created" && last.type !== "response.in_progress") return response;
  // The stream broke off: what came of it is in the items that ended, and in pieces of the one that did not.
  const output = events.flatMap(({ type, item }) => (type === "response.output_item.done" ? [item] : []));
  const texts = new Map<number, Draft>();
  for (const { output_index: index, delta, type } of events) {
    if (type === "response.output_item.done") texts.delete(Number(index));
    else if (typeof delta === "string") draftAt(texts, index)?.add("text", delta);
  }
  const broken = [...texts.values()].map((draft) => ({ ...Object.fromEntries(draft.texts) }));
  return { ...response, output: [...output, ...broken] };
}

/** @see https://ai.google.dev/api/generate-content#generatecontentresponse */
function assembleGemini(events: readonly JsonObject[]): unknown {
  const candidates = new Map<number, { members: JsonObject; parts: JsonObject[] }>();
  let head: JsonObject = {};
  for (const { candidates: pieces, ...rest } of events) {
    head = { ...head, ...rest };
    for (const { content, ...members } of objectsIn(pieces)) {
      const index = indexOf(members.index ?? 0);
      if (index === undefined) continue;
      const known = candidates.get(index) ?? { members: {}, parts: [] };
      candidates.set(index, known);
      known.members = { ...known.members, ...members };
      for (const part of objectsIn(isJsonObject(content) ? content.parts : [])) addPart(known.parts, part);
    }
  }
  const printed = [...candidates.values()].map(({ members, parts }) => ({
    content: { role: "model", parts: parts.map(printPart) },
    ...members,
  }));
  return { candidates: printed, ...head };
}

/** Adjacent texts of one kind are one part, whose pieces are joined at the end. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  const isSameKind = Object.keys(part).every((name) => name === "text" || name === "thought");
  if (isSameKind && typeof part.text === "string" && last?.thought === part.thought && isPieces(last?.text))
    last.text.push(part.text);
  else parts.push(isSameKind && typeof part.text === "string" ? { ...part, text: [part.text] } : part);
}

function isPieces(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

function printPart(part: JsonObject): JsonObject {
  return isPieces(part.text) ? { ...part, text: part.text.join("") } : part;
}

/** Something that a stream completes piece by piece. */
class Draft {
  readonly members = new Map<string, unknown>();
  readonly texts = new Map<string, string>();
  readonly parts = new Map<number, Draft>();
  finish: string | undefined;

  /** Appends a text; sets a member of another type. Types and roles are repeated, not continued. */
  add(name: string, value: unknown): void {
    if (typeof value === "string" && !["type", "role", "id", "name"].includes(name))
      this.texts.set(name, (this.texts.get(name) ?? "") + value);
    else if (value !== null) this.members.set(name, value);
  }
}

function draftAt(drafts: Map<number, Draft>, given: unknown): Draft | undefined {
  const index = indexOf(given);
  if (index === undefined) return undefined;
  const draft = drafts.get(index) ?? new Draft();
  drafts.set(index, draft);
  return draft;
}

function indexOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= INDEX_MAX
    ? value
    : undefined;
}

function pick(event: JsonObject, name: string): JsonObject {
  return name in event ? { [name]: event[name] } : {};
}
