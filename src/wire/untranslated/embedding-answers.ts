import { readInputUsage } from "../input-usage.ts";
import { editMembers } from "../json/edit.ts";
import { parseJsonObject } from "../json/read.ts";
import { skipSpace, skipString, skipValue } from "../json/scan.ts";
import type { RequestFacts } from "../model-request.ts";
import type { ReplyPart } from "../reply-part.ts";
import { UpstreamFault } from "../upstream-fault.ts";

/**
 * Reads a list of embeddings. The body passes through except the model's name. Throws {@link UpstreamFault}
 * for anything else; an empty list is valid and not readable.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
export function readWhole(request: RequestFacts, text: string): ReplyPart {
  const data = findData(text);
  // Millions of numbers would block the parser for a second, so only the rest is parsed and edited.
  const frame = data && `${text.slice(0, data.start)}[]${text.slice(data.end)}`;
  const body = frame && parseJsonObject(frame);
  if (!body || body.error) throw new UpstreamFault("The answer is not a list of embeddings");
  return {
    text: editMembers(frame, {
      model: () => JSON.stringify(request.model),
      data: () => text.slice(data.start, data.end),
    }),
    isOutput: true,
    isReadable: data.entries > 0,
    generated: "",
    usage: readInputUsage(body.usage),
  };
}

/** The position of the list of vectors in an answer, and the number of vectors. */
interface VectorList {
  readonly start: number;
  readonly end: number;
  readonly entries: number;
}

/** More members and elements than any list of embeddings has: skipping them takes time in proportion. */
const MEMBERS_MAX = 100_000;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Reads a value at an index. Returns the index after it, or -1 if the text there is not what is expected. */
type Step = (at: number) => number;

/**
 * Finds `data` in the text of an answer: a list of objects with an `embedding` each, a string or a non-empty
 * list. Returns `undefined` for anything else. Skips vectors without parsing their numbers, which is thirty
 * times as fast.
 */
function findData(text: string): VectorList | undefined {
  let members = 0;
  let entries = 0;
  let data: VectorList | undefined;

  /** Skips elements or members up to the closing character. */
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

/** Returns the index after a vector, a string or a non-empty list; -1 for anything else. */
function skipVector(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first !== QUOTE && first !== OPEN_BRACKET) return -1;
  const end = first === QUOTE ? skipString(text, start) : skipNumbers(text, start);
  const next = text.charCodeAt(skipSpace(text, start + 1));
  return next === CLOSE_BRACKET || next === QUOTE ? -1 : end;
}

/**
 * Returns the index after a list. A list of numbers ends at its first bracket, which one native search finds.
 */
function skipNumbers(text: string, start: number): number {
  const close = text.indexOf("]", start);
  const isFlat =
    !comesBefore(text.indexOf("[", start + 1), close) && !comesBefore(text.indexOf('"', start), close);
  return close >= 0 && isFlat ? close + 1 : skipValue(text, start);
}

function comesBefore(index: number, other: number): boolean {
  return index >= 0 && index < other;
}
