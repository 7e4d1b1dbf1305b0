import type { Conversation, WireFormat } from "../wire/format.ts";
import { findElements, findMember } from "../wire/json/edit.ts";
import { type JsonMeasure, measureJson } from "../wire/json/scan.ts";
import type { ModelRequest, RequestHead } from "../wire/model-request.ts";
import { hashBeginning } from "../wire/prompt-beginning.ts";
import { type History, type KnownTools, sampleOf, sumOfMeasures, tagOf } from "./known-histories.ts";
import { factsOf } from "./open-body.ts";

/** Messages at the end that are not learned: clients move their cache marks within them. */
const PARSED_MESSAGES = 4;
/** New messages from which on a history is learned: a conversation that goes on. */
const LEARNED_MESSAGES_MIN = 8;
/** A longer rest beside the messages costs too much to be parsed twice. */
const REST_CHARS_MAX = 256 * 1024;
const ANY_MEASURE: JsonMeasure = { values: Infinity, members: Infinity };
const OPEN_BRACKET = 0x5b;
const ENCODER = new TextEncoder();
/** The member with the tools, in every format with conversations. */
export const TOOLS = "tools";

/** A format with conversations. */
export type ConversationFormat = WireFormat & { readonly conversation: Conversation };

/** Returns the history of a body that was parsed whole; `undefined` for one that is not learned. */
export function learnHistory(wire: ConversationFormat, request: ModelRequest): History | undefined {
  const { text } = request;
  const lesson = learnMessages(wire, request);
  if (!lesson) return undefined;
  const { start, end, rest, sums } = lesson;
  const promptHash = hashBeginning(text, wire.surface);
  if (promptHash !== hashBeginning(text.slice(0, end), wire.surface)) return undefined;
  const beginning = ENCODER.encode(text.slice(0, end));
  return {
    ...sums,
    ...identityOf(beginning),
    surface: wire.surface,
    listStart: Buffer.byteLength(text.slice(0, start)),
    promptHash,
    tools: learnTools(wire, rest),
  };
}

/** A body that has a history, and its request without the messages of that history. */
interface Extended {
  readonly bytes: Uint8Array;
  readonly history: History;
  readonly rest: ModelRequest;
}

/** Returns a longer history of a body that has one; `undefined` while few messages are new. */
export function extendHistory(
  wire: ConversationFormat,
  { bytes, history, rest: request }: Extended,
): History | undefined {
  const lesson = learnMessages(wire, request);
  if (!lesson) return undefined;
  const { start, end, sums } = lesson;
  const added = Buffer.byteLength(request.text.slice(start, end));
  return {
    ...history,
    ...identityOf(bytes.subarray(0, history.end + added)),
    mediaBytes: history.mediaBytes + sums.mediaBytes,
    images: history.images + sums.images,
    measured: sumOfMeasures(history.measured, sums.measured),
  };
}

function identityOf(beginning: Uint8Array): Pick<History, "end" | "sample" | "tag"> {
  const end = beginning.byteLength;
  return { end, sample: sampleOf(beginning, end), tag: tagOf(beginning) };
}

/** The messages of a body up to the last few, and what they add to it. */
interface Lesson {
  readonly start: number;
  readonly end: number;
  /** The request without these messages. */
  readonly rest: ModelRequest;
  readonly sums: Pick<History, "mediaBytes" | "images" | "measured">;
}

function learnMessages(wire: ConversationFormat, { text, input, tools }: ModelRequest): Lesson | undefined {
  const border = input.unbounded ? undefined : findBorder(wire.conversation, text);
  if (!border) return undefined;
  const { start, end } = border;
  const restText = text.slice(0, start) + text.slice(end);
  const rest = restText.length > REST_CHARS_MAX ? undefined : parseRest(wire, restText, ANY_MEASURE);
  const measured = measureJson(text.slice(start, end), ANY_MEASURE);
  if (!rest || !measured) return undefined;
  // Messages may add tools with a fee, which are read again each time.
  if (!Bun.deepEquals(rest.tools, tools)) return undefined;
  const mediaBytes = input.mediaBytes - rest.input.mediaBytes;
  const images = input.images - rest.input.images;
  if (images > 0 && wire.conversation.isOfText) return undefined;
  return { start, end, rest, sums: { mediaBytes, images, measured } };
}

/** Returns where the messages to learn begin and end; `undefined` for few, and for such that are not sent on. */
function findBorder({ member, keeps }: Conversation, text: string) {
  const list = findMember(text, member);
  if (!list || text.charCodeAt(list.start) !== OPEN_BRACKET) return undefined;
  const starts = findElements(text, list.start);
  const end = starts.at(-PARSED_MESSAGES);
  if (starts.length < LEARNED_MESSAGES_MIN || end === undefined) return undefined;
  return keeps(text.slice(list.start, list.end)) ? { start: list.start + 1, end } : undefined;
}

/** Returns the tools of a request; `undefined` where the facts of `rest` would be others without them. */
function learnTools(wire: ConversationFormat, rest: ModelRequest): KnownTools | undefined {
  const list = findMember(rest.text, TOOLS);
  if (!list || rest.text.charCodeAt(list.start) !== OPEN_BRACKET) return undefined;
  const start = list.start + 1;
  const end = list.end - 1;
  const without = parseRest(wire, rest.text.slice(0, start) + rest.text.slice(end), ANY_MEASURE);
  const tools = rest.text.slice(start, end);
  const measured = measureJson(tools, ANY_MEASURE);
  if (!without || !measured || !Bun.deepEquals(headOf(without), headOf(rest))) return undefined;
  const bytes = ENCODER.encode(tools);
  const isBefore = list.start < (findMember(rest.text, wire.conversation.member)?.start ?? 0);
  const offset = isBefore
    ? Buffer.byteLength(rest.text.slice(0, start))
    : -Buffer.byteLength(rest.text.slice(start));
  return { offset, bytes: bytes.byteLength, tag: tagOf(bytes), measured };
}

/** The facts of a request beside the length of its text, and that it needs tools. */
function headOf(request: ModelRequest): RequestHead {
  const facts = factsOf(request);
  const needs = facts.needs?.filter((need) => need !== "tools");
  return {
    ...facts,
    needs: needs?.length === 0 ? undefined : needs,
    input: { ...facts.input, textBytes: 0 },
  };
}

/** Parses a body that lacks some parts; `undefined` for one that is refused or has more structure than `max`. */
export function parseRest(wire: WireFormat, text: string, max: JsonMeasure): ModelRequest | undefined {
  const measured = measureJson(text, max);
  if (!measured) return undefined;
  try {
    return wire.parseRequest(text, measured);
  } catch {
    // The whole body is parsed next: its error names the right position.
    return undefined;
  }
}
