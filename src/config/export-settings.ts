import type { ExportConfig } from "../exports/export-config.ts";
import type { ConfigFile, ExportEntry } from "./schema.ts";

const ROTATE_BYTES = 268_435_456;
const BATCH_LINES = 500;
const BATCH_BYTES = 1_048_576;
const TIMEOUT_MS = 30_000;

/** Reads the exports of a checked file. */
export function readExports({ exports = {} }: Pick<ConfigFile, "exports">): readonly ExportConfig[] {
  return Object.entries(exports).map(([name, entry]) => readExport(name, entry));
}

function readExport(name: string, entry: ExportEntry): ExportConfig {
  const base = {
    name,
    start: entry.start ?? "beginning",
    batchLines: entry.batch_lines ?? BATCH_LINES,
  } as const;
  if (entry.kind === "file") {
    const { path = "", rotate = "day", rotate_bytes: rotateBytes = ROTATE_BYTES } = entry;
    return { ...base, kind: "file", path, rotate, rotateBytes };
  }
  const post = {
    ...base,
    url: entry.url ?? "",
    headers: entry.headers ?? {},
    gzip: entry.gzip ?? false,
    batchBytes: entry.batch_bytes ?? BATCH_BYTES,
    timeoutMs: entry.timeout_ms ?? TIMEOUT_MS,
  };
  return entry.kind === "http" ? { ...post, kind: "http", secret: entry.secret } : { ...post, kind: "otlp" };
}
