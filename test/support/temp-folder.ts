import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of its own with nothing in it. */
export function tempFolder(): string {
  return mkdtempSync(join(tmpdir(), "folder-"));
}
