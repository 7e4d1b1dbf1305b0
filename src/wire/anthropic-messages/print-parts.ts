import type {
  CacheMark,
  DocumentPart,
  ImagePart,
  Part,
  ReasoningPart,
  ResultPart,
  ToolCallPart,
  ToolResultPart,
} from "../../domain/chat-request.ts";
import { joinMembers, printMembers } from "./json-members.ts";
import { documentTypeOf, imageTypeOf } from "./media-types.ts";

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

/** A cache mark as a member of a block or tool. */
export function cacheOf(cache: CacheMark | undefined) {
  if (!cache) return {};
  const { ttl } = cache;
  return { cache_control: { type: "ephemeral", ...(ttl && { ttl }) } };
}

/** The input stays as it was written: no number loses digits. */
function printCall({ id, name, input, cache }: ToolCallPart): string {
  return joinMembers({ ...printMembers({ type: "tool_use", id, name, ...cacheOf(cache) }), input });
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
    ...cacheOf(cache),
  };
}

function thinkingOf({ text, signature, redacted }: ReasoningPart) {
  return redacted === undefined
    ? { type: "thinking", thinking: text, signature }
    : { type: "redacted_thinking", data: redacted };
}

function blockOf(part: ResultPart) {
  if (part.kind === "text") return { type: "text", text: part.text, ...cacheOf(part.cache) };
  const source = part.kind === "image" ? imageSourceOf(part) : documentSourceOf(part);
  const title = part.kind === "document" ? part.name : undefined;
  return { type: part.kind, source, title, ...cacheOf(part.cache) };
}

function imageSourceOf({ source }: ImagePart) {
  if (source.kind === "url") return { type: "url", url: source.url };
  return {
    type: "base64",
    media_type: imageTypeOf(source.mediaType) ?? source.mediaType,
    data: source.data,
  };
}

function documentSourceOf({ source }: DocumentPart) {
  if (source.kind === "url") return { type: "url", url: source.url };
  if (source.kind === "text") return textSource(source.text);
  const type = documentTypeOf(source.mediaType);
  if (type === "text/plain") return textSource(Buffer.from(source.data, "base64").toString("utf8"));
  return { type: "base64", media_type: type ?? source.mediaType, data: source.data };
}

function textSource(text: string) {
  return { type: "text", media_type: "text/plain", data: text };
}
