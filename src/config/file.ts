import { type Environment, fillPlaceholders, shieldPlaceholders } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import { checkRules } from "./rules.ts";
import type { ConfigFile } from "./schema.ts";
import { checkShape } from "./shape.ts";
import { DEFAULT_NAME, type Source } from "./source.ts";
import { parseYaml } from "./yaml.ts";

/** The checked file. Whole only while there are no problems. */
export interface CheckedFile {
  readonly content: ConfigFile;
  /** Unix seconds; 0 without a file. */
  readonly writtenAtS: number;
}

export interface CheckOptions {
  /** Whether there may be no file: then everything has its default. */
  readonly mayBeAbsent: boolean;
  /** The only keys to look at, so that the rest needs no variable; without it, all. */
  readonly keys?: readonly (keyof ConfigFile)[];
}

const FAULTS = {
  absent: "is not there",
  unreadable: "cannot be read",
  not_utf8: "is not UTF-8",
  too_large: "is larger than 1 MiB",
};

/** Reads what was found under the path of the configuration, with the variables that it names filled in. */
export function checkFile(
  source: Source,
  environment: Environment,
  { mayBeAbsent, keys }: CheckOptions,
  problems: Problems,
): CheckedFile {
  if (source.kind === "text") {
    const document = parseYaml(shieldPlaceholders(source.text), DEFAULT_NAME, problems);
    const content = checkDocument(keys ? pick(document, keys) : document, environment, problems);
    return { content, writtenAtS: source.writtenAtS };
  }
  if (source.kind !== "absent" || !mayBeAbsent) reportFault(FAULTS[source.kind], environment, problems);
  return { content: {}, writtenAtS: 0 };
}

function reportFault(fault: string, environment: Environment, problems: Problems): void {
  if (environment.TOLLGATE_CONFIG) {
    problems.add(["TOLLGATE_CONFIG"], `names a file that ${fault}`, "a YAML file");
  } else problems.add([DEFAULT_NAME], fault, "a YAML file");
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
