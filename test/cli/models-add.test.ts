import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type KnownModel, readKnownModels } from "../../src/catalog/known-models.ts";
import { CommandError } from "../../src/cli/command.ts";
import { runModelsAdd } from "../../src/cli/models/add.ts";
import { loadConfig } from "../../src/config/config.ts";
import { describeKnownWarning, findKnownWarnings } from "../../src/config/warnings.ts";
import { tempFolder } from "../support/temp-folder.ts";

const folder = tempFolder();
const file = join(folder, "tollgate.yaml");
const before = Bun.env.TOLLGATE_CONFIG;
beforeAll(() => {
  Bun.env.TOLLGATE_CONFIG = file;
});
afterAll(() => {
  if (before === undefined) delete Bun.env.TOLLGATE_CONFIG;
  else Bun.env.TOLLGATE_CONFIG = before;
});

/** Values for every variable that a new upstream names. */
function environmentOf(variables: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {
    AWS_REGION: "us-east-1",
    AZURE_OPENAI_ENDPOINT: "https://acme.openai.azure.com",
    GOOGLE_CLOUD_PROJECT: "acme-1",
  };
  return Object.fromEntries(variables.map((name) => [name, values[name] ?? "k"]));
}

/** Adds models to a new file. Returns why they were refused, or the warnings of the command and those of a check. */
function addTogether(models: readonly KnownModel[]) {
  rmSync(file, { force: true });
  try {
    const ids = models.map(({ id }) => id);
    const { json } = runModelsAdd(ids, {});
    const { variables, warnings } = json as Record<"variables" | "warnings", readonly string[]>;
    const { known = [] } = loadConfig(environmentOf(variables), { folder });
    const found = findKnownWarnings(known, Date.now()).map(describeKnownWarning);
    return { warnings: sorted(warnings), found: sorted(found.map((line) => line.replace(/^\S+ /, ""))) };
  } catch (error) {
    if (error instanceof CommandError) return { refused: error.message };
    throw error;
  }
}

const sorted = (lines: readonly string[]) => [...new Set(lines)].sort();

/**
 * Adds models in groups, each of which is divided until no model is refused for another one. Returns why each was
 * refused that cannot even be added alone. A file for each model would take three times as long.
 */
function addAll(models: readonly KnownModel[], most: number): [id: string, reason: string][] {
  const groups = Array.from({ length: Math.ceil(models.length / most) }, (_, index) =>
    models.slice(index * most, (index + 1) * most),
  );
  return groups.flatMap((group) => {
    const { refused, warnings, found } = addTogether(group);
    if (refused === undefined) {
      expect(found).toEqual(warnings);
      return [];
    }
    if (group.length > 1) return addAll(group, Math.ceil(group.length / 2));
    return group.map(({ id }): [string, string] => [id, refused]);
  });
}

test("models add refuses each model of the catalog, or writes one that check accepts with the warnings given", () => {
  const refused = new Map(addAll(readKnownModels().list(), 16));
  const reasons = [...refused].filter(
    ([, reason]) => !/is of mode \w+, which|in Anthropic's format alone|has no such limit/.test(reason),
  );
  expect(reasons).toEqual([]);
  expect(refused.get("openai/gpt-image-1")).toContain("has no such limit");
  expect(refused.get("azure_ai/claude-opus-5")).toContain("Anthropic's format");
  expect(refused.has("cohere/rerank-v3.5")).toBe(false);
});
