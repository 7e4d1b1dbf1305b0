import { isJsonObject, type JsonObject, readArray, readText } from "../json/read.ts";
import { joinPromptText } from "../prompt-size.ts";
import type { Content } from "../reply-part.ts";

/** The texts of a delta or a message, tool calls excluded. */
interface DeltaText {
  readonly reasoning: string;
  readonly text: string;
  readonly refusal: string;
}

/** Types of content parts that are reasoning; a part of any other type is text if it has a text. */
const REASONING = /^(?:(?:redacted_)?thinking|thought|reasoning(?:[._].*)?|summary_text)$/;

/**
 * Reads the texts of a delta or a message. Hosts use several names for reasoning, some of them two at once.
 */
export function readDeltaText(message: JsonObject): DeltaText {
  const { content } = message;
  return {
    reasoning: readReasoning(message),
    text: typeof content === "string" ? content : readContentParts(content),
    refusal: readText(message.refusal),
  };
}

/** Reads what the gateway meters of a delta or a message. */
export function readContent(message: JsonObject): Content {
  const { reasoning, text, refusal } = readDeltaText(message);
  const called = readCalls(message);
  const hasMedia = isJsonObject(message.audio) || readArray(message.images).length > 0;
  return {
    generated: reasoning + text + refusal + called.text,
    isReadable: text !== "" || refusal !== "" || called.count > 0 || hasMedia,
  };
}

/** Returns the text of a content part or of an entry of `reasoning_details`, under any of its names. */
export function textOfPart(part: unknown): string {
  return isJsonObject(part) ? readText(part.text) || joinPromptText([part.thinking, part.summary]) : "";
}

/** Returns reasoning that is a plain string, not a part or a detail. */
export function readPlainReasoning(message: JsonObject): string {
  return readText(message.reasoning_content) || readText(message.reasoning);
}

function readReasoning(message: JsonObject): string {
  const reasoning = readPlainReasoning(message);
  if (reasoning !== "") return reasoning;
  const details = readArray(message.reasoning_details);
  if (details.length > 0) return joinTexts(details);
  return Array.isArray(message.content) ? joinTexts(message.content.filter(isReasoning)) : "";
}

function readContentParts(content: unknown): string {
  return Array.isArray(content) ? joinTexts(content.filter((part) => !isReasoning(part))) : "";
}

function isReasoning(part: unknown): boolean {
  return isJsonObject(part) && (REASONING.test(readText(part.type)) || readText(part.text) === "");
}

function joinTexts(parts: readonly unknown[]): string {
  return parts.map(textOfPart).join("");
}

function readCalls(message: JsonObject): { count: number; text: string } {
  const { tool_calls: toolCalls, function_call: functionCall } = message;
  if (!toolCalls && !functionCall) return { count: 0, text: "" };
  const calls = readArray(toolCalls).map((call) =>
    isJsonObject(call) ? (call.function ?? call.custom) : {},
  );
  if (isJsonObject(functionCall)) calls.push(functionCall);
  return { count: calls.length, text: calls.map(readCallText).join("") };
}

function readCallText(call: unknown): string {
  if (!isJsonObject(call)) return "";
  const { name, arguments: input = call.input } = call;
  return readText(name) + (isJsonObject(input) ? joinPromptText([input]) : readText(input));
}
