import type { Path, Problems } from "./problems.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment, with the secrets of files filled in. */
export interface Variables {
  readonly values: Environment;
  /** What is wrong with the files of variables that have no value for that reason. */
  readonly faults: Readonly<Record<string, string>>;
}

// Private-use characters replace "${" and "}", which are YAML syntax inside { … }.
const OPEN = "\uE000";
const CLOSE = "\uE001";
const PLACEHOLDER = new RegExp(`${OPEN}([^${OPEN}${CLOSE}]*)${CLOSE}`, "g");

/** Maximum length of all inserted values, in UTF-16 units: a short file may name a long variable often. */
const FILLED_LENGTH_MAX = 4_194_304;

/** Replaces every `${NAME}` so that a YAML parser reads it as plain text. */
export function shieldPlaceholders(text: string): string {
  return text.replace(/\$\{([^{}\n]*)\}/g, `${OPEN}$1${CLOSE}`);
}

/** Returns the names of all placeholders in a YAML text, those of its comments included. */
export function namesOfPlaceholders(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\$\{([A-Za-z_]\w*)\}/g)].map(([, name = ""]) => name))];
}

/**
 * Fills the shielded placeholders in all strings of a parsed document. Runs after parsing, so that no value
 * can become syntax. Omits members without a value. Adds a problem for a variable that is missing or empty, and
 * for one whose file cannot be used.
 */
export function fillPlaceholders(
  document: unknown,
  { values, faults }: Variables,
  problems: Problems,
): unknown {
  const fill = (node: unknown, path: Path): unknown => {
    if (typeof node === "string") return fillText(node, path);
    if (Array.isArray(node)) return node.map((element, index) => fill(element, [...path, index]));
    if (typeof node !== "object" || node === null) return node;
    const members = Object.entries(node).map(([key, value]) => [unshieldPlaceholders(key), value] as const);
    const given = members.filter(([, value]) => value !== null);
    return Object.fromEntries(given.map(([key, value]) => [key, fill(value, [...path, key])]));
  };

  let filledLength = 0;
  const fillText = (text: string, path: Path): string => {
    const names = [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
    filledLength += names.reduce((sum, name) => sum + (values[name]?.length ?? 0), 0);
    if (filledLength > FILLED_LENGTH_MAX) {
      problems.add(path, "exceeds the maximum length of inserted variables", "shorter or fewer variables");
      return "";
    }
    const malformed = names.filter((name) => !/^[A-Za-z_]\w*$/.test(name));
    const missing = names.filter((name) => !values[name]);
    if (malformed.length > 0) {
      problems.add(path, "has a placeholder without a valid variable name", "letters, digits and _ in it");
    } else if (missing.length > 0) {
      problems.add(path, ...describeMissing(missing, faults));
    }
    return text.replace(PLACEHOLDER, (_, name: string) => values[name] ?? "");
  };

  return fill(document, []);
}

function describeMissing(
  names: readonly string[],
  faults: Variables["faults"],
): readonly [wrong: string, expected: string] {
  const faulty = names.find((name) => faults[name] !== undefined);
  if (faulty) return [`needs ${faulty}, but ${faulty}_FILE ${faults[faulty]}`, "a value from one of the two"];
  return [`needs ${names.join(", ")}, which is not set or empty`, "it in the environment"];
}

/** Restores the placeholders of a shielded text. */
export function unshieldPlaceholders(text: string): string {
  return text.replace(PLACEHOLDER, (_, name: string) => `\${${name}}`);
}
