/** How a provider of LiteLLM is called. */
interface Provider {
  readonly protocol: "openai" | "anthropic";
  /** Its public address; `undefined` where `api_base` must name it. */
  readonly baseUrl: string | undefined;
  /** The variable that LiteLLM reads its key from when `api_key` is absent. */
  readonly keyVariable: string;
}

const openai = (baseUrl: string | undefined, keyVariable: string): Provider => ({
  protocol: "openai",
  baseUrl,
  keyVariable,
});

/** Providers that speak one of our formats, by the prefix of a model. @see https://docs.litellm.ai/docs/providers */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: openai("https://api.openai.com/v1", "OPENAI_API_KEY"),
  anthropic: {
    protocol: "anthropic",
    baseUrl: "https://api.anthropic.com",
    keyVariable: "ANTHROPIC_API_KEY",
  },
  openrouter: openai("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
  groq: openai("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
  mistral: openai("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
  deepseek: openai("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
  xai: openai("https://api.x.ai/v1", "XAI_API_KEY"),
  together_ai: openai("https://api.together.xyz/v1", "TOGETHERAI_API_KEY"),
  fireworks_ai: openai("https://api.fireworks.ai/inference/v1", "FIREWORKS_AI_API_KEY"),
  cerebras: openai("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
  perplexity: openai("https://api.perplexity.ai", "PERPLEXITYAI_API_KEY"),
  hosted_vllm: openai(undefined, "HOSTED_VLLM_API_KEY"),
  lm_studio: openai(undefined, "LM_STUDIO_API_KEY"),
  litellm_proxy: openai(undefined, "LITELLM_PROXY_API_KEY"),
};

/** Names of models that LiteLLM knows without a prefix. */
const KNOWN_NAMES: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^(gpt-|o\d|chatgpt-|text-embedding-)/, "openai"],
  [/^claude-/, "anthropic"],
];

/** A model of LiteLLM, split into its provider and the provider's name for it. */
export interface SplitModel {
  readonly providerName: string;
  readonly provider: Provider | undefined;
  readonly model: string;
}

/** Splits "provider/model". A name without a known prefix belongs to the provider that it is known of. */
export function splitModel(text: string): SplitModel {
  const [, prefix = "", rest = ""] = /^([a-z_]+)\/(.+)$/.exec(text) ?? [];
  if (prefix !== "") return { providerName: prefix, provider: PROVIDERS[prefix], model: rest };
  const providerName = KNOWN_NAMES.find(([pattern]) => pattern.test(text))?.[1] ?? "";
  return { providerName, provider: PROVIDERS[providerName], model: text };
}
