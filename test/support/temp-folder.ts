import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates an empty temporary folder and returns its path. */
export function tempFolder(): string {
  return mkdtempSync(join(tmpdir(), "folder-"));
}
