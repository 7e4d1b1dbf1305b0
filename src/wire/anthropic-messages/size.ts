import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../json/read.ts";
import {
  imageSize,
  type PartSize,
  REMOTE_TOOL_SIZE,
  SERVER_TOOL_SIZE,
  sumOfSizes,
  TEXT_SIZE,
  UNBOUNDED_SIZE,
} from "../prompt-size.ts";

/** Blocks whose tokens are all in the text of the body. Every other block is unbounded. */
const TEXT_BLOCKS = new Set([
  "text",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "server_tool_use",
  "mcp_tool_use",
  "mcp_tool_result",
  "tool_reference",
  "search_result",
  "web_search_tool_result",
  "tool_search_tool_result",
  "compaction",
]);
const NESTING_MAX = 4;

/** Returns what the media and tools of a messages body add to the input beyond its text. */
export function sizeOfMessages(body: JsonObject, messages: readonly JsonObject[]): PartSize {
  if (readArray(body.mcp_servers).length > 0) return REMOTE_TOOL_SIZE;
  // The skills and files of a container have any size.
  if (isSet(body.container)) return UNBOUNDED_SIZE;
  return sumOfSizes([
    readArray(body.tools).some(runsAtUpstream) ? SERVER_TOOL_SIZE : TEXT_SIZE,
    sizeOfContent(body.system),
    ...messages.map((message) => sizeOfContent(message.content)),
  ]);
}

function runsAtUpstream(tool: unknown): boolean {
  return isJsonObject(tool) && isSet(tool.type) && tool.type !== "custom";
}

/** Returns how often the provider may read the prompt: twice when the body asks to compact it, else once. */
export function countReadings({ compaction, context_management: management }: JsonObject): number {
  if (isSet(compaction)) return 2;
  const edits = isJsonObject(management) ? readArray(management.edits) : [];
  return edits.some((edit) => isJsonObject(edit) && readText(edit.type).startsWith("compact")) ? 2 : 1;
}

function sizeOfContent(content: unknown, depth = 0): PartSize {
  if (depth > NESTING_MAX) return UNBOUNDED_SIZE;
  return sumOfSizes(readArray(content).map((block) => sizeOfBlock(block, depth)));
}

function sizeOfBlock(block: unknown, depth: number): PartSize {
  if (!isJsonObject(block)) return TEXT_SIZE;
  if (block.type === "image") return sizeOfImage(block.source);
  if (block.type === "tool_result") return sizeOfContent(block.content, depth + 1);
  if (block.type === "document") return sizeOfDocument(block.source, depth);
  return typeof block.type === "string" && TEXT_BLOCKS.has(block.type) ? TEXT_SIZE : UNBOUNDED_SIZE;
}

function sizeOfImage(source: unknown): PartSize {
  if (!isJsonObject(source)) return UNBOUNDED_SIZE;
  const { type, media_type: mediaType, data } = source;
  if (type === "url" || type === "file") return imageSize(0);
  const isImage = type === "base64" && typeof mediaType === "string" && mediaType.startsWith("image/");
  if (!isImage || typeof data !== "string") return UNBOUNDED_SIZE;
  return imageSize(data.length);
}

function sizeOfDocument(source: unknown, depth: number): PartSize {
  if (!isJsonObject(source)) return UNBOUNDED_SIZE;
  if (source.type === "text") return TEXT_SIZE;
  return source.type === "content" ? sizeOfContent(source.content, depth + 1) : UNBOUNDED_SIZE;
}
