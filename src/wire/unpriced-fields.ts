import { GatewayError } from "../errors.ts";
import { findMiscased, isJsonObject, isSet, type JsonObject } from "./json/read.ts";

/**
 * Fields that change the model or the price, each with the values that change neither. A dot descends into an
 * object. Null, an empty array and an empty object are harmless in every field.
 */
type UnpricedFields = Readonly<Record<string, readonly unknown[]>>;

/**
 * Service tiers, which every format has.
 *
 * @see https://developers.openai.com/api/docs/guides/priority-processing
 * @see https://console.groq.com/docs/service-tiers
 * @see https://platform.claude.com/docs/en/build-with-claude/fast-mode
 */
export const TIER_FIELDS = {
  service_tier: ["auto", "default", "standard", "standard_only"],
  speed: ["standard"],
} satisfies UnpricedFields;

/**
 * Fields that make a gateway behind the upstream choose another model or provider.
 *
 * @see https://openrouter.ai/docs/guides/routing/model-fallbacks `models`, `route`
 * @see https://openrouter.ai/docs/guides/routing/provider-selection `provider`
 * @see https://openrouter.ai/docs/guides/features/presets `preset`
 * @see https://docs.litellm.ai/docs/proxy/reliability `fallbacks` and the fields after it
 * @see https://docs.litellm.ai/docs/completion/input `extra_headers`, which may contain betas with a price of their own
 * @see https://vercel.com/docs/ai-gateway/models-and-providers/provider-options `providerOptions.gateway`
 */
const ROUTER_FIELDS = {
  models: [],
  route: [],
  provider: [],
  preset: [],
  fallbacks: [],
  fallback_model: [],
  fallback_models: [],
  context_window_fallbacks: [],
  content_policy_fallbacks: [],
  model_list: [],
  user_config: [],
  custom_llm_provider: [],
  "extra_headers.anthropic-beta": [],
  "providerOptions.gateway": [],
  // The case-insensitive check compares with the lower-case spelling.
  "provideroptions.gateway": [],
} satisfies UnpricedFields;

/**
 * Fields that make an inference server generate more than it returns, or use other weights.
 *
 * @see https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
 * @see https://docs.sglang.ai/basic_usage/sampling_params.html
 * @see https://huggingface.co/docs/text-generation-inference/reference/api_reference
 */
const ENGINE_FIELDS = {
  best_of: [1],
  use_beam_search: [false],
  beam_width: [1],
  num_beams: [1],
  num_return_sequences: [1],
  lora_path: [],
  lora_id: [],
} satisfies UnpricedFields;

/**
 * Fields of single hosts, which other hosts of the format may adopt.
 *
 * @see https://developers.openai.com/api/docs/guides/audio `modalities`
 * @see https://console.groq.com/docs/compound `compound_custom.models`
 * @see https://docs.together.ai/reference/chat-completions `safety_model`
 * @see https://platform.claude.com/docs/en/build-with-claude/data-residency `inference_geo`
 * @see https://platform.claude.com/docs/en/api/messages `billing_policy`
 */
const HOST_FIELDS = {
  modalities: [["text"]],
  "compound_custom.models": [],
  safety_model: [],
  inference_geo: ["global"],
  "billing_policy.bill_to": ["self"],
} satisfies UnpricedFields;

/** The fields that are rejected in every format. */
const UNPRICED_FIELDS: UnpricedFields = {
  ...TIER_FIELDS,
  ...ROUTER_FIELDS,
  ...ENGINE_FIELDS,
  ...HOST_FIELDS,
};

/** LiteLLM merges the members of this object over the body. */
const EXTRA_BODY = "extra_body";
/** Fields that bound the cost of an answer and are checked or edited only at the top level. */
const PRICED_NAMES = [
  "model",
  "n",
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "betas",
  "anthropic_beta",
  "extra_headers",
];

interface Entry {
  readonly path: string;
  /** The top-level field that contains the name; `undefined` if the name is at the top level itself. */
  readonly holder: string | undefined;
  readonly name: string;
  readonly harmless: readonly unknown[];
  /** Whether the printed body contains the field once, so that a repeated key is harmless. */
  readonly isSentOnce: boolean;
}

interface UnpricedRule {
  /** The top-level names, whose other spellings are rejected. */
  readonly names: readonly string[];
  /**
   * Throws `unpriced_field` with the path of the first field whose value may change the model or the price.
   */
  reject(body: JsonObject, repeatsKeys: boolean): void;
}

/**
 * Creates the rule of a format. In a body that repeats keys, only the fields of `sentOnce` may have a value. The
 * format itself checks the fields of `priced`.
 */
export function createUnpricedRule(
  sentOnce: ReadonlySet<string>,
  priced: readonly string[] = [],
): UnpricedRule {
  const entries = Object.entries(UNPRICED_FIELDS)
    .filter(([path]) => !priced.includes(path))
    .map(([path, harmless]) => readEntry(path, harmless, sentOnce));
  const byField = Map.groupBy(entries, ({ holder, name }) => holder ?? name);
  const names = [...byField.keys(), ...priced, EXTRA_BODY];
  const extraNames = new Set([...names, ...PRICED_NAMES]);
  return {
    names,
    reject(body, repeatsKeys) {
      for (const field of Object.keys(body)) {
        const found = byField.get(field);
        if (found !== undefined) rejectField(body[field], found, repeatsKeys);
      }
      const extra = body[EXTRA_BODY];
      if (extra !== undefined) rejectExtra(extra, extraNames, repeatsKeys);
    },
  };
}

function rejectField(value: unknown, entries: readonly Entry[], repeatsKeys: boolean): void {
  for (const entry of entries) {
    if (entry.holder === undefined) rejectValue(value, entry, repeatsKeys);
    else rejectNested(value, entry, repeatsKeys);
  }
}

function readEntry(path: string, harmless: readonly unknown[], sentOnce: ReadonlySet<string>): Entry {
  const dot = path.indexOf(".");
  const holder = dot < 0 ? undefined : path.slice(0, dot);
  return { path, holder, name: path.slice(dot + 1), harmless, isSentOnce: sentOnce.has(path) };
}

function rejectValue(value: unknown, { path, harmless, isSentOnce }: Entry, repeatsKeys: boolean): void {
  if (value === undefined) return;
  const mayHaveOtherValue = repeatsKeys && !isSentOnce;
  const isHarmless = isEmpty(value) || harmless.some((each) => isEqual(each, value));
  if (mayHaveOtherValue || !isHarmless) rejectUnpricedField(path);
}

/** Arrays are equal if both have one element and the elements are equal. */
function isEqual(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return one.length === 1 && other.length === 1 && one[0] === other[0];
}

function rejectNested(holder: unknown, entry: Entry, repeatsKeys: boolean): void {
  if (!isJsonObject(holder)) return;
  const isMiscased = findMiscased(holder, new Set([entry.name])) !== undefined;
  if (repeatsKeys || isMiscased) rejectUnpricedField(entry.path);
  rejectValue(holder[entry.name], entry, repeatsKeys);
}

function rejectExtra(extra: unknown, names: ReadonlySet<string>, repeatsKeys: boolean): void {
  if (repeatsKeys) rejectUnpricedField(EXTRA_BODY);
  if (!isJsonObject(extra)) return;
  const name = Object.keys(extra).find((key) => names.has(key)) ?? findMiscased(extra, names);
  if (name !== undefined) rejectUnpricedField(`${EXTRA_BODY}.${name}`);
}

function isEmpty(value: unknown): boolean {
  if (!isSet(value)) return true;
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}

/** Throws `unpriced_field` with the path of a field in the body. */
export function rejectUnpricedField(path: string): never {
  throw new GatewayError("unpriced_field", { path });
}
