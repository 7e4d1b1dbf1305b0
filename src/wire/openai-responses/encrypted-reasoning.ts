import type { ReasoningPart } from "../../domain/chat-request.ts";
import { printBase64Json, readBase64Json } from "../host-reasoning.ts";
import { isJsonObject } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";

/** Prefix of the tokens that the gateway encodes, and their version. Encrypted content without it belongs to another provider. */
const PREFIX = "tgr1_";
/** Characters of a token. No answer contains so much reasoning. */
const CHARS_MAX = 8 * 1024 * 1024;
/** Reject anything larger before parsing: a valid token has 2 keys and 2 values. */
const STRUCTURE_MAX: JsonMeasure = { members: 8, values: 8 };

/** Reasoning that its provider accepts back: a signed text, or data that only the provider can read. */
type Content = { readonly text: string; readonly signature: string } | { readonly data: string };

/**
 * Encodes reasoning as the `encrypted_content` of a reasoning item. The client keeps it and sends it back;
 * the gateway stores nothing. The gateway encodes the content and does not encrypt it.
 */
export function encodeReasoning(reasoning: Content): string {
  return PREFIX + printBase64Json(reasoning);
}

/** Whether some encrypted content was encoded by the gateway. */
export function isEncodedReasoning(content: unknown): content is string {
  return typeof content === "string" && content.startsWith(PREFIX);
}

/** Decodes `encrypted_content`. Returns `undefined` for foreign, damaged and oversized content. */
export function decodeReasoning(content: unknown): ReasoningPart | undefined {
  const isOurs = isEncodedReasoning(content) && content.length <= CHARS_MAX;
  const reasoning = isOurs ? readBase64Json(content.slice(PREFIX.length), STRUCTURE_MAX) : undefined;
  if (!isJsonObject(reasoning)) return undefined;
  const { text, signature, data } = reasoning;
  if (typeof data === "string") return { kind: "reasoning", text: "", signature: undefined, redacted: data };
  if (typeof text !== "string" || typeof signature !== "string") return undefined;
  return { kind: "reasoning", text, signature, redacted: undefined };
}
