import { shortHash } from "./identifiers.ts";
import { isJsonObject, type JsonObject } from "./json/read.ts";
import { type JsonMeasure, measureJson } from "./json/scan.ts";

/** Marks the gateway's own encoding and its version: signatures of providers never begin like this. */
const PREFIX = "tgh1_";
/** Far more than the signatures of any answer. */
const CHARS_MAX = 8 * 1024 * 1024;
/** Reject anything larger before parsing: a valid encoding has at max 10 members and 10 values. */
const STRUCTURE_MAX = { members: 16, values: 16 };
const ORIGIN_CHARS = 16;

/**
 * Encodes reasoning data that a host of chat completions expects back unchanged. Clients of other formats
 * carry the text as a signature or as encrypted reasoning. The text is decoded only for the upstream and
 * model that `origin` identifies.
 */
export function encodeHostReasoning(origin: string, data: JsonObject): string {
  return PREFIX + printBase64Json({ origin: shortHash(origin, ORIGIN_CHARS), sealed: data });
}

/** Returns whether {@link encodeHostReasoning} made a text, for any origin. No provider can read it. */
export function isHostReasoning(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Returns whether a text may contain a result of {@link encodeHostReasoning}. Does not parse the text. */
export function mayHoldHostReasoning(text: string): boolean {
  return text.includes(PREFIX);
}

/**
 * Creates a decoder for the texts of one origin. The decoder returns `undefined` for a text of another
 * origin, a damaged text and a text above 8 Mi characters.
 */
export function createHostReasoningDecoder(origin: string): (text: string) => JsonObject | undefined {
  const hash = lazily(() => shortHash(origin, ORIGIN_CHARS));
  return (text) => {
    if (!isHostReasoning(text) || text.length > CHARS_MAX) return undefined;
    const decoded = readBase64Json(text.slice(PREFIX.length), STRUCTURE_MAX);
    if (!isJsonObject(decoded) || decoded.origin !== hash()) return undefined;
    return isJsonObject(decoded.sealed) ? decoded.sealed : undefined;
  };
}

/** Encodes a value as letters, digits, _ and -. */
export function printBase64Json(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Decodes a text of {@link printBase64Json}. Returns `undefined` for any other text and above `max`. */
export function readBase64Json(text: string, max: JsonMeasure): unknown {
  const json = Buffer.from(text, "base64url").toString();
  if (measureJson(json, max) === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Returns a function that makes a value on its first call and keeps it, or keeps what `make` threw. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | { readonly thrown: unknown } | undefined;
  return () => {
    made ??= attempt(make);
    if ("thrown" in made) throw made.thrown;
    return made.value;
  };
}

function attempt<Value>(make: () => Value) {
  try {
    return { value: make() };
  } catch (thrown) {
    return { thrown };
  }
}
