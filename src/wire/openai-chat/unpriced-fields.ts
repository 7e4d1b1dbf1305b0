import { type JsonObject, readArray } from "../json-read.ts";
import { readList } from "../request-body.ts";
import {
  createUnpricedRule,
  ENGINE_FIELDS,
  ROUTER_FIELDS,
  refuseUnpricedField,
  TIER_FIELDS,
  type UnpricedFields,
} from "../unpriced-fields.ts";
import { refuseUnpricedPlugins } from "../unpriced-plugins.ts";
import { refuseUnpricedTools } from "../unpriced-tools.ts";

/**
 * Fields of a chat body that change its model or its price.
 *
 * @see https://console.groq.com/docs/compound `compound_custom.models`
 * @see https://docs.together.ai/reference/chat-completions `safety_model`
 */
const UNPRICED: UnpricedFields = {
  ...TIER_FIELDS,
  ...ROUTER_FIELDS,
  ...ENGINE_FIELDS,
  "compound_custom.models": [],
  safety_model: [],
};
const RULE = createUnpricedRule(UNPRICED, new Set([...Object.keys(TIER_FIELDS), "models"]));

export const UNPRICED_NAMES = RULE.names;

/** Throws `unpriced_field`, naming what would be billed otherwise than the catalog says. */
export function refuseUnpriced(body: JsonObject, repeatsKeys: boolean): void {
  RULE.refuse(body, repeatsKeys);
  refuseSound(body);
  refuseUnpricedPlugins(body);
  refuseUnpricedTools(readArray(body.tools));
}

/** Sound and pictures are dearer than text. */
function refuseSound(body: JsonObject): void {
  const isText = readList(body, "modalities").every((modality) => modality === "text");
  if (!isText) refuseUnpricedField("modalities");
}
