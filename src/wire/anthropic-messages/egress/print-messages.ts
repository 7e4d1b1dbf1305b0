import type {
  ChatRequest,
  Part,
  ReasoningPart,
  ResultPart,
  ToolCallPart,
  ToolResultPart,
} from "../../../domain/chat-request.ts";
import { isBlank, type Message } from "../../arrange-messages.ts";
import { isHostReasoning } from "../../host-reasoning.ts";
import { joinElements, joinMembers, printMembers } from "../../json/members.ts";
import { findRejectedMedia, type Media } from "../../media-parts.ts";
import { printCacheMark } from "../../request-fields.ts";

/** Returns whether the signature of reasoning is Anthropic's: a host can read only what it signed itself. */
export function isSignedByAnthropic({ signature = "", redacted }: ReasoningPart): boolean {
  return redacted === undefined
    ? signature !== "" && !isHostReasoning(signature)
    : !isHostReasoning(redacted);
}

/** Prints one arranged message as JSON. */
export function printMessage({ role, parts }: Message): string {
  return joinMembers({ role: JSON.stringify(role), content: printParts(parts) });
}

/** Prints parts as a JSON array of content blocks. */
export function printParts(parts: readonly Part[]): string {
  return joinElements(parts.map(printPart));
}

function printPart(part: Part): string {
  switch (part.kind) {
    case "tool_call":
      return printCall(part);
    case "tool_result":
      return JSON.stringify(resultBlock(part));
    case "reasoning":
      return JSON.stringify(thinkingBlock(part));
    default:
      return JSON.stringify(contentBlock(part));
  }
}

/** Prints the input as the client wrote it, because parsing would round long numbers. */
function printCall({ id, name, input, cache }: ToolCallPart): string {
  return joinMembers({ ...printMembers({ type: "tool_use", id, name, ...printCacheMark(cache) }), input });
}

function resultBlock({ callId, parts, isError, cache }: ToolResultPart) {
  const content = parts.filter((part) => !isBlank(part));
  const [only] = content;
  const isPlainText = content.length === 1 && only?.kind === "text" && !only.cache;
  return {
    type: "tool_result",
    tool_use_id: callId,
    ...(content.length > 0 && { content: isPlainText ? only.text : content.map(contentBlock) }),
    ...(isError && { is_error: true }),
    ...printCacheMark(cache),
  };
}

function thinkingBlock({ text, signature, redacted }: ReasoningPart) {
  return redacted === undefined
    ? { type: "thinking", thinking: text, signature }
    : { type: "redacted_thinking", data: redacted };
}

function contentBlock(part: ResultPart) {
  if (part.kind === "text") return { type: "text", text: part.text, ...printCacheMark(part.cache) };
  const title = part.kind === "document" ? part.name : undefined;
  return { type: part.kind, source: sourceOf(part), title, ...printCacheMark(part.cache) };
}

function sourceOf({ source }: Media) {
  if (source.kind === "url") return { type: "url", url: source.url };
  if (source.kind === "text") return { type: "text", media_type: "text/plain", data: source.text };
  return { type: "base64", media_type: source.mediaType, data: source.data };
}

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const DOCUMENT_TYPES = ["application/pdf"];

/**
 * Returns the path of the first image or document that Anthropic rejects, or `undefined`. Anthropic accepts
 * some media types, in user messages only.
 */
export function findUntranslatable(request: ChatRequest): string | undefined {
  return findRejectedMedia(request, ({ kind, source }, role) => {
    if (role !== "user") return false;
    if (source.kind !== "inline") return true;
    return (kind === "image" ? IMAGE_TYPES : DOCUMENT_TYPES).includes(source.mediaType);
  });
}
