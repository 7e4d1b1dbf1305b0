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

/**
 * Fields that enable web search at the provider, each with the test that it is enabled.
 *
 * @see https://openrouter.ai/docs/guides/features/plugins/overview `plugins`
 * @see https://docs.x.ai/docs/guides/live-search `search_parameters`, whose mode is `auto` by default
 * @see https://help.aliyun.com/zh/model-studio/web-search `enable_search`
 * @see https://console.groq.com/docs/compound `compound_custom.tools.enabled_tools`
 */
const SEARCHES = Object.entries<(value: unknown) => boolean>({
  web_search_options: isSet,
  plugins: isFilled,
  search_parameters: (value) => !isJsonObject(value) || value.mode !== "off",
  enable_search: (value) => value !== false,
  compound_custom: (value) =>
    isJsonObject(value) && isJsonObject(value.tools) && isFilled(value.tools.enabled_tools),
});

/** Returns the size of the media and tools of a chat body, beside its text. */
export function sizeOfChat(body: JsonObject, messages: readonly JsonObject[]): PartSize {
  if (searches(body) || searches(body.extra_body) || readArray(body.tools).some(runsAtUpstream))
    return REMOTE_TOOL_SIZE;
  return sumOfSizes(messages.map(sizeOfMessage));
}

function searches(body: unknown): boolean {
  return (
    isJsonObject(body) && SEARCHES.some(([field, isEnabled]) => isSet(body[field]) && isEnabled(body[field]))
  );
}

function isFilled(list: unknown): boolean {
  return readArray(list).length > 0;
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
