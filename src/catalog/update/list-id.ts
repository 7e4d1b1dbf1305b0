import { type ListEntry, textIn } from "./list-cost.ts";

/** Where a model of the list belongs in the catalog. */
export interface ListId {
  readonly id: string;
  /** The provider's name of the model, where it is not the id behind its first slash. */
  readonly model?: string;
  /** The size, and the quality behind it, that the entry has the price of: "1024x1024 high". */
  readonly imageSize?: string;
}

/** The catalog's providers, by the list's. Others are left out. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "anthropic",
  azure: "azure",
  azure_ai: "azure_ai",
  bedrock: "bedrock",
  bedrock_converse: "bedrock",
  gemini: "gemini",
  "vertex_ai-anthropic_models": "vertex",
  "vertex_ai-language-models": "vertex",
  "vertex_ai-embedding-models": "vertex",
  cerebras: "cerebras",
  cohere: "cohere",
  cohere_chat: "cohere",
  deepseek: "deepseek",
  fireworks_ai: "fireworks",
  groq: "groq",
  jina_ai: "jina",
  mistral: "mistral",
  moonshot: "moonshot",
  openrouter: "openrouter",
  perplexity: "perplexity",
  together_ai: "together",
  voyage: "voyage",
  xai: "xai",
  zai: "zai",
};

/** Prefixes that the list adds to a provider's names. */
const PREFIX =
  /^(azure|azure_ai|bedrock|cerebras|cohere|deepseek|fireworks_ai|gemini|groq|mistral|moonshot|openai|openrouter|perplexity|together_ai|vertex_ai|voyage|xai|zai)\//;

/** Other ways of selling and calling a model, fine-tuned models, sizes in place of models, and resold models. */
const LEFT_OUT =
  /commitment|^(bedrock\/)?(invoke|converse|claude_platform)\/|^ft:|^(fireworks|together)-ai-|^perplexity\/(openai|anthropic|google|xai|perplexity|preset)\/|(container|model[_-]router)$/;

const IMAGE = /^(?:(azure)\/)?(?:([a-z]+)\/)?(\d+)-x-(\d+)\/([^/]+)$/;
/** Where the names of a cloud's regions and data zones stand in the list. */
const REGION: Readonly<Record<string, RegExp>> = {
  azure: /^(us|eu|apac|global|global-standard|us-gov)\/(.+)$/,
  bedrock: /^([a-z]{2}(?:-gov)?-[a-z]+-\d)\/(.+)$/,
};

/** Returns the place of an entry in the catalog, `undefined` for an entry that has none. */
export function readListId(key: string, entry: ListEntry): ListId | undefined {
  const provider = PROVIDERS[textIn(entry, "litellm_provider") ?? ""];
  if (!provider || LEFT_OUT.test(key)) return undefined;
  const [, , quality, width, height, image] = IMAGE.exec(key) ?? [];
  if (image) {
    const size = `${width}x${height}`;
    return { id: `${provider}/${image}`, imageSize: quality ? `${size} ${quality}` : size };
  }
  const name = key.replace(PREFIX, "");
  const [, , inRegion] = REGION[provider]?.exec(name) ?? [];
  if (!inRegion && provider === "bedrock" && name.includes("/")) return undefined;
  return { id: `${provider}/${name}`, ...(inRegion ? { model: inRegion } : {}) };
}
