import { platform } from "../platform.ts";
import { type Deadline, SharedTimer } from "../time.ts";

/** Interval of keep-alives, so that no proxy closes the connection for inactivity. */
const SILENCE_MS = 15_000;

/**
 * Characters buffered for a slow client before reading from the upstream pauses. The server encodes text at
 * less than half the cost of an encoder.
 */
const BUFFERED_TEXT: QueuingStrategy<string> = { highWaterMark: 64 * 1024, size: (text = "") => text.length };

const clock = () => platform.monotonicMs();
/** Watches the silence of all streams. */
const silenceTimer = new SharedTimer(clock);

/** Bytes buffered for a slow client. */
const BUFFERED_BYTES: QueuingStrategy<Uint8Array> = {
  highWaterMark: 256 * 1024,
  size: (bytes = new Uint8Array()) => bytes.byteLength,
};

/** A response body that is written in chunks and opens with its first chunk. */
interface ReplyStream<Chunk> {
  readonly isOpen: boolean;
  /** Returns `undefined` while the buffer has room. Else resolves with room, or when the client is gone. */
  write(chunk: Chunk): Promise<void> | undefined;
  /** Writes the last chunk and closes. Later calls do nothing. */
  end(chunk: Chunk): void;
  /** Discards a stream that was not opened. */
  abandon(): void;
  /** Closes the connection before the end of the body, so that no client takes the rest for the whole. */
  cut(): void;
}

export type EventStream = ReplyStream<string>;
export type ByteStream = ReplyStream<Uint8Array>;

export interface EventStreamOptions {
  /** Sent after each 15 s without a chunk. Opens the stream too. */
  readonly keepAlive: string;
  readonly silenceMs?: number;
  /** Called once, with the first chunk. */
  onOpen(body: ReadableStream<string>): void;
}

export function createEventStream(options: EventStreamOptions): EventStream {
  return new ChunkStream(options, BUFFERED_TEXT);
}

/** Creates the body of a file. Silence is not filled, because every byte belongs to the file. */
export function createByteStream(onOpen: (body: ReadableStream<Uint8Array>) => void): ByteStream {
  return new ChunkStream({ onOpen }, BUFFERED_BYTES);
}

interface ChunkOptions<Chunk> {
  readonly keepAlive?: Chunk;
  readonly silenceMs?: number;
  onOpen(body: ReadableStream<Chunk>): void;
}

/** The stream, the source of its body, and the deadline of its next keep-alive: one object per stream. */
class ChunkStream<Chunk extends string | Uint8Array>
  implements ReplyStream<Chunk>, UnderlyingDefaultSource<Chunk>, Deadline
{
  isOpen = false;
  readonly #options: ChunkOptions<Chunk>;
  readonly #silenceMs: number;
  readonly #body: ReadableStream<Chunk>;
  #controller: ReadableStreamDefaultController<Chunk> | undefined;
  /** Resolves when the buffer has room again; set only while the buffer is full. */
  #room: PromiseWithResolvers<void> | undefined;
  #isClosed = false;
  /** Clock reading of the latest chunk, or of the latest silence that a full buffer left unfilled. */
  #quietSince = clock();

  constructor(options: ChunkOptions<Chunk>, strategy: QueuingStrategy<Chunk>) {
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.#body = new ReadableStream<Chunk>(this, strategy);
    if (options.keepAlive !== undefined) silenceTimer.add(this);
  }

  start(controller: ReadableStreamDefaultController<Chunk>): void {
    this.#controller = controller;
  }

  pull(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  cancel(): void {
    this.#close();
  }

  write(chunk: Chunk): Promise<void> | undefined {
    this.#push(chunk);
    if (this.#isClosed || this.#hasRoom()) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  end(chunk: Chunk): void {
    if (chunk.length > 0) this.#push(chunk);
    if (this.#isClosed) return;
    this.#close();
    this.#controller?.close();
  }

  abandon(): void {
    this.#close();
  }

  cut(): void {
    if (this.#isClosed) return;
    this.#close();
    // Bun prints every reason but `undefined` to stderr.
    this.#controller?.error(undefined);
  }

  dueAt(): number {
    return this.#quietSince + this.#silenceMs;
  }

  onDue(): void {
    const { keepAlive } = this.#options;
    if (keepAlive !== undefined && this.#hasRoom()) this.#push(keepAlive);
    else this.#quietSince = clock();
    silenceTimer.add(this);
  }

  #hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  #push(chunk: Chunk): void {
    if (this.#isClosed) return;
    this.#quietSince = clock();
    this.#controller?.enqueue(chunk);
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
