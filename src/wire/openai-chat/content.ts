import { isJsonObject, type JsonObject, readArray, readText } from "../json-read.ts";
import { joinPromptText } from "../prompt-text.ts";
import type { Content } from "../reply-part.ts";

/** Reads what a delta or a message holds; hosts spell reasoning in several ways, and some say it twice. */
export function readContent(message: JsonObject): Content {
  const { content, refusal } = message;
  const said = (typeof content === "string" ? content : readContentParts(content)) + readText(refusal);
  const called = readCalls(message);
  const hasMedia = isJsonObject(message.audio) || readArray(message.images).length > 0;
  return {
    generated: readReasoning(message) + said + called.text,
    isReadable: said !== "" || called.count > 0 || hasMedia,
  };
}

function readReasoning(message: JsonObject): string {
  const reasoning = readText(message.reasoning_content) || readText(message.reasoning);
  if (reasoning !== "") return reasoning;
  const details = message.reasoning_details ?? message.content;
  return typeof details === "string" ? "" : joinTexts(readArray(details).filter(isReasoning));
}

function readContentParts(content: unknown): string {
  return joinTexts(readArray(content).filter((part) => !isReasoning(part)));
}

function isReasoning(part: unknown): boolean {
  return isJsonObject(part) && readText(part.type) !== "text";
}

function joinTexts(parts: readonly unknown[]): string {
  return parts
    .map((part) =>
      isJsonObject(part) ? readText(part.text) || joinPromptText([part.thinking, part.summary]) : "",
    )
    .join("");
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
