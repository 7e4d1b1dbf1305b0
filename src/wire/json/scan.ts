const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const LETTER_E = 0x65;
/** Sets the bit that makes an ASCII letter lower case. */
const LOWER_CASE = 0x20;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** The amount of structure in a JSON text, counted outside its strings. */
export interface JsonMeasure {
  /** Members of all objects, repeated keys included. */
  readonly members: number;
  /** Objects, arrays and commas: about the number of values that a parser allocates. */
  readonly values: number;
}

/** Parsing time grows with the square of a number's digits; a double keeps 17 of them. */
const NUMBER_CHARS_MAX = 1_024;
/** The longest keys in practice are regular expressions in `patternProperties` of a schema. */
const KEY_CHARS_MAX = 16_384;

/**
 * Counts the structure of a text, valid JSON or not, without parsing it and without allocating. Returns
 * `undefined` above `max`, for a number above 1,024 characters and for a key above 16,384 characters.
 */
export function measureJson(text: string, max: JsonMeasure): JsonMeasure | undefined {
  let members = 0;
  let values = 0;
  let stringChars = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = skipString(text, at);
      stringChars = end - at;
      at = end - 1;
    } else if (code === COLON) {
      members += 1;
      if (members > max.members || stringChars > KEY_CHARS_MAX) return undefined;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET || code === COMMA) {
      values += 1;
      if (values > max.values) return undefined;
    } else if (startsNumber(code)) {
      const end = skipNumber(text, at);
      if (end - at > NUMBER_CHARS_MAX) return undefined;
      at = end - 1;
    }
  }
  return { members, values };
}

/** Returns the index of the first character at or after `at` that is not JSON white space. */
export function skipSpace(text: string, at: number): number {
  let next = at;
  while (text.charCodeAt(next) <= SPACE) next += 1;
  return next;
}

/**
 * Returns the index after the string whose opening quote is at `start`, or the length of the text if it never
 * ends. Searches from quote to quote, so megabytes of base64 cost one native search.
 */
export function skipString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote >= 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote < 0 ? text.length : quote + 1;
}

/**
 * Returns the index after the JSON value that begins at `start`. The text must be valid JSON of any depth.
 */
export function skipValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return skipString(text, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipContainer(text, start);
  let at = start + 1;
  while (at < text.length && !endsLiteral(text.charCodeAt(at))) at += 1;
  return at;
}

function startsNumber(code: number): boolean {
  return code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9);
}

/** Returns the index after a run of number characters; the parser checks that they form a number. */
function skipNumber(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); isOfNumber(code); code = text.charCodeAt(at)) at += 1;
  return at;
}

function isOfNumber(code: number): boolean {
  return startsNumber(code) || code === POINT || code === PLUS || (code | LOWER_CASE) === LETTER_E;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}

function skipContainer(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at + 1;
  }
  return text.length;
}

function endsLiteral(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= SPACE;
}
