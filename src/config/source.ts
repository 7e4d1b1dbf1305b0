import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { open, stat } from "node:fs/promises";
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
  | { readonly kind: "absent" | "unreadable" | "not_utf8" | "too_large" };

/** 1 MiB, as much as Kubernetes mounts: room for four thousand models. */
const BYTES_MAX = 1_048_576;
/** A pipe without a writer must not keep the open call waiting. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
const PIPE_MS_MAX = 30_000;
const PIPE_EVERY_MS = 10;

/** The file that `TOLLGATE_CONFIG` names, else ./tollgate.yaml. */
export function placeSource(environment: Environment, folder: string): SourcePlace {
  const named = environment.TOLLGATE_CONFIG;
  return { path: resolve(folder, named || DEFAULT_NAME), isNamed: Boolean(named) };
}

/**
 * Reads a file, or a pipe that is written and closed within 30 s. Blocks: for a start, which has nothing else
 * to do.
 */
export function readSourceNow(path: string, { pipeMsMax = PIPE_MS_MAX } = {}): Source {
  try {
    const file = openSync(path, READ_FLAGS);
    try {
      const { size, mtimeMs } = fstatSync(file);
      return size > BYTES_MAX ? { kind: "too_large" } : decode(readBounded(file, pipeMsMax), mtimeMs);
    } finally {
      closeSync(file);
    }
  } catch (fault) {
    return sourceWithout(fault);
  }
}

/** For a process that serves meanwhile: a file system that does not answer keeps nobody else waiting. */
export async function readSource(path: string): Promise<Source> {
  try {
    await using file = await open(path, READ_FLAGS);
    const status = await file.stat();
    // What came through a pipe is gone.
    if (status.isFIFO()) return { kind: "unreadable" };
    if (status.size > BYTES_MAX) return { kind: "too_large" };
    const buffer = Buffer.alloc(BYTES_MAX + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count) {
      count = (await file.read(buffer, length, buffer.length - length, null)).bytesRead;
    }
    return decode(buffer.subarray(0, length), status.mtimeMs);
  } catch (fault) {
    return sourceWithout(fault);
  }
}

/** Reads at most one byte more than a source may have. Throws when a pipe stays open for too long. */
function readBounded(file: number, pipeMsMax: number): Uint8Array {
  const buffer = Buffer.alloc(BYTES_MAX + 1);
  const isPipe = fstatSync(file).isFIFO();
  const deadline = performance.now() + pipeMsMax;
  let length = 0;
  while (length < buffer.length) {
    const count = readSome(file, buffer.subarray(length));
    // A read of 0 bytes at the start of a pipe means that no writer has opened it yet.
    const isPending = count === undefined || (count === 0 && isPipe && length === 0);
    if (count === 0 && !isPending) break;
    if (isPending && performance.now() > deadline) throw new Error("A pipe stayed open");
    if (isPending) Bun.sleepSync(PIPE_EVERY_MS);
    length += count ?? 0;
  }
  return buffer.subarray(0, length);
}

/** Returns `undefined` when there is nothing to read yet. */
function readSome(file: number, into: Uint8Array): number | undefined {
  try {
    return readSync(file, into);
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "EAGAIN") return undefined;
    throw fault;
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
  if (bytes.length > BYTES_MAX) return { kind: "too_large" };
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
