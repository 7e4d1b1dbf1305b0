import { type Deadline, SharedTimer } from "../time.ts";

/** Interval of keep-alives, so that no proxy closes the connection for inactivity. */
const SILENCE_MS = 15_000;

/**
 * Characters buffered for a slow client before reading from the upstream pauses. The server encodes text at
 * less than half the cost of an encoder.
 */
const BUFFERED_TEXT: QueuingStrategy<string> = { highWaterMark: 64 * 1024, size: (text = "") => text.length };

const clock = () => performance.now();
/** Watches the silence of all streams. */
const silenceTimer = new SharedTimer(clock);

/** A response body that is written in chunks and opens with its first chunk. */
export interface EventStream {
  readonly isOpen: boolean;
  /** Returns `undefined` while the buffer has room. Else resolves with room, or when the client is gone. */
  write(text: string): Promise<void> | undefined;
  /** Writes the last chunk and closes. Later calls do nothing. */
  end(text: string): void;
  /** Discards a stream that was not opened. */
  abandon(): void;
}

export interface EventStreamOptions {
  /** Sent after each 15 s without a chunk. Opens the stream too. */
  readonly keepAlive: string;
  readonly silenceMs?: number;
  /** Called once, with the first chunk. */
  onOpen(body: ReadableStream<string>): void;
}

export function createEventStream(options: EventStreamOptions): EventStream {
  return new TextStream(options);
}

/** The stream, the source of its body, and the deadline of its next keep-alive: one object per stream. */
class TextStream implements EventStream, UnderlyingDefaultSource<string>, Deadline {
  isOpen = false;
  readonly #options: EventStreamOptions;
  readonly #silenceMs: number;
  readonly #body: ReadableStream<string>;
  #controller: ReadableStreamDefaultController<string> | undefined;
  /** Resolves when the buffer has room again; set only while the buffer is full. */
  #room: PromiseWithResolvers<void> | undefined;
  #isClosed = false;
  /** Clock reading of the latest chunk, or of the latest silence that a full buffer left unfilled. */
  #quietSince = clock();

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.#body = new ReadableStream<string>(this, BUFFERED_TEXT);
    silenceTimer.add(this);
  }

  start(controller: ReadableStreamDefaultController<string>): void {
    this.#controller = controller;
  }

  pull(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  cancel(): void {
    this.#close();
  }

  write(text: string): Promise<void> | undefined {
    this.#push(text);
    if (this.#isClosed || this.#hasRoom()) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  end(text: string): void {
    if (text !== "") this.#push(text);
    if (this.#isClosed) return;
    this.#close();
    this.#controller?.close();
  }

  abandon(): void {
    this.#close();
  }

  dueAt(): number {
    return this.#quietSince + this.#silenceMs;
  }

  onDue(): void {
    if (this.#hasRoom()) this.#push(this.#options.keepAlive);
    else this.#quietSince = clock();
    silenceTimer.add(this);
  }

  #hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  #push(text: string): void {
    if (this.#isClosed) return;
    this.#quietSince = clock();
    this.#controller?.enqueue(text);
    if (this.isOpen) return;
    this.isOpen = true;
    this.#options.onOpen(this.#body);
  }

  #close(): void {
    this.#isClosed = true;
    silenceTimer.delete(this);
    this.pull();
  }
}
