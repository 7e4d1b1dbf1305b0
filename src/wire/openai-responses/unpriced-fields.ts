import { type JsonObject, readArray } from "../json/read.ts";
import { createUnpricedRule } from "../unpriced-fields.ts";
import { rejectUnpricedPlugins, rejectUnpricedTools } from "../unpriced-tools.ts";

/** Repeated keys are refused before. */
const RULE = createUnpricedRule(new Set());

export const UNPRICED_NAMES = RULE.names;

/** Throws `unpriced_field`, naming what would be billed otherwise than the catalog says. */
export function rejectUnpriced(body: JsonObject, items: readonly JsonObject[]): void {
  RULE.reject(body, false);
  rejectUnpricedPlugins(body);
  rejectUnpricedTools(readArray(body.tools));
  // Items may bring tools of their own: `additional_tools` and what a tool search found.
  for (const [position, { tools }] of items.entries()) {
    if (tools !== undefined) rejectUnpricedTools(readArray(tools), `input[${position}].tools`);
  }
}
