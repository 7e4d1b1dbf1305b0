import type { ReasoningPart } from "../../domain/chat-request.ts";
import { printPrefixedJson, readPrefixedJson } from "../host-reasoning.ts";
import { isJsonObject, isSet, type JsonObject } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import { reject } from "../request-body.ts";

/**
 * Returns the items of an input; a text has none. Throws `wrong_shape`. Unknown item types are left to the
 * upstream.
 */
export function requireItems({ input }: JsonObject): readonly JsonObject[] {
  if (typeof input === "string") return [];
  if (!Array.isArray(input) || input.length === 0) reject("input");
  return input.map((item: unknown, position) => requireItem(item, `input[${position}]`));
}

/** Whether an item is a message, whose type is optional. */
export function isMessage({ type, role }: JsonObject): boolean {
  return type === "message" || (!isSet(type) && isSet(role));
}

/** Whether an item refers to one that the provider has stored. Its type is optional too. */
export function isReference({ type, role, id }: JsonObject): boolean {
  return type === "item_reference" || (!isSet(type) && !isSet(role) && isSet(id));
}

function requireItem(item: unknown, path: string): JsonObject {
  if (!isJsonObject(item)) reject(path);
  if (isMessage(item)) {
    if (typeof item.role !== "string") reject(`${path}.role`);
    if (typeof item.content !== "string" && !Array.isArray(item.content)) reject(`${path}.content`);
  } else if (typeof item.type !== "string" && !isReference(item)) reject(`${path}.type`);
  return item;
}

/** Prefix of the summaries that the gateway encodes, and their version. */
const SUMMARY_PREFIX = "tgc1_";
/** Reject anything larger before parsing: a valid summary has 1 key and 1 value. */
const SUMMARY_MAX: JsonMeasure = { members: 4, values: 4 };

const COMPACTIONS: readonly unknown[] = ["compaction", "compaction_summary", "context_compaction"];

/** What a model is asked for in place of the trigger, which only OpenAI's models understand. */
export const COMPACTION_PROMPT =
  "The conversation above will be replaced by a summary. Write that summary for the assistant that goes on " +
  "with the work: the user's goals and constraints, decisions and their reasons, what was done with which " +
  "files, commands and results, and the next steps. Keep names, paths and values exact. Answer with the " +
  "summary alone, and call no tool.";

const SUMMARY_HEAD = "Summary of the conversation so far, which it replaces:\n\n";

/** Whether the input ends with the item by which a client asks to replace the conversation by a summary. */
export function asksForCompaction(items: readonly JsonObject[]): boolean {
  return isCompactionTrigger(items.at(-1));
}

/** Whether an item is the trigger of a compaction. */
export function isCompactionTrigger(item: JsonObject | undefined): boolean {
  return item?.type === "compaction_trigger";
}

/** Whether an item holds a conversation that was replaced. */
export function isCompaction({ type }: JsonObject): boolean {
  return COMPACTIONS.includes(type);
}

/** Prints the one item of a compaction. The gateway encodes the summary and does not encrypt it. */
export function printCompaction(id: string, summary: string): object {
  return { id, type: "compaction", encrypted_content: printPrefixedJson(SUMMARY_PREFIX, { summary }) };
}

/** Returns the text that stands for a replaced conversation; `undefined` where another provider replaced it. */
export function readCompaction({ encrypted_content: content }: JsonObject): string | undefined {
  const summary = readPrefixedJson(SUMMARY_PREFIX, content, SUMMARY_MAX)?.summary;
  return typeof summary === "string" ? SUMMARY_HEAD + summary : undefined;
}

/** Prefix of the reasoning that the gateway encodes, and its version. */
const REASONING_PREFIX = "tgr1_";
/** Reject anything larger before parsing: a valid token has 2 keys and 2 values. */
const REASONING_MAX: JsonMeasure = { members: 8, values: 8 };

/** Reasoning that its provider accepts back: a signed text, or data that only the provider can read. */
type Content = { readonly text: string; readonly signature: string } | { readonly data: string };

/**
 * Encodes reasoning as the `encrypted_content` of a reasoning item. The client keeps it and sends it back;
 * the gateway stores nothing. The gateway encodes the content and does not encrypt it.
 */
export function encodeReasoning(reasoning: Content): string {
  return printPrefixedJson(REASONING_PREFIX, reasoning);
}

/** Whether some encrypted content was encoded by the gateway. */
export function isEncodedReasoning(content: unknown): content is string {
  return typeof content === "string" && content.startsWith(REASONING_PREFIX);
}

/** Decodes `encrypted_content`. Returns `undefined` for foreign, damaged and oversized content. */
export function decodeReasoning(content: unknown): ReasoningPart | undefined {
  const reasoning = readPrefixedJson(REASONING_PREFIX, content, REASONING_MAX);
  if (reasoning === undefined) return undefined;
  const { text, signature, data } = reasoning;
  if (typeof data === "string") return { kind: "reasoning", text: "", signature: undefined, redacted: data };
  if (typeof text !== "string" || typeof signature !== "string") return undefined;
  return { kind: "reasoning", text, signature, redacted: undefined };
}
