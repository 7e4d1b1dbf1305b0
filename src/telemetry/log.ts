import pino from "pino";

/** The fields of one log line; never a key, a password, a body, or text of an upstream. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured log: one JSON object per line. `event` is the message. */
export interface Log {
  debug(fields: LogFields, event: string): void;
  info(fields: LogFields, event: string): void;
  warn(fields: LogFields, event: string): void;
  error(fields: LogFields, event: string): void;
  /** Lines that were dropped since the start; absent for a log that drops none. */
  readonly dropped?: number;
}

/** Lines in one write. Single writes would cost 10 % of a request. */
const LINES_MAX = 256;
/** Time after which fewer lines are written. */
const WAIT_MS = 100;

/** The log of a process. */
interface ProcessLog extends Log {
  readonly dropped: number;
  /** Writes the buffered lines, for at most 5 s, and for 1 s while none of them is read. */
  close(): Promise<void>;
}

/** Creates the log of the process, on stdout. No caller waits for stdout. */
export function createLog(level: string): ProcessLog {
  const stdout = openStdout();
  let lines: string[] = [];
  let timer: Timer | undefined;
  let dropped = 0;
  let reported = 0;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length === 0) return;
    const batch = lines;
    lines = [];
    const lost = stdout.write(batch);
    if (lost === 0) reportDropped();
    else dropped += lost;
  }
  function reportDropped(): void {
    const count = dropped - reported;
    reported = dropped;
    if (count > 0) logger.warn({ lines: count }, "log lines dropped");
  }
  function write(line: string): void {
    lines.push(line);
    timer ??= setTimeout(flush, WAIT_MS);
    if (lines.length >= LINES_MAX) flush();
  }

  const logger = createLogger(level, write);
  return {
    debug: (fields, event) => logger.debug(fields, event),
    info: (fields, event) => logger.info(fields, event),
    warn: (fields, event) => logger.warn(fields, event),
    error: (fields, event) => logger.error(fields, event),
    get dropped() {
      return dropped;
    },
    async close() {
      flush();
      reportDropped();
      flush();
      await stdout.end();
    },
  };
}

/** Prints one line. `time` is pino's own, such as `,"time":"2026-11-22T09:00:00.000Z"`. */
type PrintLine = (fields: LogFields, event: string, level: number, time: string) => string;

/**
 * Creates a pino logger that prints its lines with one `JSON.stringify`. On Bun, pino itself calls it for
 * each name and each value, and reports each line to a tracing channel: four times the cost.
 */
export function createLogger(level: string, write: (line: string) => void): pino.Logger {
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
  const { asJsonSym } = pino.symbols;
  // Safe because pino's own method of this name takes these arguments.
  const printAnything = (logger as unknown as Record<symbol, PrintLine>)[asJsonSym];
  const printLine: PrintLine = (fields, event, number, time) => {
    try {
      return `{"level":${number}${time},${JSON.stringify({ ...fields, msg: event }).slice(1)}\n`;
    } catch {
      // Values that JSON does not have: pino prints them as well as it can.
      return printAnything?.call(logger, fields, event, number, time) ?? "";
    }
  };
  return Object.assign(logger, { [asJsonSym]: printLine });
}

/**
 * Returns the log fields of a fault: its class, its code, where it was thrown, and its cause. The message is
 * left out, because libraries put statements, values and host names into it.
 */
export function describeFault(fault: unknown): LogFields {
  if (!(fault instanceof Error)) return { fault: typeof fault };
  const code = "code" in fault && /^\w+$/.test(String(fault.code)) ? String(fault.code) : undefined;
  const frames = fault.stack?.split("\n").filter((line) => line.startsWith("    at ")) ?? [];
  const because = fault.cause === undefined ? undefined : describeFault(fault.cause);
  return { fault: fault.name, code, at: frames.slice(0, 6).map((line) => line.trim()), because };
}

/**
 * Logs uncaught exceptions, unhandled rejections and warnings of the runtime and of libraries. The process
 * continues, as a stray fault ends one request at most. Without this, Bun prints their texts to stderr.
 */
export function logStrayFaults(log: Log): void {
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (fault) => log.error(describeFault(fault), "stray fault"));
  }
  // The runtime's own listener prints warnings to stderr.
  process.removeAllListeners("warning");
  process.on("warning", (warning) => log.warn(describeFault(warning), "runtime warning"));
}

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
interface Stdout {
  /** Buffers whole lines. Returns how many of them do not fit, and are dropped. */
  write(lines: readonly string[]): number;
  /** Resolves when the buffer is written, or when it is not read. Nothing is written afterwards. */
  end(): Promise<void>;
}

/**
 * Opens stdout. No caller waits for it. The process keeps running, and still exits, when stdout breaks: a closed
 * terminal or pipe, or a full disk. Then each write tries again.
 */
function openStdout(): Stdout {
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
