import { shortHash } from "./identifiers.ts";
import { isJsonObject, type JsonObject } from "./json/read.ts";
import { type JsonMeasure, measureJson } from "./json/scan.ts";
import { lazily } from "./lazily.ts";

/** Marks the gateway's own encoding and its version: signatures of providers never begin like this. */
const PREFIX = "tgh1_";
/** Far more than the signatures of any answer. */
const CHARS_MAX = 8 * 1024 * 1024;
/** Reject anything larger before parsing: a valid encoding has at most 10 members and 10 values. */
const STRUCTURE_MAX = { members: 16, values: 16 };
const ORIGIN_CHARS = 16;

/**
 * Encodes reasoning data that a host of chat completions expects back unchanged. Clients of other formats
 * carry the text as a signature or as encrypted reasoning. It is decoded only for the upstream and model that
 * `origin` identifies.
 */
export function encodeHostReasoning(origin: string, data: JsonObject): string {
  return PREFIX + printBase64Json({ origin: shortHash(origin, ORIGIN_CHARS), sealed: data });
}

/** Returns whether a text is such an encoding of any origin. No provider can read one. */
export function isHostReasoning(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Returns whether a text may contain such an encoding. */
export function mayHoldHostReasoning(text: string): boolean {
  return text.includes(PREFIX);
}

/**
 * Creates a decoder for the encodings of one origin. The decoder returns `undefined` for another origin, for
 * a damaged encoding and for one above 8 Mi characters.
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

/** Decodes such a value. Returns `undefined` for any other text, and above `most` members or values. */
export function readBase64Json(text: string, most: JsonMeasure): unknown {
  const json = Buffer.from(text, "base64url").toString();
  if (measureJson(json, most) === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
