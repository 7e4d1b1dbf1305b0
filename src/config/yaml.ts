import { Composer, type CST, Lexer, LineCounter, Parser, type YAMLParseError } from "yaml";
import type { Problems } from "./problems.ts";
import { readValues, YAML_DEPTH_MAX, YamlError } from "./yaml-values.ts";

/** Maximum number of lexemes. One model takes about 30; each costs about 3 µs and 300 bytes. */
const LEXEMES_MAX = 400_000;

/** How a configuration is parsed, for everything that reads one. */
export const YAML_OPTIONS = {
  // Overrides a %YAML directive for version 1.1, in which "no" is false and 010 is 8.
  schema: "core",
  resolveKnownTags: false,
  // `readValues` finds duplicate keys: the library compares all pairs of keys, in quadratic time.
  uniqueKeys: false,
  prettyErrors: false,
} as const;

/**
 * Parses one YAML 1.2 document to plain values, with aliases and merge keys resolved. Bounds the document's
 * size, depth and expanded size. Returns `undefined` and adds a problem for a document that cannot be read.
 * Adds a problem for each duplicate key.
 * @see https://yaml.org/spec/1.2.2/
 */
export function parseYaml(text: string, name: string, problems: Problems): unknown {
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  try {
    // A lone carriage return is a line break in YAML, but not in the library.
    const tokens = readTokens(text.replace(/\r\n?/g, "\n"), lines);
    const [document, second] = [...new Composer(YAML_OPTIONS).compose(tokens, true, text.length)];
    const broken = document && findBrokenOffset(document.errors, tokens);
    const wrongAt = broken ?? second?.range[0];
    if (wrongAt !== undefined) {
      throw new YamlError(`is not valid YAML from line ${lineAt(wrongAt)} on`, "one YAML document");
    }
    return readValues(document?.contents, { lineAt, problems });
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    problems.add([name], error.wrong, error.expected);
    return undefined;
  }
}

/** Splits text into tokens. Throws {@link YamlError} for a document that is too long or too deep. */
function readTokens(text: string, lines: LineCounter): readonly CST.Token[] {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  // Registers line 1, which no line break begins.
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1;
    if (lexemes > LEXEMES_MAX) {
      throw new YamlError(`has more than ${LEXEMES_MAX} tokens`, "a smaller document");
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > YAML_DEPTH_MAX) {
      const line = lines.linePos(parser.offset).line;
      throw new YamlError(`is nested too deep in line ${line}`, `at most ${YAML_DEPTH_MAX} levels`);
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/**
 * Returns the offset of the first error, `undefined` without errors. For a list, a mapping or a text without
 * an end, returns its beginning: the parser reports only where it gave up.
 */
function findBrokenOffset(
  errors: readonly YAMLParseError[],
  tokens: readonly CST.Token[],
): number | undefined {
  if (errors.length === 0) return undefined;
  const places = tokens.flatMap((token) => (token.type === "document" ? brokenPlaces(token.value) : []));
  // For a key of several lines, the parser reports its first line; its end is in `places`.
  const reported = errors.filter(({ code }) => !code.endsWith("IMPLICIT_KEY")).map(({ pos }) => pos[0]);
  const known = [...places, ...reported];
  const first = known.length > 0 ? known : errors.map(({ pos }) => pos[0]);
  return first.reduce((least, place) => Math.min(least, place));
}

/** Returns the beginnings of unclosed collections and quotes, and the ends of keys of several lines. */
function brokenPlaces(token: CST.Token | null | undefined): number[] {
  if (!token) return [];
  if (token.type === "flow-collection" && !isClosed(token)) return [token.offset];
  if ("items" in token) return token.items.flatMap(placesInItem);
  return isOpenQuote(token) ? [token.offset] : [];
}

function placesInItem({ key, value, start }: CST.CollectionItem): number[] {
  const isExplicit = start.some(({ type }) => type === "explicit-key-ind");
  const isLong = key && !isExplicit && "source" in key && key.source.includes("\n");
  const end = isLong ? [key.offset + key.source.trimEnd().length] : [];
  return [...brokenPlaces(key), ...end, ...brokenPlaces(value)];
}

function isClosed({ end }: CST.FlowCollection): boolean {
  return end.some(({ type }) => type === "flow-map-end" || type === "flow-seq-end");
}

function isOpenQuote(token: CST.Token): boolean {
  if (token.type !== "single-quoted-scalar" && token.type !== "double-quoted-scalar") return false;
  return token.source.length < 2 || !token.source.endsWith(token.source.charAt(0));
}
