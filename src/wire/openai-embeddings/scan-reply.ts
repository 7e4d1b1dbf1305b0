import { skipSpace, skipString, skipValue } from "../json/scan.ts";

/** Where the list of vectors stands in an answer, and how many there are. */
interface ScannedReply {
  readonly start: number;
  readonly end: number;
  readonly entries: number;
}

/** What a list of embeddings has not: it would take as long to read as it is long. */
const MEMBERS_MAX = 100_000;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Reads on from an index to the one behind what was read; -1 when that is not what is expected there. */
type Step = (at: number) => number;

/**
 * Finds `data` in the text of an answer: a list of objects that have an `embedding` each, a text or a list that
 * is not empty. `undefined` for anything else. Vectors are jumped over, which is thirty times as fast as parsing
 * their numbers; whether those are numbers is for their reader to find out.
 */
export function scanReply(text: string): ScannedReply | undefined {
  let members = 0;
  let entries = 0;
  let data: ScannedReply | undefined;

  /** Elements from an opening character to its closing one. */
  const skipList = (start: number, close: number, skipElement: Step): number => {
    let at = skipSpace(text, start + 1);
    if (text.charCodeAt(at) === close) return at + 1;
    for (;;) {
      const end = skipElement(at);
      if (end < 0 || ++members > MEMBERS_MAX) return -1;
      at = skipSpace(text, end);
      if (text.charCodeAt(at) === close) return at + 1;
      if (text.charCodeAt(at) !== COMMA) return -1;
      at = skipSpace(text, at + 1);
    }
  };

  const skipObject = (start: number, skipMember: (key: string, at: number) => number): number => {
    if (text.charCodeAt(start) !== OPEN_BRACE) return -1;
    return skipList(start, CLOSE_BRACE, (at) => {
      if (text.charCodeAt(at) !== QUOTE) return -1;
      const keyEnd = skipString(text, at);
      const colon = skipSpace(text, keyEnd);
      if (text.charCodeAt(colon) !== COLON) return -1;
      return skipMember(text.slice(at, keyEnd), skipSpace(text, colon + 1));
    });
  };

  const skipEntry: Step = (start) => {
    let hasVector = false;
    entries += 1;
    const end = skipObject(start, (key, at) => {
      if (key !== '"embedding"') return skipValue(text, at);
      hasVector = true;
      return skipVector(text, at);
    });
    return hasVector ? end : -1;
  };

  skipObject(skipSpace(text, 0), (key, at) => {
    if (key !== '"data"' || data) return skipValue(text, at);
    const end = text.charCodeAt(at) === OPEN_BRACKET ? skipList(at, CLOSE_BRACKET, skipEntry) : -1;
    if (end >= 0) data = { start: at, end, entries };
    return end;
  });
  return data;
}

/** The index behind a vector, a text or a list that holds something; -1 for anything else. */
function skipVector(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first !== QUOTE && first !== OPEN_BRACKET) return -1;
  const end = first === QUOTE ? skipString(text, start) : skipNumbers(text, start);
  const next = text.charCodeAt(skipSpace(text, start + 1));
  return next === CLOSE_BRACKET || next === QUOTE ? -1 : end;
}

/** A list of numbers ends with the first bracket, which is found without looking at each character. */
function skipNumbers(text: string, start: number): number {
  const close = text.indexOf("]", start);
  const isFlat =
    !comesBefore(text.indexOf("[", start + 1), close) && !comesBefore(text.indexOf('"', start), close);
  return close >= 0 && isFlat ? close + 1 : skipValue(text, start);
}

function comesBefore(index: number, other: number): boolean {
  return index >= 0 && index < other;
}
