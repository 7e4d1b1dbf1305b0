import { join } from "node:path";

/** Where the files that come with the program are: its sources, or the root inside its executable. */
const ROOT = Bun.isStandaloneExecutable ? import.meta.dir : join(import.meta.dir, "..");

/** Returns the absolute path of a file or folder that comes with the program, such as "proto". */
export function programFile(path: string): string {
  return join(ROOT, path);
}
