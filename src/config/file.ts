import { type FilledIn, fillKnown } from "./known.ts";
import { fillPlaceholders, shieldPlaceholders, type Variables } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import { checkRules } from "./rules.ts";
import { type ConfigFile, checkShape } from "./schema.ts";
import { DEFAULT_NAME, type Source } from "./source.ts";
import { parseYaml } from "./yaml.ts";

/** The checked file. Its content may be used only when there are no problems. */
export interface CheckedFile {
  readonly content: ConfigFile;
  /** What of the content was filled in from the catalog of known models. */
  readonly filled: readonly FilledIn[];
  /** Modification time in Unix seconds; 0 without a file. */
  readonly writtenAtS: number;
}

export interface CheckOptions {
  /** Whether the file may be missing, so that every key has its default. */
  readonly mayBeAbsent: boolean;
  /** The only keys to read, so that variables of other keys need not be set. Default: every key. */
  readonly keys?: readonly (keyof ConfigFile)[];
}

const SOURCE_PROBLEMS: Readonly<Record<Exclude<Source["kind"], "text">, string>> = {
  absent: "does not exist",
  folder: "is a folder",
  unreadable: "cannot be read",
  not_utf8: "is not UTF-8",
  too_large: "is larger than 1 MiB",
};

/** Parses the source of the configuration, fills in variables, and checks schema and rules. */
export function checkFile(
  source: Source,
  variables: Variables,
  { mayBeAbsent, keys }: CheckOptions,
  problems: Problems,
): CheckedFile {
  if (source.kind === "text") {
    const document = parseYaml(shieldPlaceholders(source.text), DEFAULT_NAME, problems);
    const checked = checkDocument(keys ? pick(document, keys) : document, variables, problems);
    return { ...checked, writtenAtS: source.writtenAtS };
  }
  if (source.kind !== "absent" || !mayBeAbsent)
    reportSource(SOURCE_PROBLEMS[source.kind], variables, problems);
  return { content: {}, filled: [], writtenAtS: 0 };
}

function reportSource(wrong: string, variables: Variables, problems: Problems): void {
  if (variables.values.TOLLGATE_CONFIG) {
    problems.add(["TOLLGATE_CONFIG"], `names a file that ${wrong}`, "a YAML file");
  } else problems.add([DEFAULT_NAME], wrong, "a YAML file");
}

function checkDocument(
  document: unknown,
  variables: Variables,
  problems: Problems,
): Pick<CheckedFile, "content" | "filled"> {
  const written = fillPlaceholders(document ?? {}, variables, problems);
  if (typeof written !== "object" || written === null || Array.isArray(written)) {
    problems.add([DEFAULT_NAME], "is not a mapping", "keys such as upstreams and models in one document");
    return { content: {}, filled: [] };
  }
  const { document: whole, filled } = fillKnown(written, problems);
  const content = checkShape(whole, problems);
  checkRules(content, problems);
  // Safe because content with problems is not used.
  return { content: content as ConfigFile, filled };
}

/** Keeps the named keys of a mapping. Returns any other document unchanged; it is reported later. */
function pick(document: unknown, keys: readonly string[]): unknown {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return document;
  return Object.fromEntries(Object.entries(document).filter(([key]) => keys.includes(key)));
}
