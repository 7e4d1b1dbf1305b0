import { RE2JS } from "re2js";

/** Compiled expressions that are kept, of all accounts. */
const COMPILED_MAX = 200;
const compiled = new Map<string, RE2JS>();

/**
 * Compiles an expression of a key. RE2's engine takes time in proportion to the text, whatever the expression: none
 * hangs the process. Throws for a text that is no expression, and for look-around and back references.
 */
function compile(expression: string): RE2JS {
  const known = compiled.get(expression);
  if (known) return known;
  const made = RE2JS.compile(expression);
  const oldest = compiled.size < COMPILED_MAX ? undefined : compiled.keys().next().value;
  if (oldest !== undefined) compiled.delete(oldest);
  compiled.set(expression, made);
  return made;
}

/** Whether a text is an expression that a key may have. One that matches nothing of a text is none. */
export function isExpression(text: string): boolean {
  try {
    return !compile(text).matcher("").find();
  } catch {
    return false;
  }
}

/** Replaces what an expression matches. Matches side by side become one mark. */
export function replaceMatches(text: string, expression: string, mark: string, onMatch: () => void): string {
  const matcher = compile(expression).matcher(text);
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
