import { shortHash } from "./identifiers.ts";
import { isJsonObject, type JsonObject, parseJsonObject } from "./json/read.ts";
import type { JsonMeasure } from "./json/scan.ts";

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
  return printPrefixedJson(PREFIX, { origin: shortHash(origin, ORIGIN_CHARS), sealed: data });
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
    const decoded = readPrefixedJson(PREFIX, text, STRUCTURE_MAX);
    if (decoded === undefined || decoded.origin !== hash()) return undefined;
    return isJsonObject(decoded.sealed) ? decoded.sealed : undefined;
  };
}

/** Encodes a value as a prefix, which names the encoding and its version, and letters, digits, _ and -. */
export function printPrefixedJson(prefix: string, value: object): string {
  return prefix + Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Decodes {@link printPrefixedJson}. Returns `undefined` for foreign, damaged and oversized content. */
export function readPrefixedJson(prefix: string, content: unknown, max: JsonMeasure): JsonObject | undefined {
  if (typeof content !== "string" || !content.startsWith(prefix) || content.length > CHARS_MAX)
    return undefined;
  const json = Buffer.from(content.slice(prefix.length), "base64url").toString();
  return parseJsonObject(json, max);
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
