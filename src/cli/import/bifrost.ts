import { convertRoutes, type ForeignRoute } from "./foreign-routes.ts";
import type { ConvertedConfig } from "./litellm-config.ts";
import { isRow } from "./litellm-facts.ts";
import { type CloudTarget, readCloud } from "./providers.ts";
import { isFilled, listOf, numberOf, type Row, textOf } from "./table.ts";

/** Parts of `governance` that bound callers. */
const GOVERNANCE = [
  "virtual_keys",
  "budgets",
  "rate_limits",
  "model_configs",
  "routing_rules",
  "teams",
  "customers",
];
const READ_KEYS = ["$schema", "providers", "governance"];

/**
 * Converts a `config.json` of Bifrost: each key with its models becomes routes. Clients keep names such as
 * "openai/gpt-4.1".
 * @see https://docs.getbifrost.ai/deployment-guides/config-json
 */
export function convertBifrost(config: Row): ConvertedConfig {
  const problems: string[] = [];
  const notes: string[] = [];
  const providers = readProviders(config.providers);
  if (providers.length === 0)
    problems.push("providers: has none, as a configuration in its database has not");
  const routes = providers.flatMap(([provider, entry]) => readProvider(provider, entry));
  const governance = isRow(config.governance) ? config.governance : {};
  for (const name of GOVERNANCE) {
    if (isFilled(governance[name]))
      problems.push(`governance.${name}: create accounts, keys and limits for them`);
  }
  const ignored = Object.keys(config).filter((key) => !READ_KEYS.includes(key));
  if (ignored.length > 0) notes.push(`Settings without a counterpart: ${ignored.join(", ")}.`);
  return convertRoutes(routes, { problems, notes });

  function readProvider(provider: string, { keys, network_config: network }: Row): readonly ForeignRoute[] {
    const root = textOf(isRow(network) ? network.base_url : undefined);
    // Bifrost adds the version to the address itself.
    const baseUrl =
      root && provider !== "anthropic" && !/\/v\d/.test(root) ? `${root.replace(/\/$/, "")}/v1` : root;
    const entries = Array.isArray(keys) ? keys.filter(isRow) : [];
    if (entries.length === 0) problems.push(`providers.${provider}: has no keys`);
    const used = entries.filter(({ enabled }) => enabled !== false);
    return entries.flatMap((key, index) => {
      const place = `providers.${provider}.keys[${index}]`;
      if (!used.includes(key)) {
        notes.push(`${place}: is switched off, and left out.`);
        return [];
      }
      const weight = used.length > 1 ? (numberOf(key.weight) ?? 1) : undefined;
      return readModels(place, provider, key).map(([model, target]): ForeignRoute => {
        const cloud = readKeyCloud(provider, target, key);
        if (cloud?.note && !notes.includes(cloud.note)) notes.push(cloud.note);
        const name = `${provider}/${model}`;
        const facts = { name, provider, model: target, alias: model, weight, cloud };
        return {
          place: `${place} ${model}`,
          ...facts,
          baseUrl: cloud ? undefined : baseUrl,
          key: keyOf(key),
        };
      });
    });
  }

  /** Returns the models of a key: the name for clients, and the name at the provider. */
  function readModels(place: string, provider: string, key: Row): readonly (readonly [string, string])[] {
    const { deployments } = { deployments: undefined, ...cloudConfig(provider, key) };
    const targets: Row = { ...Object(deployments), ...Object(key.aliases) };
    const named = listOf(key.models);
    const isOpen = named.length === 0 || named.includes("*");
    const blocked = listOf(key.blacklisted_models);
    if (isOpen) {
      const all = "serves every model: add those in use with bun tollgate models add";
      problems.push(`${place}: ${all}${Object.keys(targets).length > 0 ? ", beside its aliases" : ""}`);
    }
    return (isOpen ? Object.keys(targets) : named)
      .filter((model) => !blocked.includes(model))
      .map((model) => [model, textOf(targets[model]) ?? model] as const);
  }
}

/** The file has providers by name; the answer of its API has a list. */
function readProviders(providers: unknown): readonly (readonly [string, Row])[] {
  const entries = Array.isArray(providers)
    ? providers.map((each) => [textOf(isRow(each) ? each.name : undefined) ?? "", each])
    : Object.entries(isRow(providers) ? providers : {});
  return entries.filter((entry): entry is [string, Row] => isRow(entry[1]));
}

/** A setting is a text, or an object of the API with the text or the variable. */
function settingOf(setting: unknown): string | undefined {
  return isRow(setting) ? (textOf(setting.env_var) ?? textOf(setting.value)) : textOf(setting);
}

function keyOf(key: Row): string | undefined {
  return settingOf(key.value);
}

function cloudConfig(provider: string, key: Row): Row {
  const config = key[`${provider}_key_config`];
  return isRow(config) ? config : {};
}

/** Reads the address and the credentials of a cloud, with the reader of LiteLLM's names for them. */
function readKeyCloud(provider: string, model: string, key: Row): CloudTarget | undefined {
  const config = cloudConfig(provider, key);
  const setting = (name: string) => settingOf(config[name]);
  switch (provider) {
    case "azure": {
      const entra = { tenant_id: setting("tenant_id"), client_id: setting("client_id") };
      return readCloud("azure", model, { api_base: setting("endpoint"), api_key: keyOf(key), ...entra });
    }
    case "bedrock": {
      const own = { aws_access_key_id: setting("access_key"), aws_role_name: setting("role_arn") };
      return readCloud("bedrock", model, { aws_region_name: setting("region"), api_key: keyOf(key), ...own });
    }
    case "vertex": {
      const place = { vertex_project: setting("project_id"), vertex_location: setting("region") };
      // Bifrost names the publisher in front of a model.
      const name = model.replace(/^(google|anthropic)\//, "");
      return readCloud("vertex_ai", name, { ...place, vertex_credentials: setting("auth_credentials") });
    }
    default:
      return undefined;
  }
}
