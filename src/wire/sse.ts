import { UpstreamFault } from "./upstream-fault.ts";

/** One event of a stream. `data` joins several data lines with a line feed. */
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
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
export interface SseDecoder {
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

/** Characters of an incomplete event, over all its lines. */
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
 * Creates a decoder of events of at most so many characters. It accepts LF, CRLF and CR, with or without BOM, and
 * drops comments, ids and retries.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function createSseDecoder(eventCharsMax = EVENT_CHARS_MAX): SseDecoder {
  return new EventDecoder(eventCharsMax);
}

/** A class, because closures for each stream cost more memory. */
class EventDecoder implements SseDecoder {
  readonly #eventCharsMax: number;
  readonly #decoder = new TextDecoder();
  readonly #lines = new LineReader();
  #isAfterCr = false;

  constructor(eventCharsMax: number) {
    this.#eventCharsMax = eventCharsMax;
  }

  decode(bytes: Uint8Array | undefined, listener: SseListener): void {
    this.#read(bytes ? this.#decoder.decode(bytes, STREAMED) : this.#decoder.decode(), listener);
    if (bytes === undefined && this.#lines.pendingChars() > 0) this.#read("\n\n", listener);
  }

  push(bytes: Uint8Array): SseEvent[] {
    return this.#collect(bytes);
  }

  end(): SseEvent[] {
    return this.#collect(undefined);
  }

  #read(text: string, listener: SseListener): void {
    this.#lines.read(this.#normaliseLineEnds(text), listener);
    if (this.#lines.pendingChars() > this.#eventCharsMax) throw new UpstreamFault("An event is too long");
  }

  #normaliseLineEnds(text: string): string {
    const rest = this.#isAfterCr && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#isAfterCr = text.endsWith("\r");
    return rest.includes("\r") ? rest.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : rest;
  }

  #collect(bytes: Uint8Array | undefined): SseEvent[] {
    const events: SseEvent[] = [];
    this.decode(bytes, { read: (event) => void events.push(event) });
    return events;
  }
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

/** Reads lines into events. */
class LineReader {
  #partial = "";
  #event: string | undefined;
  #data: string | undefined;
  #dataLines = 0;

  pendingChars(): number {
    return this.#partial.length + (this.#data?.length ?? 0) + (this.#event?.length ?? 0);
  }

  /** Reads the events that the text completes. Lines must end in LF. */
  read(text: string, listener: SseListener): void {
    let start = this.#readAhead(text, 0, listener);
    for (let end = text.indexOf("\n", start); end >= 0; end = text.indexOf("\n", start)) {
      if (this.#isBetweenEvents() && isWholeEvent(text, start, end)) {
        listener.read({ event: undefined, data: text.slice(start + DATA_FIELD.length, end) });
        start = this.#readAhead(text, end + 2, listener);
        continue;
      }
      const line = this.#partial + text.slice(start, end);
      this.#partial = "";
      start = end + 1;
      if (line !== "") this.#readField(line);
      else {
        this.#endEvent(listener);
        start = this.#readAhead(text, start, listener);
      }
    }
    if (start < text.length) this.#partial += start === 0 ? text : text.slice(start);
  }

  #isBetweenEvents(): boolean {
    return this.#partial === "" && this.#data === undefined && this.#event === undefined;
  }

  #readAhead(text: string, start: number, listener: SseListener): number {
    return listener.readText && this.#isBetweenEvents() ? listener.readText(text, start) : start;
  }

  #readField(line: string): void {
    if (line.startsWith("data:")) this.#addData(line.slice(line.charCodeAt(5) === SPACE ? 6 : 5));
    else if (line.startsWith("event:"))
      this.#event = line.slice(line.charCodeAt(6) === SPACE ? 7 : 6) || undefined;
    else if (line === "data") this.#addData("");
  }

  #addData(value: string): void {
    this.#dataLines += 1;
    if (this.#dataLines > EVENT_LINES_MAX) throw new UpstreamFault("An event has too many lines");
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }

  #endEvent(listener: SseListener): void {
    const ended = this.#data === undefined ? undefined : { event: this.#event, data: this.#data };
    this.#event = undefined;
    this.#data = undefined;
    this.#dataLines = 0;
    if (ended) listener.read(ended);
  }
}
