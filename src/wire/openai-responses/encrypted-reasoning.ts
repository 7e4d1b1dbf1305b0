import type { ReasoningPart } from "../../domain/chat-request.ts";
import { printBase64Json, readBase64Json } from "../base64-json.ts";
import { isJsonObject } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";

/** Says whose it is and of which version: what other providers call encrypted content is theirs to read. */
const MARK = "tgr1_";
/** Of a seal: far more than anyone reasons in an answer. */
const CHARS_MAX = 8 * 1024 * 1024;
/** Values, and members: a seal has two of each. */
const STRUCTURE_MAX: JsonMeasure = { members: 8, values: 8 };

/** Reasoning that its own provider will take back: signed text, or what only it can read. */
type Seal = { readonly text: string; readonly signature: string } | { readonly data: string };

/** What a client gets as `encrypted_content` and sends back with the history: nothing of it is kept here. */
export function printSeal(seal: Seal): string {
  return MARK + printBase64Json(seal);
}

/** Whether some encrypted content is ours. */
export function isSeal(content: unknown): content is string {
  return typeof content === "string" && content.startsWith(MARK);
}

/** The reasoning inside, `undefined` for what is not ours, no longer whole, or more than we would ever seal. */
export function readSeal(content: unknown): ReasoningPart | undefined {
  const isOurs = isSeal(content) && content.length <= CHARS_MAX;
  const seal = isOurs ? readBase64Json(content.slice(MARK.length), STRUCTURE_MAX) : undefined;
  if (!isJsonObject(seal)) return undefined;
  const { text, signature, data } = seal;
  if (typeof data === "string") return { kind: "reasoning", text: "", signature: undefined, redacted: data };
  if (typeof text !== "string" || typeof signature !== "string") return undefined;
  return { kind: "reasoning", text, signature, redacted: undefined };
}
