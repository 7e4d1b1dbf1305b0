import { RE2JS } from "re2js";

/** Compiled expressions that the recording worker keeps, of all accounts: at most 0.7 MB each. */
const COMPILED_MAX = 100;
const compiled = new Map<string, RE2JS>();
/** Instructions of one expression. Counts in counts make 70,000 of 200 characters: 11 MB, and 70 ms of a core. */
const INSTRUCTIONS_MAX = 4_000;

/**
 * Compiles an expression of a key, or returns it as it was compiled before. RE2's engine takes time in proportion to
 * the text, whatever the expression: none hangs the process.
 */
function compileOnce(expression: string): RE2JS {
  const known = compiled.get(expression);
  if (known) return known;
  const made = RE2JS.compile(expression);
  const oldest = compiled.size < COMPILED_MAX ? undefined : compiled.keys().next().value;
  if (oldest !== undefined) compiled.delete(oldest);
  compiled.set(expression, made);
  return made;
}

/**
 * Whether a text is an expression that a key may have. One that matches nothing of a text is none, nor is one of more
 * than 4,000 instructions, with look-around or with back references.
 */
export function isExpression(text: string): boolean {
  try {
    const expression = RE2JS.compile(text);
    return expression.programSize() <= INSTRUCTIONS_MAX && !expression.matcher("").find();
  } catch {
    return false;
  }
}

/** Replaces what an expression matches. Matches side by side become one mark. */
export function replaceMatches(text: string, expression: string, mark: string, onMatch: () => void): string {
  const matcher = compileOnce(expression).matcher(text);
  let printed = "";
  let from = 0;
  let isBehindMark = false;
  while (matcher.find()) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (end === start) continue;
    if (start > from) isBehindMark = false;
    printed += text.slice(from, start);
    if (!isBehindMark) {
      printed += mark;
      onMatch();
    }
    isBehindMark = true;
    from = end;
  }
  return from === 0 ? text : printed + text.slice(from);
}
