import type { KnownMode } from "./known-models.ts";

/** How a provider of the catalog is reached by a new upstream. */
export interface Provider {
  /** The protocol of an upstream in YAML. */
  readonly protocol: string;
  /** Its public address; `undefined` for the address of its protocol, or where every customer has another. */
  readonly baseUrl?: string;
  /** Other members of the upstream in YAML. `${NAME}` is a variable that the operator sets. */
  readonly settings: Readonly<Record<string, string | boolean>>;
}

/** A placeholder of the configuration file. */
const variable = (name: string) => `\${${name}}`;

const openai = (baseUrl: string, keyVariable: string): Provider => ({
  protocol: "openai",
  baseUrl,
  settings: { api_key: variable(keyVariable) },
});

/** The providers of the catalog, by the beginning of their ids. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: {
    protocol: "openai",
    baseUrl: "https://api.openai.com/v1",
    settings: { api_key: variable("OPENAI_API_KEY"), responses: true },
  },
  anthropic: {
    protocol: "anthropic",
    baseUrl: "https://api.anthropic.com",
    settings: { api_key: variable("ANTHROPIC_API_KEY") },
  },
  azure: {
    protocol: "azure",
    settings: {
      base_url: variable("AZURE_OPENAI_ENDPOINT"),
      api_key: variable("AZURE_OPENAI_API_KEY"),
      responses: true,
    },
  },
  bedrock: { protocol: "bedrock", settings: { region: variable("AWS_REGION") } },
  gemini: { protocol: "gemini", settings: { api_key: variable("GEMINI_API_KEY") } },
  vertex: {
    protocol: "vertex",
    settings: { project: variable("GOOGLE_CLOUD_PROJECT"), location: "global" },
  },
  cerebras: openai("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
  cohere: openai("https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY"),
  deepseek: openai("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
  fireworks: openai("https://api.fireworks.ai/inference/v1", "FIREWORKS_AI_API_KEY"),
  groq: openai("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
  jina: openai("https://api.jina.ai/v1", "JINA_API_KEY"),
  mistral: openai("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
  moonshot: openai("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
  openrouter: openai("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
  perplexity: openai("https://api.perplexity.ai", "PERPLEXITYAI_API_KEY"),
  together: openai("https://api.together.xyz/v1", "TOGETHERAI_API_KEY"),
  voyage: openai("https://api.voyageai.com/v1", "VOYAGE_API_KEY"),
  xai: openai("https://api.x.ai/v1", "XAI_API_KEY"),
  zai: openai("https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
};

/** Modes that a provider serves at another address than its other modes. */
const OTHER_ADDRESSES: Readonly<Record<string, Partial<Record<KnownMode, Provider>>>> = {
  cohere: { rerank: openai("https://api.cohere.com/v1", "COHERE_API_KEY") },
};

/** Providers of the catalog whose models are reached through the upstream of another one. */
const OWNERS: Readonly<Record<string, string>> = { azure_ai: "azure" };

/** Returns the provider whose upstreams serve the models of a provider: itself, except for resold models. */
export function ownerOf(provider: string): string {
  return OWNERS[provider] ?? provider;
}

/** Returns the names of the providers of the catalog. */
export function listProviders(): readonly string[] {
  return Object.keys(PROVIDERS);
}

/** Finds how a provider is reached, or how a mode of it is that has an address of its own. */
export function findProvider(provider: string, mode?: KnownMode): Provider | undefined {
  const owner = ownerOf(provider);
  const own = mode && findOtherAddress(owner, mode);
  return own ?? (Object.hasOwn(PROVIDERS, owner) ? PROVIDERS[owner] : undefined);
}

/** Returns the address of a mode that the provider does not serve at its usual one. */
export function findOtherAddress(provider: string, mode: KnownMode): Provider | undefined {
  return Object.hasOwn(OTHER_ADDRESSES, provider) ? OTHER_ADDRESSES[provider]?.[mode] : undefined;
}

/** Returns the members of a new upstream in YAML. The address of its protocol need not be written. */
export function upstreamOf(
  provider: string,
  mode?: KnownMode,
): Readonly<Record<string, string | boolean>> | undefined {
  const found = findProvider(provider, mode);
  if (!found) return undefined;
  const isDefault = provider === found.protocol;
  return {
    protocol: found.protocol,
    ...(isDefault || found.baseUrl === undefined ? {} : { base_url: found.baseUrl }),
    ...found.settings,
  };
}

/** Providers that OpenTelemetry's conventions name otherwise than the catalog does. */
const CONVENTIONAL: Readonly<Record<string, string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

/**
 * Returns the `gen_ai.provider.name` of an upstream: its provider, and that of its protocol for an unknown host.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai/
 */
export function conventionalProvider(protocol: string, baseUrl: string | undefined): string {
  const provider = providerBehind(protocol, baseUrl) ?? protocol;
  return CONVENTIONAL[provider] ?? provider;
}

/** Returns the provider behind an upstream: by the host of its address, else by its protocol's own name. */
export function providerBehind(protocol: string, baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined) return Object.hasOwn(PROVIDERS, protocol) ? protocol : undefined;
  const host = URL.parse(baseUrl)?.host;
  const others = Object.entries(OTHER_ADDRESSES).flatMap(([name, byMode]) =>
    Object.values(byMode).map((provider) => [name, provider] as const),
  );
  const found = [...Object.entries(PROVIDERS), ...others].find(
    ([, provider]) =>
      provider.protocol === protocol && provider.baseUrl && URL.parse(provider.baseUrl)?.host === host,
  );
  const isCompatible = protocol === "openai" || protocol === "anthropic";
  return found?.[0] ?? (isCompatible || !Object.hasOwn(PROVIDERS, protocol) ? undefined : protocol);
}
