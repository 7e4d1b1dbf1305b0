import pino from "pino";

/** Bytes buffered while stdout is not read. */
const BUFFERED_BYTES_MAX = 16 * 1024 * 1024;
/** Pauses before a full pipe is tried again, in milliseconds; they double while nothing is read. */
const RETRY_MS = { min: 1, max: 64 };
/** How long `end` waits while nothing of the buffer is read. */
const END_IDLE_MS = 1_000;
/** How long `end` waits for a reader that is slow. */
const END_MS_MAX = 5_000;

/** Stdout, written in the background. */
export interface Stdout {
  /** Buffers a text. Returns `false` when it does not fit, and is dropped. */
  write(text: string): boolean;
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
    write(text) {
      if (state.isEnding) return false;
      state.hasRoom = true;
      stdout.write(text);
      return state.hasRoom;
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

/** Whether a pipe took nothing because its reader is slow. */
function isFull(error: Error): boolean {
  return "code" in error && (error.code === "EAGAIN" || error.code === "EBUSY");
}
