/** Interval of keep-alives, so that no proxy closes the connection for inactivity. */
const SILENCE_MS = 15_000;
/** Bytes buffered for a slow client before reading from the upstream pauses. */
const BUFFER_BYTES = 64 * 1024;

const encoder = new TextEncoder();

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
  onOpen(body: ReadableStream<Uint8Array>): void;
}

export function createEventStream({
  keepAlive,
  silenceMs = SILENCE_MS,
  onOpen,
}: EventStreamOptions): EventStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let room = Promise.withResolvers<void>();
  let isOpen = false;
  let isClosed = false;
  let lastWriteAt = performance.now();
  let timer = setTimeout(fillSilence, silenceMs);

  function close(): void {
    isClosed = true;
    clearTimeout(timer);
    room.resolve();
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull: () => room.resolve(),
      cancel: close,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
  );

  function fillSilence(): void {
    if (performance.now() - lastWriteAt >= silenceMs && hasRoom()) push(keepAlive);
    const quietMs = performance.now() - lastWriteAt;
    timer = setTimeout(fillSilence, quietMs < silenceMs ? silenceMs - quietMs : silenceMs);
  }
  function hasRoom(): boolean {
    return (controller?.desiredSize ?? 0) > 0;
  }
  function push(text: string): void {
    if (isClosed) return;
    lastWriteAt = performance.now();
    controller?.enqueue(encoder.encode(text));
    if (isOpen) return;
    isOpen = true;
    onOpen(body);
  }

  return {
    get isOpen() {
      return isOpen;
    },
    write(text) {
      push(text);
      if (isClosed || hasRoom()) return undefined;
      room = Promise.withResolvers<void>();
      return room.promise;
    },
    end(text) {
      if (text !== "") push(text);
      if (isClosed) return;
      close();
      controller?.close();
    },
    abandon: close,
  };
}
