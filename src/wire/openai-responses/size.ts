import { isJsonObject, type JsonObject, readArray, readText } from "../json/read.ts";
import {
  AUDIO_SIZE,
  audioSize,
  documentSize,
  type PartSize,
  SERVER_TOOL_SIZE,
  sizeOfImageUrl,
  sumOfSizes,
  TEXT_SIZE,
  UNBOUNDED_SIZE,
} from "../prompt-size.ts";
import { isMessage } from "./items.ts";

/**
 * Types of tools that the client runs. Every other tool runs at the upstream, with results of unknown size.
 */
export const CLIENT_TOOLS: ReadonlySet<string> = new Set([
  "function",
  "custom",
  "namespace",
  "tool_search",
  "local_shell",
  "apply_patch",
]);
/** Items whose tokens are all in the text of the body. Every other item is unbounded. */
const TEXT_ITEMS = new Set([
  "agent_message",
  "reasoning",
  "compaction",
  "function_call",
  "custom_tool_call",
  "local_shell_call",
  "local_shell_call_output",
  "apply_patch_call",
  "apply_patch_call_output",
  "tool_search_call",
  "tool_search_output",
  "web_search_call",
]);
const TEXT_PARTS = new Set(["input_text", "output_text", "refusal", "text", "summary_text"]);

/** Returns what the media and tools of a responses body add to the input beyond its text. */
export function sizeOfInput(body: JsonObject, items: readonly JsonObject[]): PartSize {
  const hasServerTool = countServerTools(body, items) > 0;
  return sumOfSizes([hasServerTool ? SERVER_TOOL_SIZE : TEXT_SIZE, ...items.map(sizeOfItem)]);
}

/** Counts the tools that do not run at the client. */
export function countServerTools(body: JsonObject, items: readonly JsonObject[]): number {
  let count = toolsAtUpstream(body);
  for (const item of items) count += toolsAtUpstream(item);
  return count;
}

function toolsAtUpstream({ tools }: JsonObject): number {
  return tools === undefined ? 0 : readArray(tools).filter(runsAtUpstream).length;
}

/** Returns how often the provider may read the prompt: twice when the body asks to compact it, else once. */
export function countReadings(body: JsonObject): number {
  return readArray(body.context_management).length > 0 ? 2 : 1;
}

function runsAtUpstream(tool: unknown): boolean {
  if (!isJsonObject(tool)) return false;
  return !CLIENT_TOOLS.has(readText(tool.type)) || readArray(tool.tools).some(isServerTool);
}

function isServerTool(tool: unknown): boolean {
  return isJsonObject(tool) && !CLIENT_TOOLS.has(readText(tool.type));
}

function sizeOfItem(item: JsonObject): PartSize {
  if (isMessage(item)) return sizeOfParts(item.content);
  if (item.type === "function_call_output" || item.type === "custom_tool_call_output")
    return sizeOfParts(item.output);
  // Its size is that of a known conversation, which has no other facts of its tools.
  if (toolsAtUpstream(item) > 0) return UNBOUNDED_SIZE;
  if (item.type === "additional_tools") return TEXT_SIZE;
  return TEXT_ITEMS.has(readText(item.type)) ? TEXT_SIZE : UNBOUNDED_SIZE;
}

function sizeOfParts(parts: unknown): PartSize {
  return sumOfSizes(readArray(parts).map(sizeOfPart));
}

function sizeOfPart(part: unknown): PartSize {
  if (!isJsonObject(part)) return TEXT_SIZE;
  if (part.type === "input_image") return sizeOfImageUrl(part.image_url);
  if (TEXT_PARTS.has(readText(part.type))) return TEXT_SIZE;
  const { input_audio: audio } = part;
  if (part.type === "input_audio")
    return isJsonObject(audio) ? audioSize(audio.data, audio.format) : AUDIO_SIZE;
  return part.type === "input_file" ? documentSize(part.file_data) : UNBOUNDED_SIZE;
}
