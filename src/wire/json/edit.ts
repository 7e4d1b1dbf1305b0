import { skipSpace, skipString, skipValue } from "./scan.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;

/**
 * Edits one member: takes the JSON text of its value, `undefined` for a missing member, and returns the new
 * text. Returning `undefined` removes the member.
 */
export type ValueEdit = (value: string | undefined) => string | undefined;

/** A member to edit, and its position in the text. */
interface Match {
  readonly key: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
  /** End of the preceding member, or the index after the opening brace. */
  readonly previousEnd: number;
  /** Start of the following member, or the closing brace after the last one. */
  readonly nextStart: number;
  /** Whether a member that is not edited precedes this one. */
  readonly followsUnedited: boolean;
  /** Whether an earlier member has the key. */
  readonly isRepeat: boolean;
  /** The last of the members that repeat the key of this one. */
  last: Match | undefined;
}

export type Edits = Readonly<Record<string, ValueEdit>>;

const NO_KEYS: ReadonlySet<string> = new Set();

/**
 * Edits members in the text of a JSON object and keeps every other byte. The text must be valid JSON. A
 * repeated key is edited once, with its last value as JSON.parse takes it, and is written once. New members
 * are appended. The keys of `sentOnce` are treated like edits with {@link once}.
 */
export function editMembers(text: string, edits: Edits, sentOnce = NO_KEYS): string {
  const { matches, end, hasUnedited } = findMatches(text, edits, sentOnce);
  let result = "";
  let cursor = 0;
  let isWritten = false;
  for (const match of matches) {
    const value = match.isRepeat ? undefined : editLast(text, match, edits);
    const follows = isWritten || match.followsUnedited;
    if (value !== undefined) {
      result += text.slice(cursor, match.valueStart) + value;
      cursor = match.end;
      isWritten = true;
    } else {
      result += text.slice(cursor, follows ? match.previousEnd : match.start);
      cursor = follows ? match.end : match.nextStart;
    }
  }
  const added = printAdded(edits, matches);
  if (added === "") return result + text.slice(cursor);
  const comma = isWritten || hasUnedited ? "," : "";
  return result + text.slice(cursor, end) + comma + added + text.slice(end);
}

/** Edits the elements in the text of a JSON array; `edit` takes the text of an element and its position. */
export function editElements(text: string, edit: (element: string, position: number) => string): string {
  let result = "";
  let cursor = 0;
  let start = skipSpace(text, skipSpace(text, 0) + 1);
  for (let position = 0; start < text.length && text.charCodeAt(start) !== CLOSE_BRACKET; position += 1) {
    const end = skipValue(text, start);
    result += text.slice(cursor, start) + edit(text.slice(start, end), position);
    cursor = end;
    start = nextAfter(text, end);
  }
  return result + text.slice(cursor);
}

/** Returns where the elements of the JSON array that begins at `arrayStart` begin. */
export function findElements(text: string, arrayStart: number): readonly number[] {
  const starts: number[] = [];
  let start = skipSpace(text, arrayStart + 1);
  while (start < text.length && text.charCodeAt(start) !== CLOSE_BRACKET) {
    starts.push(start);
    start = nextAfter(text, skipValue(text, start));
  }
  return starts;
}

/** Edits the elements of a JSON array and drops those for which `edit` returns `undefined`. */
export function keepElements(list: string, edit: (element: string) => string | undefined): string {
  const kept: string[] = [];
  let isChanged = false;
  editElements(list, (element) => {
    const edited = edit(element);
    isChanged ||= edited !== element;
    if (edited !== undefined) kept.push(edited);
    return element;
  });
  return isChanged ? `[${kept.join(",")}]` : list;
}

/** The position of a value in a text. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Keys of objects, and 0 for the first element of an array. */
export type Path = readonly (string | 0)[];

/**
 * Returns the position of the value at a path. The text must be valid JSON, with objects and filled arrays
 * where the path has keys and zeros. Returns `undefined` if a key on the path is missing or repeated.
 */
export function findValue(text: string, path: Path): Span | undefined {
  let found: Span | undefined = { start: 0, end: text.length };
  for (const step of path) {
    found = step === 0 ? findFirstElement(text, found.start) : findMember(text, step, found.start);
    if (found === undefined) return undefined;
  }
  return found;
}

function findFirstElement(text: string, arrayStart: number): Span {
  const start = skipSpace(text, skipSpace(text, arrayStart) + 1);
  return { start, end: skipValue(text, start) };
}

/**
 * Returns the position of a member's value in the object that begins at `objectStart`; `undefined` if the key
 * is missing or repeated.
 */
export function findMember(text: string, key: string, objectStart = 0): Span | undefined {
  let found: Span | undefined;
  let start = skipSpace(text, skipSpace(text, objectStart) + 1);
  while (text.charCodeAt(start) === QUOTE) {
    const keyEnd = skipString(text, start);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, valueStart);
    if (readKey(text.slice(start + 1, keyEnd - 1)) === key) {
      if (found) return undefined;
      found = { start: valueStart, end };
    }
    start = nextAfter(text, end);
  }
  return found;
}

/** Returns the text of a member's value; `undefined` if the key is missing or repeated. */
export function sliceMember(text: string, key: string): string | undefined {
  const place = findMember(text, key);
  return place && text.slice(place.start, place.end);
}

/** Keeps a member but writes a repeated key once, so that every reader takes the value that was checked. */
export const once: ValueEdit = (value) => value;

function findMatches(text: string, edits: Edits, sentOnce: ReadonlySet<string>) {
  const matches: Match[] = [];
  /** One for each key, so that their number does not grow with the text. */
  const firsts: Match[] = [];
  let hasUnedited = false;
  let previousEnd = skipSpace(text, 0) + 1;
  let start = skipSpace(text, previousEnd);
  while (text.charCodeAt(start) === QUOTE) {
    const keyEnd = skipString(text, start);
    const key = readKey(text.slice(start + 1, keyEnd - 1));
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, valueStart);
    const nextStart = nextAfter(text, end);
    if (sentOnce.has(key) || Object.hasOwn(edits, key)) {
      const first = findByKey(firsts, key);
      const match: Match = {
        key,
        start,
        valueStart,
        end,
        previousEnd,
        nextStart,
        followsUnedited: hasUnedited,
        isRepeat: first !== undefined,
        last: undefined,
      };
      matches.push(match);
      if (first) first.last = match;
      else firsts.push(match);
    } else hasUnedited = true;
    previousEnd = end;
    start = nextStart;
  }
  return { matches, hasUnedited, end: previousEnd };
}

/** Returns the start of the member or element after `end`, or the closing bracket if nothing follows. */
function nextAfter(text: string, end: number): number {
  const comma = skipSpace(text, end);
  return text.charCodeAt(comma) === COMMA ? skipSpace(text, comma + 1) : comma;
}

/** Edits the value of the last member with a key, or keeps it if the key is only sent once. */
function editLast(text: string, match: Match, edits: Edits): string | undefined {
  const { valueStart, end } = match.last ?? match;
  const value = text.slice(valueStart, end);
  return Object.hasOwn(edits, match.key) ? edits[match.key]?.(value) : value;
}

function printAdded(edits: Edits, found: readonly Match[]): string {
  let added = "";
  for (const key in edits) {
    const value = findByKey(found, key) ? undefined : edits[key]?.(undefined);
    if (value !== undefined) added += `${added && ","}${JSON.stringify(key)}:${value}`;
  }
  return added;
}

function findByKey(matches: readonly Match[], key: string): Match | undefined {
  for (const match of matches) if (match.key === key) return match;
  return undefined;
}

function readKey(raw: string): string {
  // The cast is safe: JSON.parse of a JSON string returns a string.
  return raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
}
