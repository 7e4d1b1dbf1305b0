import { PATTERN_NAMES, type RecordingRules } from "../domain/recording-rules.ts";
import { replaceMatches } from "./expressions.ts";
import { PATTERNS } from "./patterns.ts";

/** The rules that decide what of a text is kept. */
export type RedactionRules = Pick<RecordingRules, "keepsMedia" | "patterns" | "expressions">;

/** A text without what rules take out of it. */
export interface Redacted {
  readonly text: string;
  readonly isCut: boolean;
}

/** Characters of text in base64 that are a file and no word. */
const BASE64_CHARS_MIN = 512;
const WORD = /[A-Za-z0-9+/_=-]+/g;
/** Base64 in lines of a mail or a certificate. */
const LINES = /(?:[A-Za-z0-9+/_=-]{60,76}\r?\n){6,}[A-Za-z0-9+/_=-]*/g;
const DATA_URL = /data:([\w.+-]{1,64}\/[\w.+-]{1,64})((?:;[\w.=-]{1,64}){0,4});base64,[A-Za-z0-9+/_=-]*/g;
/** Beginnings of files in base64, with their types. */
const TYPES: Readonly<Record<string, string>> = {
  iVBORw0KGgo: "image/png",
  "/9j/": "image/jpeg",
  R0lGOD: "image/gif",
  UklGR: "image/webp or audio/wav",
  JVBERi: "application/pdf",
  SUQz: "audio/mpeg",
  T2dnUw: "audio/ogg",
  UEsDB: "application/zip",
};
/** A number outside of strings. */
const NUMBER = /\d[\d.eE+-]*/g;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** What is dropped of a string that the end of the text cuts, which may be half of something to redact. */
const LOOSE_CHARS = 512;

/** Redacts texts, and counts what it took out. */
export class Redactor {
  /** How many pieces were taken out, files not included. */
  count = 0;
  readonly #rules: RedactionRules;
  /** Whether marks made a text longer than what is kept. */
  #isCut = false;

  constructor(rules: RedactionRules) {
    this.#rules = rules;
  }

  /**
   * Redacts the strings and numbers of a text in JSON, up to `charsMax`. The rest stays byte for byte. The text may
   * end anywhere: it need not be whole.
   */
  redactJson(text: string, charsMax: number): Redacted {
    let printed = "";
    let from = 0;
    let isCut = false;
    this.#isCut = false;
    while (from < text.length && printed.length <= charsMax) {
      const begin = text.indexOf('"', from);
      const end = begin < 0 ? text.length : endOfString(text, begin + 1);
      printed += this.#redactBare(text.slice(from, begin < 0 ? end : begin), charsMax);
      if (begin >= 0) {
        const literal = this.#redactLiteral(text.slice(begin, end), end <= text.length, charsMax);
        printed += literal.text;
        isCut ||= literal.isCut;
      }
      from = end;
    }
    return {
      text: printed.slice(0, charsMax),
      isCut: isCut || this.#isCut || from < text.length || printed.length > charsMax,
    };
  }

  /** Redacts the value of a string. It is cut after each rule: one would otherwise lengthen the marks of the one before. */
  redactText(text: string, charsMax: number): string {
    const { patterns, expressions } = this.#rules;
    const onMatch = () => {
      this.count += 1;
    };
    let redacted = text;
    for (const name of PATTERN_NAMES)
      if (patterns.includes(name))
        redacted = this.#cut(PATTERNS[name](redacted, `[redacted: ${name}]`, onMatch), charsMax);
    for (const [index, expression] of expressions.entries()) {
      const mark = `[redacted: rule ${index + 1}]`;
      redacted = this.#cut(replaceMatches(redacted, expression, mark, onMatch), charsMax);
    }
    return redacted;
  }

  /** What a cut leaves at the end may be half of something to redact. */
  #cut(text: string, charsMax: number): string {
    if (text.length <= charsMax) return text;
    this.#isCut = true;
    return text.slice(0, Math.max(0, charsMax - LOOSE_CHARS));
  }

  #redactBare(text: string, charsMax: number): string {
    return text.replace(NUMBER, (number) => {
      const redacted = this.redactText(number, charsMax);
      return redacted === number ? number : JSON.stringify(redacted);
    });
  }

  /** Of a string that is longer than what is kept, the rest is not looked at. */
  #redactLiteral(literal: string, isWhole: boolean, charsMax: number): Redacted {
    const value = parseString(isWhole ? literal : `"${literal.slice(1, -LOOSE_CHARS)}"`);
    if (value === undefined) return { text: '"[redacted: unreadable]"', isCut: true };
    const kept = this.#rules.keepsMedia ? value : dropMedia(value);
    const isCut = !isWhole || kept.length > charsMax;
    const looked = kept.length > charsMax ? kept.slice(0, Math.max(0, charsMax - LOOSE_CHARS)) : kept;
    const redacted = this.redactText(looked, charsMax);
    return { text: isWhole && redacted === value ? literal : JSON.stringify(redacted), isCut };
  }
}

/** Returns the index behind the quote that ends a string; one beyond the text where none does. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at + 1;
  }
  return text.length + 1;
}

/** Reads a string literal. One that was cut may end in the middle of an escape. */
function parseString(literal: string): string | undefined {
  for (const cut of [literal, ...[1, 2, 3, 4, 5, 6].map((chars) => `${literal.slice(0, -1 - chars)}"`)]) {
    try {
      const value: unknown = JSON.parse(cut);
      if (typeof value === "string") return value;
    } catch {
      // An escape of up to six characters is cut off next.
    }
  }
  return undefined;
}

/** Replaces files in base64 by their type and length. */
export function dropMedia(text: string): string {
  if (text.length < BASE64_CHARS_MIN && !text.includes(";base64,")) return text;
  const withoutUrls = text.replace(
    DATA_URL,
    (url, type: string) => `[${type}, ${url.length - url.indexOf(",") - 1} characters of base64]`,
  );
  const name = (word: string) => `[${typeOf(word)}${word.length} characters of base64]`;
  return withoutUrls
    .replace(LINES, (lines) => name(lines.replace(/\s/g, "")))
    .replace(WORD, (word) => (word.length < BASE64_CHARS_MIN ? word : name(word)));
}

function typeOf(base64: string): string {
  const begin = Object.keys(TYPES).find((each) => base64.startsWith(each));
  return begin === undefined ? "" : `${TYPES[begin]}, `;
}
