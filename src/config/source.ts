import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Environment } from "./placeholders.ts";

/** Name of the file in problems, whatever its path. */
export const DEFAULT_NAME = "tollgate.yaml";

/** Path of the configuration file. */
export interface SourcePlace {
  readonly path: string;
  /** Whether `TOLLGATE_CONFIG` names it; such a file must exist. */
  readonly isNamed: boolean;
}

/** Result of one read of the file. */
export type Source =
  | {
      readonly kind: "text";
      readonly text: string;
      /** Modification time in Unix seconds. */
      readonly writtenAtS: number;
    }
  | { readonly kind: "absent" | "folder" | "unreadable" | "not_utf8" | "too_large" };

/** 1 MiB, the limit of a Kubernetes ConfigMap: about four thousand models. */
const BYTES_MAX = 1_048_576;
/** Non-blocking, so that opening a pipe without a writer returns at once. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
const PIPE_MS_MAX = 30_000;
const PIPE_POLL_MS = 10;

/** Returns the path in `TOLLGATE_CONFIG`, or ./tollgate.yaml. */
export function placeSource(environment: Environment, folder: string): SourcePlace {
  const named = environment.TOLLGATE_CONFIG;
  return { path: resolve(folder, named || DEFAULT_NAME), isNamed: Boolean(named) };
}

/** Returns the absolute path of the configuration file of this environment. */
export function configPath(environment: Environment = Bun.env, folder = "."): string {
  return placeSource(environment, folder).path;
}

interface ReadOptions {
  /** Default: 1 MiB. */
  readonly bytesMax?: number;
  /** How long a pipe may stay open. Default: 30 s. */
  readonly pipeMsMax?: number;
}

/** Reads a file, or a pipe that is written and closed within 30 s. Blocks the event loop; for a start. */
export function readSourceNow(
  path: string,
  { bytesMax = BYTES_MAX, pipeMsMax = PIPE_MS_MAX }: ReadOptions = {},
): Source {
  try {
    const file = openSync(path, READ_FLAGS);
    try {
      const status = fstatSync(file);
      if (status.isDirectory()) return { kind: "folder" };
      if (status.size > bytesMax) return { kind: "too_large" };
      return decode(readBounded(file, { bytesMax, pipeMsMax }), bytesMax, status.mtimeMs);
    } finally {
      closeSync(file);
    }
  } catch (fault) {
    return sourceWithout(fault);
  }
}

/** Reads a file without blocking the event loop; for a running gateway. A pipe is unreadable. */
export async function readSource(
  path: string,
  { bytesMax = BYTES_MAX }: Pick<ReadOptions, "bytesMax"> = {},
): Promise<Source> {
  try {
    await using file = await open(path, READ_FLAGS);
    const status = await file.stat();
    // A pipe cannot be read a second time.
    if (status.isFIFO()) return { kind: "unreadable" };
    if (status.isDirectory()) return { kind: "folder" };
    if (status.size > bytesMax) return { kind: "too_large" };
    const buffer = Buffer.alloc(bytesMax + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count) {
      count = (await file.read(buffer, length, buffer.length - length, null)).bytesRead;
    }
    return decode(buffer.subarray(0, length), bytesMax, status.mtimeMs);
  } catch (fault) {
    return sourceWithout(fault);
  }
}

/** Reads at most `bytesMax` + 1 bytes. Throws when a pipe stays open for longer than `pipeMsMax`. */
function readBounded(file: number, { bytesMax, pipeMsMax }: Required<ReadOptions>): Uint8Array {
  const buffer = Buffer.alloc(bytesMax + 1);
  const isPipe = fstatSync(file).isFIFO();
  const deadline = performance.now() + pipeMsMax;
  let length = 0;
  while (length < buffer.length) {
    const count = readSome(file, buffer.subarray(length));
    // A read of 0 bytes at the start of a pipe means that no writer has opened it yet.
    const isPending = count === undefined || (count === 0 && isPipe && length === 0);
    if (count === 0 && !isPending) break;
    if (isPending && performance.now() > deadline) throw new Error("A pipe stayed open");
    if (isPending) Bun.sleepSync(PIPE_POLL_MS);
    length += count ?? 0;
  }
  return buffer.subarray(0, length);
}

/** Returns the number of bytes read, or `undefined` while a pipe has none. */
function readSome(file: number, into: Uint8Array): number | undefined {
  try {
    return readSync(file, into);
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "EAGAIN") return undefined;
    throw fault;
  }
}

/**
 * Returns a text that differs after a write to the file, a rename, or another link target. It is polled,
 * because file notifications follow the old file and do not work on network file systems. Returns `undefined`
 * for a pipe, which cannot be read twice.
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

/** Whether two reads found equal content. Ignores modification times. */
export function isSameSource(one: Source, other: Source): boolean {
  if (one.kind === "text" && other.kind === "text") return one.text === other.text;
  return one.kind === other.kind;
}

function decode(bytes: Uint8Array, bytesMax: number, writtenAtMs: number): Source {
  if (bytes.length > bytesMax) return { kind: "too_large" };
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
