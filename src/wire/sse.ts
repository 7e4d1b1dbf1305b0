import { UpstreamFault } from "./upstream-fault.ts";

/** One event of a stream. `data` joins several data lines with a line feed. */
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Bounds of one event. */
interface SseLimits {
  /** Characters of an incomplete event, over all its lines. */
  readonly eventCharsMax: number;
  /** Number of `data` lines. */
  readonly eventLinesMax?: number;
}

/** Reads the events of a decoder, in the order of the stream. */
export interface SseListener {
  read(event: SseEvent): void;
  /**
   * Called with a text whose lines end in LF, where an event may begin at `start`. May read whole events by
   * itself, and returns the index after them; returns `start` if it read none.
   */
  readText?(text: string, start: number): number;
}

/** Decodes bytes into events, wherever the chunks are cut. One decoder per stream. */
interface SseDecoder {
  /**
   * Reads the events that these bytes complete. Without bytes, the stream has ended: reads the last event if
   * its blank line is missing. Throws {@link UpstreamFault} above a limit.
   */
  decode(bytes: Uint8Array | undefined, listener: SseListener): void;
  /** Returns the events that `decode` reads. */
  push(bytes: Uint8Array): SseEvent[];
  /** Returns the last event if the stream ended without its blank line. */
  end(): SseEvent[];
}

/** An event to print; `data` may contain line feeds. */
export interface SseFrame {
  readonly event?: string | undefined;
  readonly data: string;
}

const EVENT_CHARS_MAX = 16 * 1024 * 1024;
/**
 * Providers send an event in one line. A line costs far more memory than its characters until it is joined.
 */
const EVENT_LINES_MAX = 10_000;
const SPACE = 0x20;
const LINE_FEED = 0x0a;
const DATA_FIELD = "data: ";
const STREAMED = { stream: true } as const;

/**
 * Creates a decoder that accepts LF, CRLF and CR, with or without BOM, and drops comments, ids and retries.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function createSseDecoder(limits: SseLimits = { eventCharsMax: EVENT_CHARS_MAX }): SseDecoder {
  const decoder = new TextDecoder();
  const lines = createLineReader(limits.eventLinesMax ?? EVENT_LINES_MAX);
  let isAfterCr = false;

  const normaliseLineEnds = (text: string): string => {
    const rest = isAfterCr && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") isAfterCr = text.endsWith("\r");
    return rest.includes("\r") ? rest.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : rest;
  };

  const read = (text: string, listener: SseListener): void => {
    lines.read(normaliseLineEnds(text), listener);
    if (lines.pendingChars() > limits.eventCharsMax) throw new UpstreamFault("An event is too long");
  };

  const decode = (bytes: Uint8Array | undefined, listener: SseListener): void => {
    read(bytes ? decoder.decode(bytes, STREAMED) : decoder.decode(), listener);
    if (bytes === undefined && lines.pendingChars() > 0) read("\n\n", listener);
  };

  const collect = (bytes: Uint8Array | undefined): SseEvent[] => {
    const events: SseEvent[] = [];
    decode(bytes, { read: (event) => void events.push(event) });
    return events;
  };

  return { decode, push: collect, end: () => collect(undefined) };
}

/** Prints one event; each line feed in the data starts another data line. */
export function printSse({ event, data }: SseFrame): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  const body = data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data;
  return `${name}data: ${body}\n\n`;
}

/** Returns whether one `data` line is a whole event, as nearly every event of a chat stream is. */
function isWholeEvent(text: string, start: number, end: number): boolean {
  return text.charCodeAt(end + 1) === LINE_FEED && text.startsWith(DATA_FIELD, start);
}

function createLineReader(linesMax: number) {
  let partial = "";
  let event: string | undefined;
  let data: string | undefined;
  let dataLines = 0;

  const addData = (value: string): void => {
    dataLines += 1;
    if (dataLines > linesMax) throw new UpstreamFault("An event has too many lines");
    data = data === undefined ? value : `${data}\n${value}`;
  };
  const readField = (line: string): void => {
    if (line.startsWith("data:")) addData(line.slice(line.charCodeAt(5) === SPACE ? 6 : 5));
    else if (line.startsWith("event:")) event = line.slice(line.charCodeAt(6) === SPACE ? 7 : 6) || undefined;
    else if (line === "data") addData("");
  };

  const isBetweenEvents = () => partial === "" && data === undefined && event === undefined;
  const readAhead = (text: string, start: number, listener: SseListener): number =>
    listener.readText && isBetweenEvents() ? listener.readText(text, start) : start;
  const endEvent = (listener: SseListener): void => {
    const ended = data === undefined ? undefined : { event, data };
    event = undefined;
    data = undefined;
    dataLines = 0;
    if (ended) listener.read(ended);
  };

  return {
    pendingChars: () => partial.length + (data?.length ?? 0) + (event?.length ?? 0),

    /** Reads the events that the text completes. Lines must end in LF. */
    read(text: string, listener: SseListener): void {
      let start = readAhead(text, 0, listener);
      for (let end = text.indexOf("\n", start); end >= 0; end = text.indexOf("\n", start)) {
        if (isBetweenEvents() && isWholeEvent(text, start, end)) {
          listener.read({ event: undefined, data: text.slice(start + DATA_FIELD.length, end) });
          start = readAhead(text, end + 2, listener);
          continue;
        }
        const line = partial + text.slice(start, end);
        partial = "";
        start = end + 1;
        if (line !== "") readField(line);
        else {
          endEvent(listener);
          start = readAhead(text, start, listener);
        }
      }
      if (start < text.length) partial += start === 0 ? text : text.slice(start);
    },
  };
}
