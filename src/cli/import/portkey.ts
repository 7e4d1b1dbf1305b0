import { convertRoutes, type ForeignRoute } from "./foreign-routes.ts";
import type { ConvertedConfig } from "./litellm-config.ts";
import { isRow } from "./litellm-facts.ts";
import { isFilled, numberOf, objectOf, type Row, textOf } from "./table.ts";

/** Members of a config or a target that bound what callers may send. */
const BOUNDS = ["before_request_hooks", "after_request_hooks", "input_guardrails", "output_guardrails"];
/** Members without a counterpart, which bound nothing. */
const OTHERS = ["cache", "retry", "request_timeout", "forward_headers"];

/**
 * Converts a config of Portkey: targets of a fallback become priorities, those of a load balancer weights. Clients name
 * the model of the first target.
 * @see https://portkey.ai/docs/product/ai-gateway/configs
 */
export function convertPortkey(document: Row): ConvertedConfig {
  const config = readConfig(document);
  const problems: string[] = [];
  const notes: string[] = [];
  const targets = readTargets(config, "config", { problems, notes });
  const [first] = targets.flatMap(({ model }) => (model === undefined ? [] : [model]));
  const routes = targets.flatMap(({ place, target, model, priority, weight }): readonly ForeignRoute[] => {
    const provider = textOf(target.provider);
    if (model === undefined) problems.push(`${place}: names no model, which override_params.model does`);
    else if (!provider && !model.startsWith("@"))
      problems.push(`${place}: names no provider, as virtual keys do not`);
    else if (!provider || provider.startsWith("@"))
      problems.push(
        `${place}: names a provider of Portkey's catalog: write the provider's own name, such as openai`,
      );
    else {
      const key = textOf(target.api_key);
      const baseUrl = textOf(target.custom_host);
      return [{ place, name: first ?? model, provider, model, key, baseUrl, priority, weight }];
    }
    return [];
  });
  return convertRoutes(routes, { problems, notes });
}

/** An export of the API has the config beside its name, also as text, or in `data`. */
function readConfig(document: Row): Row {
  const outer = objectOf(document.data) ?? document;
  return objectOf(outer.config) ?? outer;
}

interface FoundTarget {
  readonly place: string;
  readonly target: Row;
  readonly model: string | undefined;
  readonly priority: number | undefined;
  readonly weight: number | undefined;
}

interface Found {
  readonly problems: string[];
  readonly notes: string[];
}

function readTargets(config: Row, place: string, found: Found): readonly FoundTarget[] {
  reportLost(config, place, found);
  const { strategy } = config;
  // Configs of before 2024 have `options` and `mode`.
  const targets = config.targets ?? config.options;
  if (!Array.isArray(targets)) return [readTarget(config, place)];
  const mode = textOf(isRow(strategy) ? strategy.mode : config.mode) ?? "single";
  if (!["single", "fallback", "loadbalance"].includes(mode)) {
    found.problems.push(`${place}.strategy: ${mode} has no counterpart`);
    return [];
  }
  return targets.filter(isRow).flatMap((target, index) => {
    const at = `${place}.targets[${index}]`;
    if (Array.isArray(target.targets)) {
      found.problems.push(`${at}: has targets of its own, which have no counterpart`);
      return [];
    }
    reportLost(target, at, found);
    const weight = mode === "loadbalance" ? (numberOf(target.weight) ?? 1) : undefined;
    return [{ ...readTarget(target, at), weight, priority: mode === "fallback" ? index + 1 : undefined }];
  });
}

function readTarget(target: Row, place: string): FoundTarget {
  const { override_params: params } = target;
  const model = textOf(isRow(params) ? params.model : undefined);
  return { place, target, model, priority: undefined, weight: undefined };
}

function reportLost(part: Row, place: string, { problems, notes }: Found): void {
  for (const name of BOUNDS)
    if (isFilled(part[name])) problems.push(`${place}.${name}: has no counterpart here`);
  for (const name of OTHERS) if (isFilled(part[name])) notes.push(`${place}.${name}: is left out.`);
}
