import { isJsonObject, type JsonObject, readArray, readText } from "../json/read.ts";
import { joinPromptText } from "../prompt-text.ts";
import type { Content } from "../reply-part.ts";

/** The words of a delta or a message, its tool calls left out. */
export interface DeltaText {
  readonly reasoning: string;
  readonly text: string;
  readonly refusal: string;
}

/** Parts of a content that are reasoning; one of any other kind is text if it holds a text. */
const REASONING = /^(?:(?:redacted_)?thinking|thought|reasoning(?:[._].*)?|summary_text)$/;

/** Reads the words of a delta or a message; hosts spell reasoning in several ways, and some say it twice. */
export function readDeltaText(message: JsonObject): DeltaText {
  const { content } = message;
  return {
    reasoning: readReasoning(message),
    text: typeof content === "string" ? content : readContentParts(content),
    refusal: readText(message.refusal),
  };
}

/** Reads what a delta or a message holds. */
export function readContent(message: JsonObject): Content {
  const { reasoning, text, refusal } = readDeltaText(message);
  const called = readCalls(message);
  const hasMedia = isJsonObject(message.audio) || readArray(message.images).length > 0;
  return {
    generated: reasoning + text + refusal + called.text,
    isReadable: text !== "" || refusal !== "" || called.count > 0 || hasMedia,
  };
}

/** The text of one part of a content or one detail of reasoning, whatever it is called there. */
export function textOfPart(part: unknown): string {
  return isJsonObject(part) ? readText(part.text) || joinPromptText([part.thinking, part.summary]) : "";
}

/** Reasoning that is said as a plain text. */
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
  return joinTexts(readArray(content).filter((part) => !isReasoning(part)));
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
