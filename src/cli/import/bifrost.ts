import { convertRoutes, type ForeignRoute } from "./foreign-routes.ts";
import type { ConvertedConfig } from "./litellm-config.ts";
import { isRow } from "./litellm-facts.ts";
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
  const providers = isRow(config.providers) ? Object.entries(config.providers) : [];
  if (providers.length === 0)
    problems.push("providers: has none, as a configuration in its database has not");
  const routes = providers.flatMap(([provider, entry]) =>
    isRow(entry) ? readProvider(provider, entry) : [],
  );
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
    return entries.flatMap((key, index) => {
      const place = `providers.${provider}.keys[${index}]`;
      const models = listOf(key.models);
      if (models.length === 0 || models.includes("*")) {
        problems.push(`${place}: serves every model: add those in use with bun tollgate models add`);
        return [];
      }
      const weight = entries.length > 1 ? numberOf(key.weight) : undefined;
      const value = isRow(key.value) ? (textOf(key.value.env_var) ?? key.value.value) : key.value;
      return models.map((model) => {
        const name = `${provider}/${model}`;
        return { place: `${place} ${model}`, name, provider, model, baseUrl, key: textOf(value), weight };
      });
    });
  }
}
