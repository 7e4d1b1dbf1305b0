import type { JsonObject } from "../json-read.ts";
import {
  createUnpricedRule,
  ENGINE_FIELDS,
  ROUTER_FIELDS,
  TIER_FIELDS,
  type UnpricedFields,
} from "../unpriced-fields.ts";

/** Fields of an embeddings body that change its model or its price. */
const UNPRICED: UnpricedFields = { ...TIER_FIELDS, ...ROUTER_FIELDS, ...ENGINE_FIELDS };
const RULE = createUnpricedRule(UNPRICED, new Set(Object.keys(TIER_FIELDS)));

export const UNPRICED_NAMES = RULE.names;

/** Throws `unpriced_field`, naming what would be billed otherwise than the catalog says. */
export function refuseUnpriced(body: JsonObject, repeatsKeys: boolean): void {
  RULE.refuse(body, repeatsKeys);
}
