import type { KnownClasses, KnownModel } from "../../catalog/known-models.ts";
import { printScaled } from "../../catalog/update/decimals.ts";
import { parsePrice } from "../../domain/money.ts";
import { isFilled, listOf, numberOf, type Row } from "./table.ts";

/** What a model costs and can take. */
export interface Facts {
  /** Id of the known model that has these facts. */
  readonly known?: string;
  readonly context_window: number;
  readonly max_output_tokens: number;
  readonly price: KnownClasses;
}

/** Whether one of the sources states a price. */
export function hasPrice(sources: readonly Row[]): boolean {
  return sources.some(({ input_cost_per_token: cost }) => numberOf(cost) !== undefined);
}

/** Reads the facts of a known model, as the configuration fills them in. */
export function readKnownFacts(known: KnownModel | undefined): Facts | undefined {
  const { mode, cost, context_window: window, max_output_tokens: output = 0 } = known ?? {};
  if (!known || !cost || !window || (mode !== "chat" && mode !== "embedding")) return undefined;
  return { known: known.id, context_window: window, max_output_tokens: output, price: cost };
}

/** Returns the limits of a known model as a source, for an entry that has a price of its own and no limits. */
export function limitsOf(known: KnownModel | undefined): Row {
  if (!known) return {};
  const { context_window, max_output_tokens, mode } = known;
  return { max_input_tokens: context_window, max_output_tokens, mode };
}

/** Finds the row of the price table by the whole name, then by the provider's. */
export function findPrices(knownPrices: Row, target: string, model: string): Row {
  return [target, model].map((name) => knownPrices[name]).find(isRow) ?? {};
}

const PRICE_MEMBERS = [
  "input_cost_per_token",
  "output_cost_per_token",
  "cache_read_input_token_cost",
  "cache_creation_input_token_cost",
] as const;

/**
 * Reads prices and token limits from the first source that has each. Returns as text what is missing, or no number: a
 * later source does not replace what is written wrong.
 */
export function readFacts(sources: readonly Row[]): Facts | string {
  const find = (name: string) =>
    sources.map((source) => numberOf(source[name])).find((value) => value !== undefined);
  const priceOf = (name: (typeof PRICE_MEMBERS)[number]) => printPrice(find(name));
  const wrong = PRICE_MEMBERS.find((name) => find(name) !== undefined && priceOf(name) === undefined);
  if (wrong) return `has a price that is no amount: ${wrong}`;
  const isEmbedding = sources.some(({ mode }) => mode === "embedding");
  const input = priceOf("input_cost_per_token");
  const output = priceOf("output_cost_per_token") ?? (isEmbedding ? input : undefined);
  if (input === undefined) return "has no price: input_cost_per_token is missing";
  if (output === undefined) return "has no price: output_cost_per_token is missing";
  const cached = priceOf("cache_read_input_token_cost");
  const write = priceOf("cache_creation_input_token_cost");
  const window = find("max_input_tokens") ?? find("max_tokens");
  const outputTokens = isEmbedding ? 0 : (find("max_output_tokens") ?? find("max_tokens"));
  if (!window || outputTokens === undefined)
    return "has no token limits: max_input_tokens or max_output_tokens is missing";
  if (![window, outputTokens].every(isCount))
    return "has token limits that are no whole numbers: max_input_tokens or max_output_tokens";
  return {
    context_window: Math.max(window, outputTokens),
    max_output_tokens: outputTokens,
    price: {
      input,
      output,
      ...(cached === undefined ? {} : { cached_input: cached }),
      ...(write === undefined ? {} : { cache_write: write }),
    },
  };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** Converts USD per token to USD per million tokens, rounded up; `undefined` for what is no price. */
function printPrice(usdPerToken = Number.NaN): string | undefined {
  try {
    const text = printScaled(usdPerToken, 1_000_000, 6);
    parsePrice(text);
    return text;
  } catch {
    return undefined;
  }
}

/** Whether a value is a mapping. */
export function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Members of an entry that are read, or that change neither who may use a model nor what it costs. */
const READ = new Set([
  ...["model", "api_key", "api_base", "base_url", "api_version", "weight", "order", "rpm", "tpm"],
  ...["tenant_id", "client_id", "client_secret", "azure_ad_token"],
  ...["aws_region_name", "aws_profile_name", "aws_role_name", "aws_session_name"],
  ...["aws_access_key_id", "aws_secret_access_key", "aws_session_token"],
  ...["vertex_project", "vertex_location", "vertex_credentials"],
  ...["input_cost_per_token", "output_cost_per_token"],
  ...["cache_read_input_token_cost", "cache_creation_input_token_cost"],
  ...["max_tokens", "max_input_tokens", "max_output_tokens", "mode", "base_model"],
  ...["id", "key", "db_model", "litellm_provider", "description", "created_at", "updated_at"],
]);

/**
 * Members that bound who may use a model or what it costs, and other prices. A model without them would be open
 * to more callers, or cheaper, than it was.
 */
const BOUND =
  /^(team_id|team_public_model_name|access_groups|blocked|tags|max_budget|budget_duration|custom_llm_provider|tiered_pricing)$|_cost_|_cost$|^cost_/;

/** What an entry of `model_list` has beside the members that are read. */
interface LostMembers {
  /** Members without which the model must not be imported. */
  readonly bounds: readonly string[];
  readonly others: readonly string[];
}

/** Finds the members of an entry that have no counterpart. Abilities are facts of the catalog. */
export function findLostMembers({ litellm_params: params, model_info: info }: Row): LostMembers {
  const members = [params, info].filter(isRow).flatMap((part) => Object.entries(part));
  const lost = members.filter(
    ([name, value]) => !READ.has(name) && !name.startsWith("supports_") && isFilled(value),
  );
  const names = [...new Set(lost.map(([name]) => name))];
  return {
    bounds: names.filter((name) => BOUND.test(name)),
    others: names.filter((name) => !BOUND.test(name)),
  };
}

/** Settings that bound who may call the proxy, or what callers may send or spend, by their section. */
const BOUNDING_SETTINGS: Readonly<Record<string, readonly string[]>> = {
  general_settings: [
    ...["allowed_ips", "allowed_routes", "admin_only_routes", "enforced_params", "enforce_user_param"],
    ...["max_parallel_requests", "global_max_parallel_requests", "max_request_size_mb", "custom_auth"],
  ],
  litellm_settings: [
    ...["max_budget", "budget_duration", "max_end_user_budget", "max_internal_user_budget"],
    ...["internal_user_budget_duration", "default_internal_user_params", "default_team_params"],
    ...["default_team_settings", "upperbound_key_generate_params", "default_key_generate_params"],
    ...["guardrails", "tag_budget_config"],
  ],
  router_settings: ["provider_budget_config", "enable_tag_filtering"],
};
/** Sections that bound what callers may send, as a whole. */
const BOUNDING_SECTIONS = ["guardrails", "policies"];

/** Returns the settings of the whole proxy that bound its callers and have no counterpart, each as a problem. */
export function findLostSettings(config: Row): readonly string[] {
  const settings = Object.entries(BOUNDING_SETTINGS).flatMap(([section, names]) => {
    const members = config[section];
    const filled = isRow(members) ? names.filter((name) => isFilled(members[name])) : [];
    return filled.map((name) => `${section}.${name}`);
  });
  const sections = BOUNDING_SECTIONS.filter((name) => isFilled(config[name]));
  return [...settings, ...sections].map((name) => `${name}: has no counterpart here`);
}

/** Settings of fallbacks without a counterpart. */
const OTHER_FALLBACKS = ["default_fallbacks", "context_window_fallbacks", "content_policy_fallbacks"];

/** Returns the settings of fallbacks that have no counterpart, each as a problem. */
export function findOtherFallbacks({
  litellm_settings: settings,
  router_settings: router,
}: Row): readonly string[] {
  const sections = [settings, router].filter(isRow);
  const found = OTHER_FALLBACKS.filter((name) => sections.some((section) => isSet(section[name])));
  return found.map((name) => `${name}: has no counterpart, write routes for it`);
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

/** Reads the fallbacks of models. */
export function readFallbacks({ litellm_settings: settings, router_settings: router }: Row) {
  const lists = [settings, router].filter(isRow).flatMap(({ fallbacks }) => fallbacks);
  const pairs = lists.filter(isRow).flatMap((each) => Object.entries(each));
  return new Map(pairs.map(([name, list]) => [name, listOf(list)] as const));
}
