import { findProvider } from "../../catalog/providers.ts";
import type { Protocol } from "../../domain/model.ts";
import { type Row, textOf } from "./table.ts";

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
interface SplitModel {
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

/** A model of a cloud, as an upstream and its name there. */
export interface CloudTarget {
  /** Members of the upstream, without its key. */
  readonly settings: Readonly<Record<string, string | boolean>> & { readonly protocol: string };
  /** The variable of the key that LiteLLM reads; `undefined` where the provider's credentials serve. */
  readonly keyVariable: string | undefined;
  readonly model: string;
  readonly catalogName: string;
  /** What the operator has to do. */
  readonly note?: string;
}

type ReadTarget = (model: string, params: Row) => CloudTarget;

/** Models of the clouds by LiteLLM's prefix. @see https://docs.litellm.ai/docs/providers */
const CLOUDS: Readonly<Record<string, ReadTarget>> = {
  azure: readAzure,
  bedrock: readBedrock,
  gemini: (model) => ({
    settings: { protocol: "gemini" },
    keyVariable: "GEMINI_API_KEY",
    model,
    catalogName: "gemini",
  }),
  vertex_ai: readVertex,
};

/** Reads an entry of a cloud. Returns `undefined` for other providers. No credential is in the result. */
export function readCloud(provider: string, model: string, params: Row): CloudTarget | undefined {
  return Object.hasOwn(CLOUDS, provider) ? CLOUDS[provider]?.(model, params) : undefined;
}

/** Converts "os.environ/NAME" of LiteLLM, "env.NAME" of Bifrost and "${NAME}" to a placeholder. */
export function placeholderOf(text: string): string | undefined {
  const [, litellm, bifrost, plain] =
    /^(?:os\.environ\/([A-Za-z_]\w*)|env\.([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\})$/.exec(text) ?? [];
  const name = litellm ?? bifrost ?? plain;
  return name && placeholder(name);
}

/** Prints the placeholder of a variable, as tollgate.yaml has it. */
function placeholder(name: string): string {
  return `\${${name}}`;
}

function settingOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text && (placeholderOf(text) ?? text);
}

/** `api_version` is left out: the v1 form needs none. */
function readAzure(model: string, params: Row): CloudTarget {
  const base = settingOf(params.api_base) ?? settingOf(params.base_url);
  const base_url = base ?? placeholder("AZURE_API_BASE");
  const isEntra =
    !params.api_key && [params.tenant_id, params.client_id, params.azure_ad_token].some(Boolean);
  return {
    settings: { protocol: "azure", base_url, ...(isEntra ? { entra: true } : {}) },
    keyVariable: isEntra ? undefined : "AZURE_API_KEY",
    model,
    catalogName: "azure",
    ...(isEntra ? { note: "Azure: set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET." } : {}),
  };
}

/** The model may have the API, and a region of AWS, in front. */
function readBedrock(text: string, params: Row): CloudTarget {
  const [, api, place, model = text] =
    /^(?:(invoke|converse)\/)?(?:([a-z]{2,3}(?:-[a-z]+)+-\d)\/)?(.+)$/.exec(text) ?? [];
  const region = place ?? settingOf(params.aws_region_name) ?? placeholder("AWS_REGION");
  const profile = settingOf(params.aws_profile_name);
  return {
    settings: { protocol: "bedrock", region, ...(profile ? { profile } : {}), ...(api ? { api } : {}) },
    keyVariable: params.api_key ? "AWS_BEARER_TOKEN_BEDROCK" : undefined,
    model,
    catalogName: "bedrock",
    ...(params.aws_access_key_id || params.aws_role_name
      ? { note: "Bedrock: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a profile or a role." }
      : {}),
  };
}

/** LiteLLM's own location is us-central1. */
function readVertex(model: string, params: Row): CloudTarget {
  const project = settingOf(params.vertex_project) ?? placeholder("VERTEXAI_PROJECT");
  return {
    settings: { protocol: "vertex", project, location: settingOf(params.vertex_location) ?? "us-central1" },
    keyVariable: undefined,
    model,
    catalogName: "vertex",
    ...(params.vertex_credentials
      ? { note: "Vertex AI: set GOOGLE_APPLICATION_CREDENTIALS to the credentials file." }
      : {}),
  };
}
