import { type Deadline, platform, SharedTimer } from "../platform.ts";

/** Interval of keep-alives, so that no proxy closes the connection for inactivity. */
const SILENCE_MS = 15_000;

/** Bytes or characters kept for a body that the server has not begun to send. */
const UNSENT_MAX = 64 * 1024;

const clock = () => platform.monotonicMs();
/** Watches the silence of all streams. */
const silenceTimer = new SharedTimer(clock);

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
  onOpen(body: ReadableStream<Uint8Array>): void;
}

export function createEventStream(options: EventStreamOptions): EventStream {
  return new ChunkStream(options);
}

/** Creates the body of a file. Silence is not filled, because every byte belongs to the file. */
export function createByteStream(onOpen: (body: ReadableStream<Uint8Array>) => void): ByteStream {
  return new ChunkStream({ onOpen });
}

interface ChunkOptions<Chunk> {
  readonly keepAlive?: Chunk;
  readonly silenceMs?: number;
  onOpen(body: ReadableStream<Uint8Array>): void;
}

/**
 * The stream, the source of its body, and the deadline of its next keep-alive: one object per stream. Its chunks
 * are written to the connection at once; a queue of chunks costs a twentieth more CPU.
 */
class ChunkStream<Chunk extends string | Uint8Array> implements ReplyStream<Chunk>, Deadline {
  readonly type = "direct";
  isOpen = false;
  readonly #options: ChunkOptions<Chunk>;
  readonly #silenceMs: number;
  /** Writes to the client; `undefined` until the server sends the body. */
  #connection: ReadableStreamDirectController | undefined;
  /** Chunks that came before the connection. */
  readonly #unsent: Chunk[] = [];
  #unsentSize = 0;
  /** Resolves with the connection; set only while more is unsent than may be. */
  #isBegun: PromiseWithResolvers<void> | undefined;
  /** Whether the connection buffers what a slow client has not read yet. */
  #isFull = false;
  #isClosed = false;
  /** Whether the body ends before its end. */
  #isCut = false;
  /** Ends the body, for which the server waits. */
  #finish: (() => void) | undefined;
  /** Clock reading of the latest chunk, or of the latest silence that a full buffer left unfilled. */
  #quietSince = clock();

  constructor(options: ChunkOptions<Chunk>) {
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    if (options.keepAlive !== undefined) silenceTimer.add(this);
  }

  /** Called once, when the server sends the body. Resolves at its end; a rejection closes the connection. */
  pull(connection: ReadableStreamDirectController): Promise<void> | undefined {
    this.#connection = connection;
    for (const chunk of this.#unsent.splice(0)) void this.#send(connection, chunk);
    this.#isBegun?.resolve();
    if (this.#isClosed && !this.#isCut) return void connection.end();
    return new Promise((resolve, reject) => {
      // Bun prints every reason but `undefined` to stderr.
      this.#finish = () => (this.#isCut ? reject(undefined) : resolve());
      if (this.#isCut) this.#finish();
    });
  }

  /** Called when the client has disconnected. */
  cancel(): void {
    this.#close();
    this.#isBegun?.resolve();
    this.#finish?.();
  }

  write(chunk: Chunk): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    const room = this.#push(chunk);
    if (this.#connection || this.#unsentSize <= UNSENT_MAX) return room;
    this.#isBegun ??= Promise.withResolvers<void>();
    return this.#isBegun.promise;
  }

  end(chunk: Chunk): void {
    if (this.#isClosed) return;
    if (chunk.length > 0) void this.#push(chunk);
    this.#close();
    void this.#connection?.end();
    this.#finish?.();
  }

  abandon(): void {
    this.#close();
  }

  cut(): void {
    if (this.#isClosed) return;
    this.#isCut = true;
    this.#close();
    this.#finish?.();
  }

  dueAt(): number {
    return this.#quietSince + this.#silenceMs;
  }

  onDue(): void {
    const { keepAlive } = this.#options;
    const hasRoom = !this.#isFull && this.#unsentSize <= UNSENT_MAX;
    if (keepAlive !== undefined && hasRoom) void this.#push(keepAlive);
    else this.#quietSince = clock();
    silenceTimer.add(this);
  }

  #push(chunk: Chunk): Promise<void> | undefined {
    this.#quietSince = clock();
    if (this.#connection) return this.#send(this.#connection, chunk);
    this.#unsent.push(chunk);
    this.#unsentSize += chunk.length;
    if (this.isOpen) return undefined;
    this.isOpen = true;
    // Safe because Bun supports direct sources, which the DOM's types do not declare.
    this.#options.onOpen(new ReadableStream(this as unknown as UnderlyingSource<Uint8Array>));
    return undefined;
  }

  /** Returns a promise of room while the client reads too slowly. It resolves also when the client is gone. */
  #send(connection: ReadableStreamDirectController, chunk: Chunk): Promise<void> | undefined {
    const written = connection.write(chunk);
    void connection.flush();
    if (typeof written === "number") return undefined;
    this.#isFull = true;
    return written.then(() => {
      this.#isFull = false;
    });
  }

  #close(): void {
    this.#isClosed = true;
    silenceTimer.delete(this);
  }
}
