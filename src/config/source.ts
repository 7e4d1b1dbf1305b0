import { readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Environment } from "./placeholders.ts";

/** What the file is called in problems, wherever it is. */
export const DEFAULT_NAME = "tollgate.yaml";

/** Where the file is looked for. */
export interface SourcePlace {
  readonly path: string;
  /** Whether `TOLLGATE_CONFIG` names it; then it must be there. */
  readonly isNamed: boolean;
}

/** What was found there at one moment. */
export type Source =
  | {
      readonly kind: "text";
      readonly text: string;
      /** Unix seconds. */
      readonly writtenAtS: number;
    }
  | { readonly kind: "absent" | "unreadable" | "not_utf8" };

/** The file that `TOLLGATE_CONFIG` names, else ./tollgate.yaml. */
export function placeSource(environment: Environment, folder: string): SourcePlace {
  const named = environment.TOLLGATE_CONFIG;
  return { path: resolve(folder, named || DEFAULT_NAME), isNamed: Boolean(named) };
}

/** For a start, which has nothing else to do; also reads a pipe. */
export function readSourceNow(path: string): Source {
  try {
    const { mtimeMs } = statSync(path);
    return decode(readFileSync(path), mtimeMs);
  } catch (fault) {
    return sourceWithout(fault);
  }
}

/** For a process that serves meanwhile: a file system that does not answer keeps nobody else waiting. */
export async function readSource(path: string): Promise<Source> {
  try {
    const status = await stat(path);
    // What came through a pipe is gone, and another read of it might never end.
    return status.isFIFO() ? { kind: "unreadable" } : decode(await readFile(path), status.mtimeMs);
  } catch (fault) {
    return sourceWithout(fault);
  }
}

/**
 * Changes with whatever comes under a path: by a write, a rename, a link anywhere below it that points
 * elsewhere. Notifications would come from the old file, and from a network file system not at all.
 * `undefined` for a pipe, which cannot be read twice.
 */
export async function markSource(path: string): Promise<string | undefined> {
  try {
    const status = await stat(path, { bigint: true });
    if (status.isFIFO()) return undefined;
    return [status.dev, status.ino, status.size, status.mtimeNs, status.ctimeNs].join(" ");
  } catch (fault) {
    return sourceWithout(fault).kind;
  }
}

/** Whether the same was found, whenever it was written. */
export function isSameSource(one: Source, other: Source): boolean {
  if (one.kind === "text" && other.kind === "text") return one.text === other.text;
  return one.kind === other.kind;
}

function decode(bytes: Uint8Array, writtenAtMs: number): Source {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { kind: "text", text, writtenAtS: Math.floor(writtenAtMs / 1_000) };
  } catch {
    return { kind: "not_utf8" };
  }
}

function sourceWithout(fault: unknown): Source {
  const code = fault instanceof Error && "code" in fault ? fault.code : undefined;
  return { kind: code === "ENOENT" || code === "ENOTDIR" ? "absent" : "unreadable" };
}
