import { findValue, type Path } from "./json/edit.ts";
import { skipString } from "./json/scan.ts";
import type { RepeatedPart, ReplyPart } from "./reply-part.ts";
import { printSse, type SseEvent, type SseFrame } from "./sse.ts";

/** Longer events are parsed, within the bounds of the parser. */
const EVENT_CHARS_MAX = 65_536;
/** Examples that are learned in vain before a stream is left to the parser. Each match pays for one more. */
const VAIN_EXAMPLES_MAX = 8;
const EVENT_END = "\n\n";
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
 * stream do. They are compared instead of decoded and parsed, with the same result.
 */
export interface RepeatedEvents {
  /** Reads the events from `start` on that repeat the example; `undefined` if none does. */
  read(text: string, start: number): RepeatedPart | undefined;
  /** Must be called before an event is read in another way: it may change how an equal one is read. */
  forget(): void;
  learn(example: Example): void;
}

export function createRepeatedEvents(): RepeatedEvents {
  return new LearnedEvents();
}

/** A class, because closures for each stream cost more memory. */
class LearnedEvents implements RepeatedEvents {
  #pattern: Pattern | undefined;
  #vainExamplesLeft = VAIN_EXAMPLES_MAX;

  read(text: string, start: number): RepeatedPart | undefined {
    const part = this.#pattern && readRun(this.#pattern, text, start);
    if (part && this.#vainExamplesLeft < VAIN_EXAMPLES_MAX) this.#vainExamplesLeft += 1;
    return part;
  }

  forget(): void {
    this.#pattern = undefined;
  }

  learn(example: Example): void {
    if (this.#vainExamplesLeft === 0 || example.paths.length === 0) return;
    this.#vainExamplesLeft -= 1;
    this.#pattern = patternOf(example);
  }
}

/** An example without the values at its paths, which are its holes. */
interface Pattern {
  /** The event before the first hole, between the holes, and after the last one; quotes are included. */
  readonly read: readonly string[];
  /** The frame for the client, cut like `read`. */
  readonly printed: readonly string[];
  /** Whether a hole is a string, not a count; in the order of the text. */
  readonly isString: readonly boolean[];
  /** Which hole is the generated text. */
  readonly generated: number;
  /** Whether the client gets the event as it came. */
  readonly isVerbatim: boolean;
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
  if (part.usage || part.generated === "" || data.includes("\n")) return undefined;
  const holes = findHoles(data, paths);
  const generated = holes?.findIndex(({ isGenerated }) => isGenerated) ?? -1;
  const value = holes?.[generated];
  if (!holes || !value || decodeString(data.slice(value.start, value.end)) !== part.generated)
    return undefined;
  const printed = cutFrame(frame, frame.data === data ? holes : findHoles(frame.data, paths));
  if (!printed || part.text !== printSse(frame)) return undefined;
  const read = cutFrame(event, holes) ?? [];
  return {
    read,
    printed,
    isString: holes.map(({ isString }) => isString),
    generated,
    isVerbatim: read.every((piece, position) => piece === printed[position]),
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

/** Prints an event, cut at the holes in its data. */
function cutFrame(frame: SseFrame, holes: readonly Hole[] | undefined): readonly string[] | undefined {
  const text = printSse(frame);
  const dataStart = text.length - frame.data.length - EVENT_END.length;
  let from = 0;
  const pieces = holes?.map(({ start, end }) => {
    const piece = text.slice(from, dataStart + start);
    from = dataStart + end;
    return piece;
  });
  return pieces && [...pieces, text.slice(from)];
}

/** Reads the events that differ from the pattern in their holes only. */
function readRun(pattern: Pattern, text: string, start: number): RepeatedPart | undefined {
  const { isReadable } = pattern;
  const run = { text: "", isOutput: true, isReadable, generated: "", usage: undefined, end: start };
  while (readOne(pattern, text, run));
  if (pattern.isVerbatim) run.text = text.slice(start, run.end);
  return run.end > start ? run : undefined;
}

type Run = { -readonly [Key in "text" | "generated" | "end"]: RepeatedPart[Key] };

/** Adds the event at the end of a run to it. Returns false for another event. */
function readOne(pattern: Pattern, text: string, run: Run): boolean {
  const { read, printed, isString, generated, isVerbatim } = pattern;
  const [head = ""] = read;
  if (!text.startsWith(head, run.end)) return false;
  let start = run.end + head.length;
  let frame = printed[0] ?? "";
  let output = "";
  for (let hole = 0; hole < isString.length; hole += 1) {
    const isText = isString[hole] ?? false;
    const end = isText ? skipString(text, start - 1) - 1 : endOfCount(text, start);
    const after = read[hole + 1] ?? "";
    if (!text.startsWith(after, end)) return false;
    const raw = text.slice(start, end);
    const value = isText ? decodeString(raw) : raw || undefined;
    if (value === undefined) return false;
    if (hole === generated) output = value;
    if (!isVerbatim) frame += raw + (printed[hole + 1] ?? "");
    start = end + after.length;
  }
  if (output === "" || start - run.end > EVENT_CHARS_MAX) return false;
  if (!isVerbatim) run.text += frame;
  run.generated += output;
  run.end = start;
  return true;
}

/** Returns the index after the count at `start`; `start` itself when no count begins there. */
function endOfCount(text: string, start: number): number {
  COUNT.lastIndex = start;
  return COUNT.test(text) ? COUNT.lastIndex : start;
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
