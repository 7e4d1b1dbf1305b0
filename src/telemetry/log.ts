import pino from "pino";

/** Facts of one log line; never a key, a password, a body, or a word that an upstream said. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured logging: one JSON object a line. */
export interface Log {
  debug(fields: LogFields, event: string): void;
  info(fields: LogFields, event: string): void;
  warn(fields: LogFields, event: string): void;
  error(fields: LogFields, event: string): void;
}

/** Lines are written together after this many or this long: one by one they cost a tenth of a request. */
const LINES_MAX = 256;
const WAIT_MS = 100;
/** Bytes that wait for a reader that has stopped reading; what comes after them is lost. */
const WAITING_MAX = 16 * 1024 * 1024;
/** How long the end waits for such a reader. */
const CLOSE_MS = 1_000;

/**
 * The process's log on stdout. `close` writes out what still waits. Whoever reads it may go away, as a
 * closed terminal, a pipe or a full disk does: the process goes on without, and ends without.
 */
export function createLog(level: string): Log & { close(): Promise<void> } {
  const { promise: closed, resolve: endClosing } = Promise.withResolvers<void>();
  let isClosing = false;
  let isBroken = false;
  // Before pino's own listener, which would try to write for ever.
  process.on("exit", () => {
    if (isBroken) stdout.destroy();
  });
  const stdout = pino.destination({ fd: 1, sync: false, maxLength: WAITING_MAX });
  stdout.on("close", () => endClosing());
  stdout.on("write", () => {
    isBroken = false;
  });
  stdout.on("error", () => {
    isBroken = true;
    if (isClosing) endClosing();
  });
  let lines: string[] = [];
  let timer: Timer | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length > 0) stdout.write(lines.join(""));
    lines = [];
  }
  function write(line: string): void {
    if (isClosing) return;
    lines.push(line);
    timer ??= setTimeout(flush, WAIT_MS);
    if (lines.length >= LINES_MAX) flush();
  }

  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
  return {
    debug: (fields, event) => logger.debug(fields, event),
    info: (fields, event) => logger.info(fields, event),
    warn: (fields, event) => logger.warn(fields, event),
    error: (fields, event) => logger.error(fields, event),
    async close() {
      flush();
      isClosing = true;
      const timer = setTimeout(endClosing, CLOSE_MS);
      // Not `flushSync`: that stands still for ever when nobody reads.
      stdout.end();
      if (isBroken) endClosing();
      await closed;
      clearTimeout(timer);
      stdout.destroy();
    },
  };
}

/**
 * What a log may say of a fault: its class, its code and where it was thrown. Its message is left out,
 * because libraries put statements, values and hosts into it.
 */
export function describeFault(fault: unknown): LogFields {
  if (!(fault instanceof Error)) return { fault: typeof fault };
  const code = "code" in fault && /^\w+$/.test(String(fault.code)) ? String(fault.code) : undefined;
  const frames = fault.stack?.split("\n").filter((line) => line.startsWith("    at ")) ?? [];
  const because = fault.cause === undefined ? undefined : describeFault(fault.cause);
  return { fault: fault.name, code, at: frames.slice(0, 6).map((line) => line.trim()), because };
}
