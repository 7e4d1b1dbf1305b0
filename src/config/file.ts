import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type Environment, fillPlaceholders, shieldPlaceholders } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import { checkRules } from "./rules.ts";
import type { ConfigFile } from "./schema.ts";
import { checkShape } from "./shape.ts";
import { parseYaml } from "./yaml.ts";

const DEFAULT_NAME = "tollgate.yaml";

/** The checked file. Whole only while there are no problems. */
export interface LoadedFile {
  readonly content: ConfigFile;
  /** Unix seconds; 0 without a file. */
  readonly writtenAtS: number;
}

export interface FileOptions {
  /** What relative paths start from. */
  readonly folder: string;
  /** The only keys to look at, so that the rest needs no variable; without it, all. */
  readonly keys?: readonly (keyof ConfigFile)[];
}

/** Reads the YAML file that `TOLLGATE_CONFIG` names, or ./tollgate.yaml if it is there. */
export function loadFile(
  environment: Environment,
  { folder, keys }: FileOptions,
  problems: Problems,
): LoadedFile {
  const named = environment.TOLLGATE_CONFIG;
  const path = resolve(folder, named || DEFAULT_NAME);
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status && !named) return { content: {}, writtenAtS: 0 };
  const text = readText(path, problems);
  const document =
    text === undefined ? undefined : parseYaml(shieldPlaceholders(text), DEFAULT_NAME, problems);
  const content = checkDocument(keys ? pick(document, keys) : document, environment, problems);
  return { content, writtenAtS: secondsOf(status?.mtimeMs) };
}

function readText(path: string, problems: Problems): string | undefined {
  const place = ["TOLLGATE_CONFIG"];
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (thrown) {
    const isText = !(thrown instanceof TypeError);
    problems.add(
      place,
      isText ? "names a file that cannot be read" : "names a file that is not UTF-8",
      "a YAML file",
    );
    return undefined;
  }
}

function checkDocument(document: unknown, environment: Environment, problems: Problems): ConfigFile {
  const filled = fillPlaceholders(document ?? {}, environment, problems);
  if (typeof filled !== "object" || filled === null || Array.isArray(filled)) {
    problems.add([DEFAULT_NAME], "is not a mapping", "keys such as upstreams and models in one document");
    return {};
  }
  const content = checkShape(filled, problems);
  checkRules(content, problems);
  // Safe because whoever finds a problem does not use the content.
  return content as ConfigFile;
}

/** What is no mapping stays as it is, to be refused as such. */
function pick(document: unknown, keys: readonly string[]): unknown {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return document;
  return Object.fromEntries(Object.entries(document).filter(([key]) => keys.includes(key)));
}

function secondsOf(ms: number | undefined): number {
  return Math.floor((ms ?? 0) / 1_000);
}
