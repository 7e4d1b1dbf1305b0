import type { Log, LogFields } from "../../src/telemetry/log.ts";

/** A log that is kept in memory, to be read by the test. */
export interface LogBook extends Log {
  /** Every line so far, as it would be printed. */
  text(): string;
}

export function createLogBook(): LogBook {
  const lines: string[] = [];
  const write = (level: string) => (fields: LogFields, event: string) =>
    void lines.push(JSON.stringify({ level, ...fields, event }, printable));
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    text: () => lines.join("\n"),
  };
}

/** Errors and bigints as a JSON log prints them, the message of an error included. */
function printable(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Error ? { message: value.message, stack: value.stack } : value;
}
