import type { Log, LogFields } from "../../src/telemetry/log.ts";

/** A log that keeps its lines in memory for the test to read. */
export interface CapturedLog extends Log {
  /** Every line so far, as JSON, one per line. */
  text(): string;
  /** The lines of one request, by its id. */
  about(requestId: string): readonly LogFields[];
}

/** Creates an empty captured log. */
export function createCapturedLog(): CapturedLog {
  const entries: { readonly fields: LogFields; readonly line: string }[] = [];
  const write = (level: string) => (fields: LogFields, event: string) => {
    const entry = { level, ...fields, event };
    entries.push({ fields: entry, line: JSON.stringify(entry, printable) });
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    text: () => entries.map(({ line }) => line).join("\n"),
    about: (requestId) =>
      entries.filter(({ fields }) => fields.request === requestId).map(({ fields }) => fields),
  };
}

/** Prints errors with message and stack, and bigints as strings. */
function printable(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Error ? { message: value.message, stack: value.stack } : value;
}
