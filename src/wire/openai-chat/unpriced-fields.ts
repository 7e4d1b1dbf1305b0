import { type JsonObject, readArray } from "../json/read.ts";
import { createUnpricedRule, TIER_FIELDS } from "../unpriced-fields.ts";
import { rejectUnpricedPlugins, rejectUnpricedTools } from "../unpriced-tools.ts";

const RULE = createUnpricedRule(new Set([...Object.keys(TIER_FIELDS), "models", "modalities"]));

export const UNPRICED_NAMES = RULE.names;

/** Throws `unpriced_field` with the path of a field that may change the model or the price. */
export function rejectUnpriced(body: JsonObject, repeatsKeys: boolean): void {
  RULE.reject(body, repeatsKeys);
  rejectUnpricedPlugins(body);
  rejectUnpricedTools(readArray(body.tools));
}
