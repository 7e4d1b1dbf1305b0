import type { JsonObject } from "../json/read.ts";
import { createUnpricedRule, TIER_FIELDS } from "../unpriced-fields.ts";

const RULE = createUnpricedRule(new Set(Object.keys(TIER_FIELDS)));

export const UNPRICED_NAMES = RULE.names;

/** Throws `unpriced_field`, naming what would be billed otherwise than the catalog says. */
export function refuseUnpriced(body: JsonObject, repeatsKeys: boolean): void {
  RULE.refuse(body, repeatsKeys);
}
