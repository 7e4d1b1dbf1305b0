import { isPrivateHost } from "../domain/addresses.ts";
import type { Protocol } from "../domain/model.ts";
import type { Problems } from "./problems.ts";
import type { Partly, UpstreamEntry } from "./schema.ts";

/** The built-in upstream. Routes may name it, the file may not define it. */
export const DEMO_UPSTREAM = "demo";

/** The location of an upstream on Vertex AI without one. */
export const GLOBAL_LOCATION = "global";

/** The keys of an upstream that only some protocols have. */
const PROTOCOL_KEYS = [
  "api_key",
  "responses",
  "default_tier",
  "anthropic_betas",
  "anthropic_beta_names",
  "api_version",
  "entra",
  "entra_scope",
  "region",
  "profile",
  "api",
  "project",
  "location",
  "credentials",
] as const;

type ProtocolKey = (typeof PROTOCOL_KEYS)[number];

/** What the entry of an upstream needs and may have, by its protocol. */
interface ProtocolRule {
  /** The base URL of an entry without one; `undefined` where the entry must have it. */
  readonly baseUrl: ((entry: Partly<UpstreamEntry>) => string | undefined) | undefined;
  readonly required: readonly ProtocolKey[];
  readonly optional: readonly ProtocolKey[];
}

const PROTOCOL_RULES: Readonly<Record<Protocol, ProtocolRule>> = {
  openai: {
    baseUrl: () => "https://api.openai.com/v1",
    required: ["api_key"],
    optional: ["responses", "default_tier"],
  },
  anthropic: {
    baseUrl: () => "https://api.anthropic.com",
    required: ["api_key"],
    optional: ["default_tier", "anthropic_betas"],
  },
  azure: {
    baseUrl: undefined,
    required: [],
    optional: ["api_key", "responses", "default_tier", "api_version", "entra", "entra_scope"],
  },
  bedrock: {
    baseUrl: ({ region }) => region && bedrockUrl(region),
    required: ["region"],
    optional: ["api_key", "profile", "api", "anthropic_betas", "anthropic_beta_names"],
  },
  gemini: {
    baseUrl: () => "https://generativelanguage.googleapis.com/v1beta",
    required: ["api_key"],
    optional: [],
  },
  vertex: {
    baseUrl: vertexUrlOf,
    required: ["project"],
    optional: ["location", "credentials", "anthropic_betas", "anthropic_beta_names"],
  },
};

const EXPECTED: Readonly<Partial<Record<ProtocolKey, string>>> = {
  api_key: "a key without spaces or line breaks",
  region: "a region of AWS such as us-east-1",
  project: "the id of a Google Cloud project",
};

/** @see https://docs.aws.amazon.com/general/latest/gr/bedrock.html */
function bedrockUrl(region: string): string {
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://bedrock-runtime.${region}.${domain}`;
}
/** The names of upstreams and keys, which are labels of metrics. */
const NAME = /^\w[\w.-]{0,63}$/;
const NAME_EXPECTED = "1 to 64 letters, digits, dots, dashes and underscores";

/** Reports problems of one upstream: its name, its base URL, and keys that its protocol needs or lacks. */
export function checkUpstream(name: string, upstream: Partly<UpstreamEntry>, problems: Problems): void {
  const path = ["upstreams", name];
  if (name === DEMO_UPSTREAM) problems.add(path, "is the name of the built-in upstream", "another name");
  if (!NAME.test(name)) problems.add(path, "is not a valid upstream name", NAME_EXPECTED);
  if (upstream.protocol) checkProtocolKeys(path, upstream, upstream.protocol, problems);
  if (upstream.protocol === "azure") checkAzureKeys(path, upstream, problems);
  checkPool(path, upstream, problems);
  const problem = upstream.base_url === undefined ? undefined : findBaseUrlProblem(upstream.base_url);
  if (problem) problems.add([...path, "base_url"], ...problem);
  if (upstream.credentials !== undefined && !isCredentials(upstream.credentials)) {
    const expected = "the JSON of a service account or of a workload identity";
    problems.add([...path, "credentials"], "is no JSON of Google Cloud credentials", expected);
  }
}

/** Returns whether a text is what a credentials file holds: its type decides how a token is asked for. */
function isCredentials(text: string): boolean {
  try {
    const { type } = Object(JSON.parse(text));
    return type === "service_account" || type === "external_account";
  } catch {
    return false;
  }
}

/**
 * Returns the base URL of a location: a region, a multi-region, or all of them.
 *
 * @see https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
 */
function vertexUrlOf({ location = GLOBAL_LOCATION }: Partly<UpstreamEntry>): string {
  if (location === GLOBAL_LOCATION) return "https://aiplatform.googleapis.com";
  return location.includes("-")
    ? `https://${location}-aiplatform.googleapis.com`
    : `https://aiplatform.${location}.rep.googleapis.com`;
}

/** Checks that a pool of keys stands alone, where its protocol has API keys, and its labels. */
function checkPool(path: readonly string[], upstream: Partly<UpstreamEntry>, problems: Problems): void {
  const { keys, protocol } = upstream;
  if (!keys) return;
  const place = [...path, "keys"];
  const rule = protocol && PROTOCOL_RULES[protocol];
  if (rule && ![...rule.required, ...rule.optional].includes("api_key")) {
    problems.add(place, "is not supported by that protocol", "no such key");
  }
  if (Object.hasOwn(upstream, "api_key")) problems.add(place, "is set beside api_key", "one of the two");
  for (const label of Object.keys(keys)) {
    if (!NAME.test(label)) problems.add([...place, label], "is not a valid label", NAME_EXPECTED);
  }
}

function checkProtocolKeys(
  path: readonly string[],
  upstream: Partly<UpstreamEntry>,
  protocol: Protocol,
  problems: Problems,
): void {
  const { baseUrl, required, optional } = PROTOCOL_RULES[protocol];
  // A member that does not fit the schema is undefined here, and already reported.
  const isMissing = (key: keyof UpstreamEntry) => !Object.hasOwn(upstream, key);
  if (isMissing("base_url") && !baseUrl) problems.add([...path, "base_url"], "is missing", "an https URL");
  for (const key of PROTOCOL_KEYS) {
    if (required.includes(key)) {
      const hasPool = key === "api_key" && !isMissing("keys");
      if (isMissing(key) && !hasPool) problems.add([...path, key], "is missing", EXPECTED[key] ?? "a value");
    } else if (upstream[key] && !optional.includes(key)) {
      const able = Object.entries(PROTOCOL_RULES).filter(([, rule]) =>
        [...rule.required, ...rule.optional].includes(key),
      );
      const expected = `protocol: ${able.map(([each]) => each).join(" or ")}, or no such key`;
      problems.add([...path, key], "is not supported by that protocol", expected);
    }
  }
}

/** The first version of Azure's deployments form that reports usage in streams. */
const API_VERSION_MIN = "2024-09-01-preview";

/** Checks that an upstream of Azure has one credential, and a version that reports all usage. */
function checkAzureKeys(path: readonly string[], upstream: Partly<UpstreamEntry>, problems: Problems): void {
  const { entra, entra_scope: scope, responses, api_version: version } = upstream;
  const hasKey = Object.hasOwn(upstream, "api_key");
  if (hasKey && entra) problems.add([...path, "entra"], "is set beside api_key", "one of the two");
  if (!hasKey && !entra) problems.add([...path, "api_key"], "is missing", "api_key, or entra: true");
  if (scope && !entra) problems.add([...path, "entra_scope"], "has no entra", "entra: true beside it");
  if (version === undefined) return;
  if (version < API_VERSION_MIN) {
    const expected = `${API_VERSION_MIN} or newer, or no such key for the v1 form`;
    problems.add([...path, "api_version"], "reports no usage in streams", expected);
  }
  if (responses) problems.add([...path, "responses"], "needs the v1 form", "no api_version");
}

/** Returns the base URL of a checked entry: its own, or that of its protocol. */
export function baseUrlOf(entry: UpstreamEntry): string {
  const baseUrl = entry.base_url ?? PROTOCOL_RULES[entry.protocol].baseUrl?.(entry);
  if (baseUrl === undefined) throw new Error("A checked upstream has a base URL");
  return baseUrl;
}

/** Returns what is wrong with an upstream's base URL and what is expected. Neither text quotes the URL. */
export function findBaseUrlProblem(text: string): readonly [wrong: string, expected: string] | undefined {
  const url = URL.parse(text);
  if (!url) return ["is not a URL", "one such as https://api.openai.com/v1"];
  if (url.username || url.password) return ["contains credentials", "them in api_key"];
  // Also an empty query or fragment, which is not in `search` or `hash`: it would swallow an appended path.
  if (/[?#]/.test(url.href)) return ["has a query or a fragment", "a URL that ends with its path"];
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:" && isPrivateHost(url.hostname)) return undefined;
  const wrong = url.protocol === "http:" ? "is not encrypted" : "has a scheme other than https and http";
  return [wrong, "https, or http on a loopback or private address"];
}
