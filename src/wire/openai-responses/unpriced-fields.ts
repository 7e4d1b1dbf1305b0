import { type JsonObject, readArray } from "../json/read.ts";
import { createUnpricedRule } from "../unpriced-fields.ts";
import { rejectUnpricedPlugins, rejectUnpricedTools } from "../unpriced-tools.ts";

/** No field may repeat: the request is rejected for repeated keys before this check. */
const RULE = createUnpricedRule(new Set());

export const UNPRICED_NAMES = RULE.names;

/**
 * Throws `unpriced_field` with the path of the first field that is billed at another price than the
 * catalog's.
 */
export function rejectUnpriced(body: JsonObject, items: readonly JsonObject[]): void {
  RULE.reject(body, false);
  rejectUnpricedPlugins(body);
  rejectUnpricedTools(readArray(body.tools));
  // The items `additional_tools` and `tool_search_output` define tools too.
  for (const [position, { tools }] of items.entries()) {
    if (tools !== undefined) rejectUnpricedTools(readArray(tools), `input[${position}].tools`);
  }
}
