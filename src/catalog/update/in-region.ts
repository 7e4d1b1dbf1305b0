import type { KnownModel } from "../known-models.ts";

/** Geographies of Bedrock's inference profiles whose costs are those of a single region too. */
const GEOGRAPHIES = ["us", "eu", "au", "jp", "apac"];

/**
 * Gives Bedrock's bare ids the costs of a geography where only the global profile is cheaper: the list has the
 * global cost for both, but a request in one region costs as much as one in its geography.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/claude-in-amazon-bedrock#regions
 */
export function withInRegionCosts(models: readonly KnownModel[]): readonly KnownModel[] {
  const byId = new Map(models.map((model) => [model.id, model]));
  return models.map((model) => {
    const [provider, name = ""] = model.id.split("/");
    const global = byId.get(`bedrock/global.${name}`);
    if (provider !== "bedrock" || !global || !Bun.deepEquals(global.cost, model.cost)) return model;
    const geography = GEOGRAPHIES.map((prefix) => byId.get(`bedrock/${prefix}.${name}`)).find(Boolean);
    if (!geography?.cost) return model;
    const { cost, long } = geography;
    return { ...model, cost, ...(long ? { long } : {}) };
  });
}
