import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/problems.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** Creates a folder with this tollgate.yaml, or an empty one. */
export function configFolder(yaml?: string | Uint8Array): string {
  const folder = tempFolder();
  if (yaml !== undefined) writeFileSync(join(folder, "tollgate.yaml"), yaml);
  return folder;
}

export function loadYaml(yaml: string, environment: Record<string, string> = {}): Config {
  return loadConfig(environment, { folder: configFolder(yaml) });
}

/** Returns the problems of a configuration. */
export function problemsOf(
  yaml: string | Uint8Array | undefined,
  environment: Record<string, string> = {},
): readonly string[] {
  try {
    loadConfig(environment, { folder: configFolder(yaml) });
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems;
    throw thrown;
  }
}

/** Returns the places of problems. */
export function placesOf(problems: readonly string[]): readonly string[] {
  return problems.map((problem) => problem.slice(0, problem.indexOf(": ")));
}
