import pino from "pino";
import { openStdout } from "./stdout.ts";

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
export interface ProcessLog extends Log {
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
