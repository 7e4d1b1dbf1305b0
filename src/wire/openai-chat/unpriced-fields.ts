import { type JsonObject, readArray } from "../json/read.ts";
import { createUnpricedRule, TIER_FIELDS } from "../unpriced-fields.ts";
import { refuseUnpricedPlugins } from "../unpriced-plugins.ts";
import { refuseUnpricedTools } from "../unpriced-tools.ts";

const RULE = createUnpricedRule(new Set([...Object.keys(TIER_FIELDS), "models", "modalities"]));

export const UNPRICED_NAMES = RULE.names;

/** Throws `unpriced_field`, naming what would be billed otherwise than the catalog says. */
export function refuseUnpriced(body: JsonObject, repeatsKeys: boolean): void {
  RULE.refuse(body, repeatsKeys);
  refuseUnpricedPlugins(body);
  refuseUnpricedTools(readArray(body.tools));
}
