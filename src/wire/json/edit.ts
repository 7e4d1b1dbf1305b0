import { skipSpace, skipString, skipValue } from "./scan.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;

/**
 * What becomes of a member: gets the text of its value (`undefined` when there is no such member) and
 * gives the text that takes its place (`undefined` for no member at all).
 */
export type ValueEdit = (value: string | undefined) => string | undefined;

/** A member that is edited, and where it stands in the text. */
interface Match {
  readonly key: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
  /** Where the member before it ends, if there is one. */
  readonly previousEnd: number;
  /** Where the member after it starts; the end of the object when it is the last. */
  readonly nextStart: number;
  readonly followsUnedited: boolean;
}

type Edits = Readonly<Record<string, ValueEdit>>;

/**
 * Edits members of a JSON object's text in place; every other byte stays as it is. The text is valid JSON.
 * A repeated key is handed over once, with its last value (the one JSON.parse takes), and is said once
 * afterwards. New members go to the end.
 */
export function editMembers(text: string, edits: Edits): string {
  const { matches, end, hasUnedited } = findMatches(text, edits);
  let result = "";
  let cursor = 0;
  let isSaid = false;
  const done = new Set<string>();
  for (const match of matches) {
    const value = done.has(match.key) ? undefined : edits[match.key]?.(lastValueOf(text, matches, match.key));
    done.add(match.key);
    const follows = isSaid || match.followsUnedited;
    if (value !== undefined) {
      result += text.slice(cursor, match.valueStart) + value;
      cursor = match.end;
      isSaid = true;
    } else {
      result += text.slice(cursor, follows ? match.previousEnd : match.start);
      cursor = follows ? match.end : match.nextStart;
    }
  }
  const added = printAdded(edits, done);
  if (added === "") return result + text.slice(cursor);
  const comma = isSaid || hasUnedited ? "," : "";
  return result + text.slice(cursor, end) + comma + added + text.slice(end);
}

/** Edits the elements of a JSON array's text in place; `edit` gets the text of each and its position. */
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

/** Where the value of an object's only member of that name stands; `undefined` for none or several. */
export function findMember(text: string, key: string): { start: number; end: number } | undefined {
  const [match, ...others] = findMatches(text, { [key]: once }).matches;
  return match && others.length === 0 ? { start: match.valueStart, end: match.end } : undefined;
}

/** Keeps a member as it is, but said once: for keys whose first and last value could be read differently. */
export const once: ValueEdit = (value) => value;

/** The same for each of these members. */
export function onceEach(keys: Iterable<string>): Edits {
  return Object.fromEntries(Array.from(keys, (key) => [key, once]));
}

function findMatches(text: string, edits: Edits) {
  const matches: Match[] = [];
  let hasUnedited = false;
  let previousEnd = skipSpace(text, 0) + 1;
  let start = skipSpace(text, previousEnd);
  while (text.charCodeAt(start) === QUOTE) {
    const keyEnd = skipString(text, start);
    const key = readKey(text.slice(start + 1, keyEnd - 1));
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, valueStart);
    const nextStart = nextAfter(text, end);
    if (Object.hasOwn(edits, key)) {
      matches.push({ key, start, valueStart, end, previousEnd, nextStart, followsUnedited: hasUnedited });
    } else hasUnedited = true;
    previousEnd = end;
    start = nextStart;
  }
  return { matches, hasUnedited, end: previousEnd };
}

/** Where the member or element after this end starts; the end itself when nothing follows. */
function nextAfter(text: string, end: number): number {
  const comma = skipSpace(text, end);
  return text.charCodeAt(comma) === COMMA ? skipSpace(text, comma + 1) : comma;
}

function lastValueOf(text: string, matches: readonly Match[], key: string): string | undefined {
  const match = matches.findLast((each) => each.key === key);
  return match && text.slice(match.valueStart, match.end);
}

function printAdded(edits: Edits, done: ReadonlySet<string>): string {
  let added = "";
  for (const [key, edit] of Object.entries(edits)) {
    const value = done.has(key) ? undefined : edit(undefined);
    if (value !== undefined) added += `${added && ","}${JSON.stringify(key)}:${value}`;
  }
  return added;
}

function readKey(raw: string): string {
  // Safe because JSON.parse of a JSON string is a string.
  return raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
}
