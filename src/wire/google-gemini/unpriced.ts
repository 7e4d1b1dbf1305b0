import type { TierDemand } from "../../domain/tiers.ts";
import { GatewayError } from "../../errors.ts";
import { isSet, type JsonObject, readArray } from "../json/read.ts";
import { readServiceTier } from "../tiers.ts";
import { rejectUnpricedField } from "../unpriced-fields.ts";
import { GENERATION, join, type Members, REQUEST, readMember } from "./names.ts";

type RequestMembers = ReturnType<(typeof REQUEST)["read"]>;

/**
 * Rejects what no price of tokens holds, and what is stored at the provider. Throws `unpriced_field` or
 * `nothing_stored` with the path of the member.
 */
export function rejectUnpriced(body: RequestMembers, keys: JsonObject): void {
  if (isSet(body.cachedContent)) throw new GatewayError("nothing_stored", { path: "cachedContent" });
  const path = REQUEST.spellingOf(keys, "generationConfig");
  const config = readMember(body.generationConfig, path);
  if (config) rejectGeneration(GENERATION.read(config, path), path);
}

/**
 * Reads the tier that a body asks for, by the names of the Gemini API; `undefined` for the standard one. Throws
 * `unpriced_field` for an unknown name.
 *
 * @see https://ai.google.dev/gemini-api/docs/priority-inference
 */
export function readTier(tier: unknown, path: string): TierDemand | undefined {
  if (!isSet(tier)) return undefined;
  if (typeof tier !== "string") rejectUnpricedField(path);
  const name = tier.toLowerCase().replace(/^service_tier_/, "");
  const demand = name === "unspecified" ? undefined : readServiceTier({ service_tier: name });
  return demand && { ...demand, path };
}

/** Members by which Vertex AI chooses another model. */
const ROUTERS = ["routingConfig", "modelSelectionConfig", "modelConfig"] as const;

function rejectGeneration(
  config: Members<(typeof ROUTERS)[number] | "responseModalities" | "serviceTier">,
  path: string,
) {
  if (isSet(config.serviceTier)) rejectUnpricedField(join(path, "serviceTier"));
  for (const name of ROUTERS) if (isSet(config[name])) rejectUnpricedField(join(path, name));
  const { responseModalities: modalities } = config;
  const list = isSet(modalities) && !Array.isArray(modalities) ? [modalities] : readArray(modalities);
  if (list.some((modality) => modality !== "TEXT")) rejectUnpricedField(join(path, "responseModalities"));
}
