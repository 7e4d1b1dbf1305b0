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
    const broken = document && findBreak(document.errors, tokens);
    const found = broken ?? (second && { offset: second.range[0], reason: "a second document begins" });
    if (found !== undefined) {
      const place = `is not valid YAML from line ${lineAt(found.offset)} on`;
      throw new YamlError(`${place}: ${found.reason}`, "one YAML document");
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

/** Where a document stops being YAML, and why. No reason quotes the text, which may hold a secret. */
interface Break {
  readonly offset: number;
  readonly reason: string;
}

/** Why the parser gave up, by the beginnings of its codes. */
const REASONS: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^TAB_AS_INDENT/, "a tab indents it, where YAML has blanks only"],
  [
    /^(BAD_INDENT|BLOCK_AS_IMPLICIT_KEY|BLOCK_IN_FLOW|BAD_COLLECTION_TYPE)/,
    "it is indented unlike the lines above",
  ],
  [/^MULTILINE_IMPLICIT_KEY/, "a key has no colon, or its line is indented unlike the lines above"],
  [/^KEY_OVER_1024_CHARS/, "a key is too long"],
  [/^MISSING_CHAR/, "a blank, a colon, a comma or a closing bracket is missing"],
  [/^BAD_SCALAR_START/, "a text begins with a reserved character and needs quotes"],
  [/^BAD_DQ_ESCAPE/, "a backslash in double quotes has no meaning there"],
  [/ALIAS|ANCHOR|TAG|DIRECTIVE|PROP/, "an anchor, an alias, a tag or a directive is wrong"],
];

function reasonOf(code: string): string {
  const [, reason] = REASONS.find(([pattern]) => pattern.test(code)) ?? [];
  return reason ?? "a character is out of place";
}

/**
 * Returns the first error, `undefined` without errors. For a list, a mapping or a text without an end, returns
 * its beginning: the parser reports only where it gave up.
 */
function findBreak(errors: readonly YAMLParseError[], tokens: readonly CST.Token[]): Break | undefined {
  if (errors.length === 0) return undefined;
  const places = tokens.flatMap((token) => (token.type === "document" ? findBreaks(token.value) : []));
  // For a key of several lines, the parser reports its first line; its end is in `places`.
  const isOfKey = ({ code }: YAMLParseError) => code.endsWith("IMPLICIT_KEY");
  const reported = errors.filter((error) => !isOfKey(error)).map(breakOf);
  const known = [...places, ...reported];
  const first = known.length > 0 ? known : errors.map(breakOf);
  return first.reduce((least, each) => (each.offset < least.offset ? each : least));
}

function breakOf({ code, pos }: YAMLParseError): Break {
  return { offset: pos[0], reason: reasonOf(code) };
}

/** Returns the beginnings of unclosed collections and quotes, and the ends of keys of several lines. */
function findBreaks(token: CST.Token | null | undefined): Break[] {
  if (!token) return [];
  if (token.type === "flow-collection" && !isClosed(token))
    return [{ offset: token.offset, reason: "a bracket is not closed" }];
  if ("items" in token) return token.items.flatMap(breaksOfItem);
  return isOpenQuote(token) ? [{ offset: token.offset, reason: "a quote is not closed" }] : [];
}

function breaksOfItem({ key, value, start }: CST.CollectionItem): Break[] {
  const isExplicit = start.some(({ type }) => type === "explicit-key-ind");
  const isLong = key && !isExplicit && "source" in key && key.source.includes("\n");
  const end = isLong
    ? [{ offset: key.offset + key.source.trimEnd().length, reason: reasonOf("MULTILINE_IMPLICIT_KEY") }]
    : [];
  return [...findBreaks(key), ...end, ...findBreaks(value)];
}

function isClosed({ end }: CST.FlowCollection): boolean {
  return end.some(({ type }) => type === "flow-map-end" || type === "flow-seq-end");
}

function isOpenQuote(token: CST.Token): boolean {
  if (token.type !== "single-quoted-scalar" && token.type !== "double-quoted-scalar") return false;
  return token.source.length < 2 || !token.source.endsWith(token.source.charAt(0));
}
