import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../json/read.ts";
import {
  imageCharsOf,
  imageSize,
  type PartSize,
  REMOTE_TOOL_SIZE,
  sumOfSizes,
  TEXT_SIZE,
  UNBOUNDED_SIZE,
} from "../prompt-size.ts";

const TEXT_PARTS = new Set(["text", "refusal", "thinking"]);
const CLIENT_TOOLS = new Set(["function", "custom"]);

/** Returns the size of the media and tools of a chat body, beside its text. */
export function sizeOfChat(body: JsonObject, messages: readonly JsonObject[]): PartSize {
  if (readArray(body.tools).some(runsAtUpstream)) return REMOTE_TOOL_SIZE;
  return sumOfSizes(messages.map(sizeOfMessage));
}

function runsAtUpstream(tool: unknown): boolean {
  return isJsonObject(tool) && isSet(tool.type) && !CLIENT_TOOLS.has(readText(tool.type));
}

function sizeOfMessage(message: JsonObject): PartSize {
  if (isSet(message.audio)) return UNBOUNDED_SIZE;
  return Array.isArray(message.content) ? sumOfSizes(message.content.map(sizeOfPart)) : TEXT_SIZE;
}

function sizeOfPart(part: unknown): PartSize {
  if (!isJsonObject(part)) return TEXT_SIZE;
  if (part.type === "image_url") return sizeOfImage(part.image_url);
  return typeof part.type === "string" && TEXT_PARTS.has(part.type) ? TEXT_SIZE : UNBOUNDED_SIZE;
}

function sizeOfImage(image: unknown): PartSize {
  const url = isJsonObject(image) ? image.url : image;
  if (typeof url !== "string") return UNBOUNDED_SIZE;
  const inlineChars = imageCharsOf(url);
  if (inlineChars === 0 && /^\s*data:/i.test(url)) return UNBOUNDED_SIZE;
  return imageSize(inlineChars);
}
