import { isJsonObject, type JsonObject, readArray } from "../json/read.ts";
import { createUnpricedRule, TIER_FIELDS } from "../unpriced-fields.ts";
import { rejectTool, rejectUnpricedPlugins, rejectUnpricedTools } from "../unpriced-tools.ts";

const RULE = createUnpricedRule(new Set([...Object.keys(TIER_FIELDS), "inference_geo"]));

export const UNPRICED_NAMES = RULE.names;

/**
 * Throws `unpriced_field` with the path of the first field that is billed at another price than the
 * catalog's.
 */
export function rejectUnpriced(
  body: JsonObject,
  messages: readonly JsonObject[],
  repeatsKeys: boolean,
): void {
  RULE.reject(body, repeatsKeys);
  rejectUnpricedPlugins(body);
  rejectUnpricedTools(readArray(body.tools));
  for (const [position, message] of messages.entries()) {
    if (message.role === "system") rejectAddedTools(message.content, `messages[${position}].content`);
  }
}

/** Checks tools that a system message defines for the rest of the conversation. */
function rejectAddedTools(content: unknown, path: string): void {
  for (const [position, block] of readArray(content).entries()) {
    const added = isJsonObject(block) && isJsonObject(block.tool) ? block.tool.definition : undefined;
    if (isJsonObject(added)) rejectTool(added, `${path}[${position}].tool.definition`);
  }
}
