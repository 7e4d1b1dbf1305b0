import { joinBlocks } from "../../../domain/byte-blocks.ts";
import { type Edits, editMembers, findMember } from "../../json/edit.ts";
import type { CreateEvent } from "./client-event.ts";

const ENCODER = new TextEncoder();
const COMMA = ENCODER.encode(",");
const LITERAL = /^(true|false|null)$/;
/** The members of a `response.create` that a request over HTTP does not have, or that the gateway decides. */
const ENVELOPE: Edits = {
  type: () => undefined,
  stream_id: () => undefined,
  generate: () => undefined,
  previous_response_id: () => undefined,
  // Another value stays, so that it is refused.
  stream: (value = "true") => (LITERAL.test(value) ? "true" : value),
};
/** A request to compact at the end of an input: the answer replaces everything before it. */
const COMPACTION_END = /\{[^{}]*"compaction_trigger"[^{}]*\}\s*$/;
const TRIGGER_CHARS_MAX = 256;

/** Items of a conversation as JSON text, separated by commas. */
export type Items = readonly Uint8Array[];

/** A `response.create` as the body of a request over HTTP. */
export interface CreateBody {
  readonly bytes: Uint8Array;
  /** What a later response continues from, before the output of this one. */
  readonly items: Items;
}

/**
 * Makes the body of a `response.create`: the members of the WebSocket are removed, and earlier items are put before
 * its input. Does not check the event: bytes that are no JSON stay no JSON.
 */
export function createBody({ text, generates }: CreateEvent, earlier: Items): CreateBody {
  const hasEarlier = earlier.length > 0;
  const input = (value: string | undefined) => (hasEarlier ? asList(value ?? "[]") : value);
  const body = editMembers(text, { ...ENVELOPE, input });
  const place = findMember(body, "input");
  const own = place ? itemsOf(body.slice(place.start, place.end)) : "";
  const ownItems = own === "" ? [] : [ENCODER.encode(own)];
  const items = COMPACTION_END.test(own.slice(-TRIGGER_CHARS_MAX)) ? [] : joinItems(earlier, ownItems);
  if (!place) return { bytes: ENCODER.encode(body), items };
  const whole = joinItems(earlier, ownItems);
  // A warm-up may have no input yet, which a request must have.
  if (whole.length === 0 && !generates) return { bytes: ENCODER.encode(withInput(body, place, '""')), items };
  if (!hasEarlier) return { bytes: ENCODER.encode(body), items };
  const head = ENCODER.encode(`${body.slice(0, place.start)}[`);
  const tail = ENCODER.encode(`]${body.slice(place.end)}`);
  return { bytes: joinBlocks([head, ...whole, tail]), items };
}

/** Joins the items of two parts of a conversation. */
export function joinItems(one: Items, other: Items): Items {
  if (one.length === 0) return other;
  return other.length === 0 ? one : [...one, COMMA, ...other];
}

/** Encodes items of an answer, each as JSON text. */
export function encodeItems(items: readonly string[]): Items {
  return items.length === 0 ? [] : [ENCODER.encode(items.join(","))];
}

function withInput(body: string, { start, end }: { start: number; end: number }, input: string): string {
  return body.slice(0, start) + input + body.slice(end);
}

/** Returns an input as a list: a text is a message of the user. */
function asList(input: string): string {
  return input.startsWith("[") ? input : `[${messageOf(input)}]`;
}

/** Returns the text between the brackets of an input. */
function itemsOf(input: string): string {
  return input.startsWith("[") ? input.slice(1, -1).trim() : messageOf(input);
}

function messageOf(text: string): string {
  return `{"type":"message","role":"user","content":${text}}`;
}
