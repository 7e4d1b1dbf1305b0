import type {
  DocumentPart,
  ImagePart,
  Part,
  ReasoningPart,
  ResultPart,
  ToolCallPart,
  ToolResultPart,
} from "../../../domain/chat-request.ts";
import { printCacheMark } from "../../request-fields.ts";
import { joinMembers, printMembers } from "../json-members.ts";

/** The block of one part, in JSON. */
export function printPart(part: Part): string {
  switch (part.kind) {
    case "tool_call":
      return printCall(part);
    case "tool_result":
      return JSON.stringify(resultOf(part));
    case "reasoning":
      return JSON.stringify(thinkingOf(part));
    default:
      return JSON.stringify(blockOf(part));
  }
}

/** The input stays as it was written, numbers that no parser keeps included. */
function printCall({ id, name, input, cache }: ToolCallPart): string {
  return joinMembers({ ...printMembers({ type: "tool_use", id, name, ...printCacheMark(cache) }), input });
}

function resultOf({ callId, parts, isError, cache }: ToolResultPart) {
  const said = parts.filter((part) => part.kind !== "text" || /\S/.test(part.text));
  const [only] = said;
  const isBare = said.length === 1 && only?.kind === "text" && !only.cache;
  return {
    type: "tool_result",
    tool_use_id: callId,
    ...(said.length > 0 && { content: isBare ? only.text : said.map(blockOf) }),
    ...(isError && { is_error: true }),
    ...printCacheMark(cache),
  };
}

function thinkingOf({ text, signature, redacted }: ReasoningPart) {
  return redacted === undefined
    ? { type: "thinking", thinking: text, signature }
    : { type: "redacted_thinking", data: redacted };
}

function blockOf(part: ResultPart) {
  if (part.kind === "text") return { type: "text", text: part.text, ...printCacheMark(part.cache) };
  const title = part.kind === "document" ? part.name : undefined;
  return { type: part.kind, source: sourceOf(part), title, ...printCacheMark(part.cache) };
}

function sourceOf({ source }: ImagePart | DocumentPart) {
  if (source.kind === "url") return { type: "url", url: source.url };
  if (source.kind === "text") return { type: "text", media_type: "text/plain", data: source.text };
  return { type: "base64", media_type: source.mediaType, data: source.data };
}
