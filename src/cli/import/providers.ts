import { findProvider } from "../../catalog/providers.ts";
import type { Protocol } from "../../domain/model.ts";

/** How a provider of LiteLLM is called. */
interface Provider {
  readonly protocol: Extract<Protocol, "openai" | "anthropic">;
  /** Its public address; `undefined` where `api_base` must name it. */
  readonly baseUrl: string | undefined;
  /** The variable that LiteLLM reads its key from when `api_key` is absent. */
  readonly keyVariable: string;
  /** Its name in the catalog of known models. */
  readonly catalogName: string | undefined;
}

/** Providers that speak one of our formats, by the prefix of a model. @see https://docs.litellm.ai/docs/providers */
const CATALOG_NAMES: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "anthropic",
  openrouter: "openrouter",
  groq: "groq",
  mistral: "mistral",
  deepseek: "deepseek",
  xai: "xai",
  together_ai: "together",
  fireworks_ai: "fireworks",
  cerebras: "cerebras",
  perplexity: "perplexity",
};

/** Providers without a public address, with the variables of their keys. */
const SELF_HOSTED: Readonly<Record<string, string>> = {
  hosted_vllm: "HOSTED_VLLM_API_KEY",
  lm_studio: "LM_STUDIO_API_KEY",
  litellm_proxy: "LITELLM_PROXY_API_KEY",
};

function readProvider(name: string): Provider | undefined {
  const ownKey = SELF_HOSTED[name];
  if (ownKey) return { protocol: "openai", baseUrl: undefined, keyVariable: ownKey, catalogName: undefined };
  const catalogName = CATALOG_NAMES[name];
  const found = catalogName === undefined ? undefined : findProvider(catalogName);
  if (!found || (found.protocol !== "openai" && found.protocol !== "anthropic")) return undefined;
  const keyVariable = String(found.settings.api_key).slice("${".length, -"}".length);
  return { protocol: found.protocol, baseUrl: found.baseUrl, keyVariable, catalogName };
}

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
  if (prefix !== "") return { providerName: prefix, provider: readProvider(prefix), model: rest };
  const providerName = KNOWN_NAMES.find(([pattern]) => pattern.test(text))?.[1] ?? "";
  return { providerName, provider: readProvider(providerName), model: text };
}
