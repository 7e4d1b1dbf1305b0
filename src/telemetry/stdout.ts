import pino from "pino";

/** Bytes buffered while stdout is not read. */
const BUFFERED_BYTES_MAX = 16 * 1024 * 1024;
/**
 * Bytes of one write. A pipe takes that much as a whole or not at all, so that a process that ends while its
 * stdout is not read leaves no half line.
 *
 * @see https://man7.org/linux/man-pages/man7/pipe.7.html PIPE_BUF
 */
const WRITE_BYTES = 4_096;
/** Pauses before a full pipe is tried again, in milliseconds; they double while nothing is read. */
const RETRY_MS = { min: 1, max: 64 };
/** How long `end` waits while nothing of the buffer is read. */
const END_IDLE_MS = 1_000;
/** How long `end` waits for a reader that is slow. */
const END_MS_MAX = 5_000;

/** Stdout, written in the background. */
export interface Stdout {
  /** Buffers whole lines. Returns how many of them do not fit, and are dropped. */
  write(lines: readonly string[]): number;
  /** Resolves when the buffer is written, or when it is not read. Nothing is written afterwards. */
  end(): Promise<void>;
}

/**
 * Opens stdout. No caller waits for it. The process keeps running, and still exits, when stdout breaks: a closed
 * terminal or pipe, or a full disk. Then each write tries again.
 */
export function openStdout(): Stdout {
  const { promise: ended, resolve: endNow } = Promise.withResolvers<void>();
  const state = { isEnding: false, isBroken: false, isClosed: false, hasRoom: true, retryMs: RETRY_MS.min };
  // Registered before pino's own exit listener, which would retry writing for ever.
  process.on("exit", () => {
    if (state.isBroken) stdout.destroy();
  });
  const stdout = pino.destination({
    fd: 1,
    sync: false,
    maxWrite: WRITE_BYTES,
    maxLength: BUFFERED_BYTES_MAX,
    // The library's own pause of 100 ms would pass on at most 640 KB/s: 2,000 lines.
    retryEAGAIN: () => false,
  });
  /** Writes what the pipe did not take; an empty text starts the write again. */
  const retry = () => {
    setTimeout(() => {
      if (!state.isClosed) stdout.write("");
    }, state.retryMs);
    state.retryMs = Math.min(state.retryMs * 2, RETRY_MS.max);
  };
  stdout.on("close", () => {
    state.isClosed = true;
    endNow();
  });
  stdout.on("write", () => {
    state.isBroken = false;
    state.retryMs = RETRY_MS.min;
  });
  stdout.on("error", (error) => {
    if (isFull(error)) return retry();
    state.isBroken = true;
    if (state.isEnding) endNow();
  });
  // Emitted inside of `write`.
  stdout.on("drop", () => {
    state.hasRoom = false;
  });
  return {
    write(lines) {
      if (state.isEnding) return lines.length;
      let dropped = 0;
      for (const piece of joinLines(lines)) {
        state.hasRoom = true;
        stdout.write(piece.text);
        if (!state.hasRoom) dropped += piece.lines;
      }
      return dropped;
    },
    async end() {
      state.isEnding = true;
      const idle = setTimeout(endNow, END_IDLE_MS);
      const longest = setTimeout(endNow, END_MS_MAX);
      stdout.on("write", () => idle.refresh());
      // Not `flushSync`, which blocks for ever when stdout is not read.
      stdout.end();
      if (state.isBroken) endNow();
      await ended;
      clearTimeout(idle);
      clearTimeout(longest);
      state.isClosed = true;
      stdout.destroy();
    },
  };
}

interface Piece {
  readonly text: string;
  readonly lines: number;
}

/** Joins lines to pieces of one write each. A longer line is a piece of its own. */
function* joinLines(lines: readonly string[]): Generator<Piece> {
  let from = 0;
  let bytes = 0;
  for (const [at, line] of lines.entries()) {
    const length = Buffer.byteLength(line);
    if (bytes + length > WRITE_BYTES && at > from) {
      yield { text: lines.slice(from, at).join(""), lines: at - from };
      from = at;
      bytes = 0;
    }
    bytes += length;
  }
  if (from < lines.length) yield { text: lines.slice(from).join(""), lines: lines.length - from };
}

/** Whether a pipe took nothing because its reader is slow. */
function isFull(error: Error): boolean {
  return "code" in error && (error.code === "EAGAIN" || error.code === "EBUSY");
}
