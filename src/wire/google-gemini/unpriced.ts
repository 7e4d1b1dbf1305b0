import { GatewayError } from "../../errors.ts";
import { isSet, type JsonObject, readArray } from "../json/read.ts";
import { rejectUnpricedField, TIER_FIELDS } from "../unpriced-fields.ts";
import { GENERATION, join, type Members, REQUEST, readMember, readObjects } from "./names.ts";

type RequestMembers = ReturnType<(typeof REQUEST)["read"]>;

/**
 * Rejects what no price of tokens holds, and what is stored at the provider. Throws `unpriced_field` or
 * `nothing_stored` with the path of the member.
 */
export function rejectUnpriced(body: RequestMembers, keys: JsonObject): void {
  if (isSet(body.cachedContent)) throw new GatewayError("nothing_stored", { path: "cachedContent" });
  rejectTier(body.serviceTier, "serviceTier");
  const path = REQUEST.spellingOf(keys, "generationConfig");
  const config = readMember(body.generationConfig, path);
  if (config) rejectGeneration(GENERATION.read(config, path), path);
  rejectTools(body.tools, "tools");
}

/** @see https://ai.google.dev/gemini-api/docs/priority-inference */
const STANDARD_TIERS: readonly unknown[] = [...TIER_FIELDS.service_tier, "STANDARD", "unspecified"];

function rejectTier(tier: unknown, path: string): void {
  if (isSet(tier) && !STANDARD_TIERS.includes(tier)) rejectUnpricedField(path);
}

/** Members by which Vertex AI chooses another model. */
const ROUTERS = ["routingConfig", "modelSelectionConfig", "modelConfig"] as const;

function rejectGeneration(
  config: Members<(typeof ROUTERS)[number] | "responseModalities" | "serviceTier">,
  path: string,
) {
  rejectTier(config.serviceTier, join(path, "serviceTier"));
  for (const name of ROUTERS) if (isSet(config[name])) rejectUnpricedField(join(path, name));
  const { responseModalities: modalities } = config;
  const list = isSet(modalities) && !Array.isArray(modalities) ? [modalities] : readArray(modalities);
  if (list.some((modality) => modality !== "TEXT")) rejectUnpricedField(join(path, "responseModalities"));
}

/** The tools that run at the client, in both spellings. */
const CLIENT_TOOLS = new Set([
  "functionDeclarations",
  "function_declarations",
  "computerUse",
  "computer_use",
]);

/** Tools that Google runs have fees of their own, and those that come later may have some. */
function rejectTools(tools: unknown, path: string): void {
  for (const [position, tool] of readObjects(tools, path).entries())
    for (const [key, value] of Object.entries(tool))
      if (isSet(value) && !CLIENT_TOOLS.has(key)) rejectUnpricedField(`${path}[${position}].${key}`);
}
