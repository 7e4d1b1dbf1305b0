import { findValue, type Path } from "./json/edit.ts";
import { skipString } from "./json/scan.ts";
import type { ReplyPart } from "./reply-part.ts";
import { printSse, type SseEvent, type SseFrame } from "./sse.ts";

/** Longer events are parsed, within the bounds of the parser. */
const EVENT_CHARS_MAX = 65_536;
/** Examples that are learned in vain before a stream is left to the parser. Each match pays for one more. */
const VAIN_EXAMPLES_MAX = 8;
/** A string with one of these characters has escapes, or is invalid. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a JSON string must not contain them.
const NEEDS_PARSER = /[\\\u0000-\u001f]/;
/** A whole number as JSON prints it. */
const COUNT = /(?:0|[1-9]\d{0,14})/y;

/** An event that was read with the parser, whose reading left nothing behind that changes the next reading. */
interface Example {
  readonly event: SseEvent;
  /** The part that was read. */
  readonly part: ReplyPart;
  /** The one event that `part.text` prints; its data differs from that of `event` outside `paths` only. */
  readonly frame: SseFrame;
  /**
   * Paths of the members that may differ in the next event, each a string or a count. The first one is the
   * string that equals `part.generated`. The part depends on no other of them. No path if the text of the next
   * event may stand elsewhere.
   */
  readonly paths: readonly Path[];
}

/**
 * Reads events that differ from the event before them only in their generated text, as nearly all events of a
 * stream do. They are compared instead of parsed, with the same result.
 */
export interface RepeatedEvents {
  /** Returns the part of an event like the example. Forgets the example at any other event. */
  read(event: SseEvent): ReplyPart | undefined;
  learn(example: Example): void;
}

export function createRepeatedEvents(): RepeatedEvents {
  let pattern: Pattern | undefined;
  let vainExamplesLeft = VAIN_EXAMPLES_MAX;

  return {
    read(event) {
      if (pattern === undefined) return undefined;
      const part = event.event === pattern.name ? match(pattern, event.data) : undefined;
      if (part === undefined) pattern = undefined;
      else if (vainExamplesLeft < VAIN_EXAMPLES_MAX) vainExamplesLeft += 1;
      return part;
    },
    learn(example) {
      if (vainExamplesLeft === 0 || example.paths.length === 0) return;
      vainExamplesLeft -= 1;
      pattern = patternOf(example);
    },
  };
}

/** An example without the values at its paths, which are its holes. */
interface Pattern {
  readonly name: string | undefined;
  /** The data before the first hole, between the holes, and after the last one; quotes are included. */
  readonly read: readonly string[];
  /** The frame for the client, cut like `read`. */
  readonly printed: readonly string[];
  /** Whether a hole is a string, not a count; in the order of the text. */
  readonly isString: readonly boolean[];
  /** Which hole is the generated text. */
  readonly generated: number;
  readonly isReadable: boolean;
}

interface Hole {
  readonly start: number;
  readonly end: number;
  readonly isString: boolean;
  readonly isGenerated: boolean;
}

function patternOf({ event, part, frame, paths }: Example): Pattern | undefined {
  const { data } = event;
  const text = printSse(frame);
  if (part.usage || part.generated === "" || part.text !== text || data.includes("\n")) return undefined;
  const holes = findHoles(data, paths);
  const printedHoles = frame.data === data ? holes : findHoles(frame.data, paths);
  const generated = holes?.findIndex(({ isGenerated }) => isGenerated) ?? -1;
  const value = holes?.[generated];
  if (!holes || !printedHoles || !value) return undefined;
  if (decodeString(data.slice(value.start, value.end)) !== part.generated) return undefined;
  const dataStart = text.length - frame.data.length - "\n\n".length;
  return {
    name: event.event,
    read: cutAt(holes, data, 0),
    printed: cutAt(printedHoles, text, dataStart),
    isString: holes.map(({ isString }) => isString),
    generated,
    isReadable: part.isReadable,
  };
}

/** Returns the holes in the order of the text; `undefined` if a path is missing or ambiguous. */
function findHoles(data: string, paths: readonly Path[]): readonly Hole[] | undefined {
  const holes: Hole[] = [];
  for (const path of paths) {
    const value = findValue(data, path);
    if (value === undefined) return undefined;
    const isString = data.startsWith('"', value.start);
    const inset = isString ? 1 : 0;
    const isGenerated = holes.length === 0;
    holes.push({ start: value.start + inset, end: value.end - inset, isString, isGenerated });
  }
  return holes.sort((one, other) => one.start - other.start);
}

function cutAt(holes: readonly Hole[], text: string, offset: number): readonly string[] {
  let from = 0;
  const pieces = holes.map(({ start, end }) => {
    const piece = text.slice(from, offset + start);
    from = offset + end;
    return piece;
  });
  return [...pieces, text.slice(from)];
}

/** Reads an event that differs from the pattern in its holes only. */
function match({ read, printed, isString, generated, isReadable }: Pattern, data: string) {
  const [head = ""] = read;
  if (data.length > EVENT_CHARS_MAX || !data.startsWith(head)) return undefined;
  const part = { text: printed[0] ?? "", isOutput: true, isReadable, generated: "", usage: undefined };
  let start = head.length;
  for (let hole = 0; hole < isString.length; hole += 1) {
    const isText = isString[hole] ?? false;
    const end = isText ? skipString(data, start - 1) - 1 : endOfCount(data, start);
    const after = read[hole + 1] ?? "";
    if (!data.startsWith(after, end)) return undefined;
    const raw = data.slice(start, end);
    const value = isText ? decodeString(raw) : raw || undefined;
    if (value === undefined) return undefined;
    if (hole === generated) part.generated = value;
    part.text += raw + (printed[hole + 1] ?? "");
    start = end + after.length;
  }
  return start === data.length && part.generated !== "" ? part : undefined;
}

/** Returns the index after a count, or `start` if there is none. */
function endOfCount(data: string, start: number): number {
  COUNT.lastIndex = start;
  return COUNT.test(data) ? COUNT.lastIndex : start;
}

/** Decodes a string without its quotes; `undefined` if it is invalid. */
function decodeString(raw: string): string | undefined {
  if (!NEEDS_PARSER.test(raw)) return raw;
  try {
    // The cast is safe: JSON.parse of one JSON string returns a string.
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}
