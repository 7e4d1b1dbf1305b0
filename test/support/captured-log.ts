import type { Log, LogFields } from "../../src/telemetry/log.ts";

/** A log that is kept in memory, to be read by the test. */
export interface CapturedLog extends Log {
  /** Every line so far, as it would be printed. */
  text(): string;
  /** The lines about one request, by its id. */
  about(requestId: string): readonly LogFields[];
}

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

/** Errors and bigints as a JSON log prints them, the message of an error included. */
function printable(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Error ? { message: value.message, stack: value.stack } : value;
}
