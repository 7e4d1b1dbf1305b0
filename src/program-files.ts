import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";

/** Where the files that come with the program are: its sources, or the root inside its executable. */
const ROOT = Bun.isStandaloneExecutable ? import.meta.dir : join(import.meta.dir, "..");

/** Returns the absolute path of a file or folder that comes with the program, such as "proto". */
export function programFile(path: string): string {
  return join(ROOT, path);
}

/** More than a thread opens before its script runs, or than the modules of a package are read with at a time. */
const FILES_NEEDED = 24;

/**
 * Throws where the process can open fewer than 24 files more. Bun 1.4.5 ends the whole process when a thread or an
 * import finds none.
 */
export function requireFreeFiles(): void {
  const opened: number[] = [];
  try {
    while (opened.length < FILES_NEEDED) opened.push(openSync(devNull, "r"));
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Imports a part of the program that most processes do not need. An executable has it inside, and opens no file. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  if (!Bun.isStandaloneExecutable) requireFreeFiles();
  return load();
}
