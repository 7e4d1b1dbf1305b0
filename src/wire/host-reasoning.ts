import { printBase64Json, readBase64Json } from "./base64-json.ts";
import { isJsonObject, type JsonObject } from "./json/read.ts";
import { lazily } from "./lazily.ts";
import { shortHash } from "./short-hash.ts";

/** Tells our tokens and their version from what providers sign or encrypt themselves. */
const MARK = "tgh1_";
/** Of a token: far more than the signature of any answer. */
const CHARS_MAX = 8 * 1024 * 1024;
/** Values, and members: a sealed entry has ten of each at most. */
const STRUCTURE_MAX = { members: 16, values: 16 };
const ORIGIN_CHARS = 16;

/**
 * Seals what one host of chat completions wants back unchanged. Clients of other formats carry it as the signature or
 * the encrypted data of reasoning, and it is sent to no other upstream and model than the `origin`.
 */
export function encodeHostReasoning(origin: string, sealed: JsonObject): string {
  return MARK + printBase64Json({ origin: shortHash(origin, ORIGIN_CHARS), sealed });
}

/** Whether a signature or encrypted reasoning is such a token, whoever made it: to providers it means nothing. */
export function isHostReasoning(token: string): boolean {
  return token.startsWith(MARK);
}

/** Whether a text may hold such a token. */
export function mayHoldHostReasoning(text: string): boolean {
  return text.includes(MARK);
}

/**
 * A reader of what was sealed for one origin. It returns `undefined` for what was sealed for any other, for a token
 * that is no longer whole, and for one that is too long.
 */
export function createHostReasoningDecoder(origin: string): (token: string) => JsonObject | undefined {
  const hash = lazily(() => shortHash(origin, ORIGIN_CHARS));
  return (token) => {
    if (!isHostReasoning(token) || token.length > CHARS_MAX) return undefined;
    const seal = readBase64Json(token.slice(MARK.length), STRUCTURE_MAX);
    if (!isJsonObject(seal) || seal.origin !== hash()) return undefined;
    return isJsonObject(seal.sealed) ? seal.sealed : undefined;
  };
}
