import { Composer, type CST, Lexer, LineCounter, Parser } from "yaml";
import type { Problems } from "./problems.ts";
import { YAML_DEPTH_MAX, YamlError } from "./yaml-error.ts";
import { findBrokenOffset } from "./yaml-fault.ts";
import { readValues } from "./yaml-values.ts";

/** Words and signs of a document. About 30 are needed for one model, and each takes about 3 µs and 300 bytes. */
const LEXEMES_MAX = 400_000;

const OPTIONS = {
  // Also where a %YAML directive asks for version 1.1, whose "no" is false and whose 010 is 8.
  schema: "core",
  resolveKnownTags: false,
  // The library compares every key with every other one; `readValues` looks each up.
  uniqueKeys: false,
  prettyErrors: false,
} as const;

/**
 * Parses one YAML 1.2 document to plain values, with aliases and merge keys resolved. Bounds the document's
 * size, depth and expanded size. Returns `undefined` and adds a problem when it cannot; adds one for each key
 * that occurs twice.
 */
export function parseYaml(text: string, name: string, problems: Problems): unknown {
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  try {
    // The library takes no lone carriage return for a line break, as YAML does.
    const tokens = readTokens(text.replace(/\r\n?/g, "\n"), lines);
    const [document, second] = [...new Composer(OPTIONS).compose(tokens, true, text.length)];
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

/** Throws {@link YamlError} for a document that is too long or too deep to be composed. */
function readTokens(text: string, lines: LineCounter): readonly CST.Token[] {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  // An empty document has no line break to be counted.
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1;
    if (lexemes > LEXEMES_MAX) {
      throw new YamlError(`has more than ${LEXEMES_MAX} words and signs`, "a smaller document");
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
