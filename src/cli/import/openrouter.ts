import { readKnownModels } from "../../catalog/known-models.ts";
import { catalogProvider, convertRoutes, type ForeignRoute, findForeignSlug } from "./foreign-routes.ts";
import type { ConvertedConfig } from "./litellm-config.ts";
import type { UsedModel } from "./usage-money.ts";

const UPSTREAM = {
  protocol: "openai",
  base_url: "https://openrouter.ai/api/v1",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the file.
  api_key: "${OPENROUTER_API_KEY}",
};

export interface OpenrouterOptions {
  /** Sends requests to the providers themselves, with keys of one's own. Default: to OpenRouter. */
  readonly direct?: boolean;
}

/** Converts the models of an activity export. Clients keep their names, such as "openai/gpt-4.1". */
export function convertOpenrouter(
  usage: readonly UsedModel[],
  { direct = false }: OpenrouterOptions,
): ConvertedConfig {
  const known = readKnownModels();
  const used = usage.map(({ model }) => ({ slug: model, found: findForeignSlug(known, model) }));
  const problems = used
    .filter(({ found }) => !found)
    .map(({ slug }) => `${slug}: is not in the catalog: write its price and limits`);
  const ready = used.flatMap(({ slug, found }) => (found ? [{ slug, found, name: nameOf(slug) }] : []));
  const parts = { problems, notes: [] };
  if (!direct) {
    const models = ready.map(({ found, name }) => {
      return [name, { known: found.id, routes: [{ upstream: "openrouter", model: name }] }] as const;
    });
    const upstreams = models.length > 0 ? { openrouter: UPSTREAM } : {};
    const notes = ["Prices are those of the provider itself: OpenRouter may charge another one."];
    return { ...parts, notes, upstreams, models: Object.fromEntries(models) };
  }
  const routes = ready.map(({ slug, found, name }): ForeignRoute => {
    const provider = catalogProvider(slug.slice(0, slug.indexOf("/")));
    return { place: slug, name, provider, model: found.id.slice(found.id.indexOf("/") + 1) };
  });
  const byName = [...new Map(routes.map((route) => [route.name, route])).values()];
  return convertRoutes(byName, parts);
}

/** The name that clients use, without the date that the activity adds. */
function nameOf(slug: string): string {
  return slug.replace(/-(20\d{6}|20\d\d-\d\d-\d\d)$/, "");
}
