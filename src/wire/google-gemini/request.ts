import type { TierDemand } from "../../domain/tiers.ts";
import { GatewayError } from "../../errors.ts";
import { type Edits, editMembers, type ValueEdit } from "../json/edit.ts";
import { isSet, type JsonObject, readArray } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../model-request.ts";
import { inputSizeOf, promptTextOf } from "../prompt-size.ts";
import { CHOICES_MAX } from "../reply-part.ts";
import { parseBody, readBudget, readFlag, reject, requireModel } from "../request-body.ts";
import { needsOf } from "../request-needs.ts";
import { readServiceTier } from "../tiers.ts";
import { createUnpricedRule, rejectUnpricedField } from "../unpriced-fields.ts";
import { dropForeignSignatures } from "./carried-reasoning.ts";
import { readChatRequest } from "./ingress/read-request.ts";
import { isDetailed, sizeOfPrompt } from "./input-size.ts";
import { GENERATION, join, type Members, REQUEST, readInteger, readMember, THINKING } from "./names.ts";
import { readToolDemands } from "./tools.ts";

const UNPRICED_RULE = createUnpricedRule(new Set(), ["service_tier"]);
const FIELDS = new Set(["model", "stream", ...UNPRICED_RULE.names]);

/**
 * Parses and checks a body to which the route has added `model` and `stream`, which Google has in the path. Unknown
 * members are left to the upstream. Throws `not_json`, `wrong_shape` (also for repeated keys), `unpriced_field` and
 * `nothing_stored`.
 *
 * @see https://ai.google.dev/api/generate-content#request-body
 */
export function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys, reread } = parseBody(text, FIELDS, measured);
  const model = requireModel(body);
  const stream = readFlag(body, "stream");
  if (repeatsKeys) throw new GatewayError("wrong_shape");
  UNPRICED_RULE.reject(body, repeatsKeys);
  const members = REQUEST.read(body, "");
  rejectUnpriced(members, body);
  const limits = readLimits(members.generationConfig, REQUEST.spellingOf(body, "generationConfig"));
  const tools = readToolDemands(members.tools);
  const prompt = sizeOfPrompt(members, limits.isDetailed);
  const size = tools ? { ...prompt, isServerTool: true } : prompt;
  return {
    text,
    model,
    stream,
    outputTokensMax: limits.outputTokensMax,
    outputLimitField: undefined,
    thinkingTokens: limits.thinkingTokens,
    choices: limits.choices,
    wantsUsage: true,
    input: inputSizeOf(text, size, false),
    needs: needsOf(size, { ...limits.asked, tools: isFilled(members.tools) }),
    tier: readTier(members.serviceTier, REQUEST.spellingOf(body, "serviceTier")),
    ...(tools && { tools }),
    promptText: () => promptTextOf(reread(), PROMPT),
    readChat: () => readChatRequest(reread()),
  };
}

/** The members with a prompt, in both spellings. */
const PROMPT = ["systemInstruction", "system_instruction", "contents", "tools"];

interface Limits {
  readonly outputTokensMax: number | undefined;
  readonly thinkingTokens: number;
  readonly choices: number;
  /** Whether images may become more tokens than they do by default. */
  readonly isDetailed: boolean;
  readonly asked: { readonly reasoning: boolean; readonly schema: boolean };
}

/** A limit of 0 is Google's default. A budget at or above the limit is not reserved: Google accepts it. */
function readLimits(generationConfig: unknown, path: string): Limits {
  const config = GENERATION.read(readMember(generationConfig, path) ?? {}, path);
  const limit = readInteger(config.maxOutputTokens, join(path, "maxOutputTokens")) ?? 0;
  const choices = readInteger(config.candidateCount, join(path, "candidateCount")) || 1;
  if (limit < 0) reject(join(path, "maxOutputTokens"));
  if (choices < 0 || choices > CHOICES_MAX) reject(join(path, "candidateCount"));
  const outputTokensMax = limit || undefined;
  const place = join(path, "thinkingConfig");
  const thinking = THINKING.read(readMember(config.thinkingConfig, place) ?? {}, place);
  const budget = readBudget(readInteger(thinking.thinkingBudget, join(place, "thinkingBudget")));
  const isReserved = outputTokensMax === undefined || budget < outputTokensMax;
  return {
    outputTokensMax,
    thinkingTokens: isReserved ? budget : 0,
    choices,
    isDetailed: isDetailed(config),
    asked: {
      reasoning: budget > 0 || isSet(thinking.thinkingLevel),
      schema: isSet(config.responseSchema) || isSet(config.responseJsonSchema),
    },
  };
}

function isFilled(tools: unknown): boolean {
  return Array.isArray(tools) ? tools.length > 0 : isSet(tools);
}

/**
 * Prints the body for an upstream of this format: without model and stream, which its path has, and with the output
 * limit. Drops signatures of other providers' reasoning. Keeps every other byte.
 */
export function printUpstreamRequest({ text }: ModelRequest, options: UpstreamRequestOptions): string {
  const limit = String(options.outputTokensMax);
  return editMembers(text, {
    model: () => undefined,
    stream: () => undefined,
    contents: (value) => value && dropForeignSignatures(value),
    ...editEither(["generationConfig", "generation_config"], (config) =>
      editMembers(
        config?.startsWith("{") ? config : "{}",
        editEither(["maxOutputTokens", "max_output_tokens"], () => limit),
      ),
    ),
  });
}

/** Edits a member in the client's spelling. A body has one of them at most; a missing member is added as the first. */
function editEither(names: readonly string[], edit: (value: string | undefined) => string): Edits {
  let isEdited = false;
  // Members that the text has are edited before those that it lacks are added.
  const editOnce: ValueEdit = (value) => {
    if (isEdited) return undefined;
    isEdited = true;
    return edit(value);
  };
  return Object.fromEntries(names.map((name) => [name, editOnce]));
}

type RequestMembers = ReturnType<(typeof REQUEST)["read"]>;

/**
 * Rejects what no price of tokens holds, and what is stored at the provider. Throws `unpriced_field` or
 * `nothing_stored` with the path of the member.
 */
function rejectUnpriced(body: RequestMembers, keys: JsonObject): void {
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
function readTier(tier: unknown, path: string): TierDemand | undefined {
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
