import type { ReasoningPart } from "../../domain/chat-request.ts";
import { editMembers, keepElements, sliceMember } from "../json/edit.ts";
import { isJsonObject, parseJsonObject, readArray, readText } from "../json/read.ts";

/**
 * The beginning of every signature that the gateway makes, in base64: a signature of Google's does not begin so.
 * Clients in some languages decode signatures and encode them again, so that they must be base64.
 */
const PREFIX = Buffer.from("tollgate:").toString("base64");
/** Far more than the reasoning of any answer. */
const CHARS_MAX = 8 * 1024 * 1024;
/** The most pieces of reasoning before one part of an answer, with a member or two of each. */
const STRUCTURE_MAX = { members: 4_096, values: 8_192 };

/** The reasoning before one part of an answer, which its provider wants back with the part. */
export type CarriedReasoning = Omit<ReasoningPart, "kind">;

/**
 * Encodes the reasoning of another provider as a thought signature. Clients send signatures back with the call or
 * the text that they belong to, and many drop thoughts.
 *
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function encodeReasoning(reasoning: readonly CarriedReasoning[]): string {
  const pieces = reasoning.map(({ text, signature, redacted }) => ({
    text: text || undefined,
    signature,
    redacted,
  }));
  return PREFIX + Buffer.from(JSON.stringify({ pieces })).toString("base64");
}

/** Decodes a signature of the gateway's; `undefined` for a signature of Google's and for a damaged one. */
export function decodeReasoning(signature: string): readonly ReasoningPart[] | undefined {
  if (!signature.startsWith(PREFIX) || signature.length > CHARS_MAX) return undefined;
  const json = Buffer.from(signature.slice(PREFIX.length), "base64").toString();
  const decoded = parseJsonObject(json, STRUCTURE_MAX);
  return decoded && readArray(decoded.pieces).filter(isJsonObject).map(readPiece);
}

function readPiece({ text, signature, redacted }: Readonly<Record<string, unknown>>): ReasoningPart {
  return {
    kind: "reasoning",
    text: readText(text),
    signature: readText(signature) || undefined,
    redacted: readText(redacted) || undefined,
  };
}

/** The signature with which Google documents calls that its model did not make. */
const SKIPPED_SIGNATURE = '"skip_thought_signature_validator"';

/**
 * Edits the JSON of `contents` for an upstream of Google's: a call with a signature of the gateway's gets the one
 * that Google skips, and other parts lose it. Keeps every other byte.
 */
export function dropForeignSignatures(contents: string): string {
  if (!contents.includes(PREFIX)) return contents;
  return editList(contents, (content) =>
    editMembers(content, { parts: (parts) => parts && editList(parts, editPart) }),
  );
}

function editList(list: string, edit: (element: string) => string): string {
  const mayHold = (element: string) => element.startsWith("{") && element.includes(PREFIX);
  if (list.startsWith("{")) return edit(list);
  return keepElements(list, (element) => (mayHold(element) ? edit(element) : element));
}

function editPart(part: string): string {
  const isCall = sliceMember(part, "functionCall") ?? sliceMember(part, "function_call");
  const edit = (signature: string | undefined) => {
    if (!signature?.startsWith(`"${PREFIX}`)) return signature;
    return isCall ? SKIPPED_SIGNATURE : undefined;
  };
  return editMembers(part, { thoughtSignature: edit, thought_signature: edit });
}
