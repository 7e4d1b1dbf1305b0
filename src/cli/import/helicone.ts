import { convertRoutes, type ForeignRoute } from "./foreign-routes.ts";
import type { ConvertedConfig } from "./litellm-config.ts";
import { isRow } from "./litellm-facts.ts";
import { listOf, numberOf, type Row, textOf } from "./table.ts";

const READ_KEYS = ["providers", "routers"];

/**
 * Converts an `ai-gateway-config.yaml` of Helicone. A router over models becomes a model of its name; the models that a
 * provider lists keep names such as "openai/gpt-4.1".
 * @see https://docs.helicone.ai/ai-gateway/config
 */
export function convertHelicone(config: Row): ConvertedConfig {
  const problems: string[] = [];
  const notes: string[] = [];
  const providers = isRow(config.providers) ? config.providers : {};
  const baseUrlOf = (provider: string) => {
    const entry = providers[provider];
    return isRow(entry) ? textOf(entry["base-url"]) : undefined;
  };
  const listed = Object.entries(providers).flatMap(([provider, entry]) =>
    listOf(isRow(entry) ? entry.models : undefined).map((model): ForeignRoute => {
      const place = `providers.${provider} ${model}`;
      return { place, name: `${provider}/${model}`, provider, model, baseUrl: baseUrlOf(provider) };
    }),
  );
  const routers = isRow(config.routers) ? Object.entries(config.routers) : [];
  const routed = routers.flatMap(([name, router]) => (isRow(router) ? readRouter(name, router) : []));
  if (listed.length + routed.length === 0) problems.push("the file: names no model");
  const ignored = Object.keys(config).filter((key) => !READ_KEYS.includes(key));
  if (ignored.length > 0) notes.push(`Settings without a counterpart: ${ignored.join(", ")}.`);
  return convertRoutes([...listed, ...routed], { problems, notes });

  function readRouter(name: string, router: Row): readonly ForeignRoute[] {
    const place = `routers.${name}`;
    if (router["rate-limit"] !== undefined)
      problems.push(`${place}.rate-limit: limits are set on keys and accounts`);
    if (router.cache !== undefined) notes.push(`${place}.cache: is left out.`);
    const balance = isRow(router["load-balance"]) ? router["load-balance"] : {};
    return Object.values(balance)
      .filter(isRow)
      .flatMap(({ strategy, models }) => {
        if (!Array.isArray(models)) {
          problems.push(
            `${place}: names providers and no models: add those in use with bun tollgate models add`,
          );
          return [];
        }
        if (/latency/.test(textOf(strategy) ?? ""))
          notes.push(`${place}: choose: fastest is its counterpart.`);
        return models.map((entry, index) => readModel(name, `${place}.models[${index}]`, entry));
      });
  }

  function readModel(name: string, place: string, entry: unknown): ForeignRoute {
    const slug = textOf(isRow(entry) ? entry.model : entry) ?? "";
    const slash = slug.indexOf("/");
    const provider = slug.slice(0, Math.max(slash, 0));
    const weight = isRow(entry) ? numberOf(entry.weight) : undefined;
    return { place, name, provider, model: slug.slice(slash + 1), baseUrl: baseUrlOf(provider), weight };
  }
}
