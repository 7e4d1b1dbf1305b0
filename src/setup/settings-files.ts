import { Database } from "bun:sqlite";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { AdditionError } from "../config/add-entries.ts";

/** Beside the configuration file. It stays, empty: a file that is deleted could be locked by two. */
const LOCK_FILE = ".tollgate.lock";
const DRAFT_FILE = ".tollgate.draft";
/** How long a command waits for another one. */
const LOCK_MS_MAX = 5_000;

/**
 * Runs work on the settings while no other process or thread does. The lock is one of SQLite's, which ends with
 * its process. Throws {@link AdditionError} when another one keeps it, or when the folder cannot be written.
 */
export function lockSettings<Result>(path: string, work: () => Result, waitMsMax = LOCK_MS_MAX): Result {
  const lock = openLock(dirname(followLink(path)));
  try {
    begin(lock, waitMsMax);
    return work();
  } finally {
    lock.close();
  }
}

function openLock(folder: string): Database {
  try {
    return new Database(join(folder, LOCK_FILE));
  } catch {
    throw new AdditionError(`${folder} cannot be written.`);
  }
}

function begin(lock: Database, waitMsMax: number): void {
  try {
    lock.run(`PRAGMA busy_timeout = ${waitMsMax}`);
    lock.run("BEGIN EXCLUSIVE");
  } catch (error) {
    const isBusy = error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
    if (isBusy) throw new AdditionError("Another command changes the settings now: run it again.");
    throw new AdditionError("The folder of the settings cannot be written.");
  }
}

/**
 * Returns the text of a file of settings, "" before the file exists. Throws {@link AdditionError}, also for bytes that
 * are no UTF-8: they would not survive an addition.
 */
export function readSettingsFile(path: string): string {
  const bytes = readBytes(path);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new AdditionError(`${path} is no text in UTF-8.`);
  }
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isAbsence(error)) return new Uint8Array();
    throw new AdditionError(`${path} cannot be read.`);
  }
}

interface Rights {
  /** Rights of the file, also of one that exists. Default: those that it has, 0640 for a new one. */
  readonly mode?: number;
}

/**
 * Replaces a file in one step, with the owner that it has. A file that changed meanwhile is left as it is. Must be
 * called with the settings locked. Throws {@link AdditionError}.
 */
export function replaceSettingsFile(
  path: string,
  before: string,
  after: string,
  { mode }: Rights = {},
): void {
  const target = followLink(path);
  // The lock makes the name safe, and what a killed command left is replaced by the next one.
  const draft = join(dirname(target), DRAFT_FILE);
  try {
    writeDraft(draft, after, { target, mode });
    if (readSettingsFile(path) !== before)
      throw new AdditionError(`${path} has changed meanwhile: run the command again.`);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    if (error instanceof AdditionError) throw error;
    throw new AdditionError(`${path} cannot be written.`);
  }
}

/** Writes a new file that is on disk before it gets its name. */
function writeDraft(
  draft: string,
  text: string,
  { target, mode }: { readonly target: string; readonly mode: number | undefined },
): void {
  const former = statSync(target, { throwIfNoEntry: false });
  rmSync(draft, { force: true });
  const file = openSync(draft, "wx", mode ?? former?.mode ?? 0o640);
  try {
    // One write may end short on a disk that is nearly full.
    writeFileSync(file, text);
    if (former) keepRights(file, former, mode);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Started as root for a service of another user or group, the command must not take its files from it. */
function keepRights(file: number, former: Stats, mode = former.mode): void {
  const { uid, gid } = fstatSync(file);
  if (former.uid !== uid || former.gid !== gid) fchownSync(file, former.uid, former.gid);
  fchmodSync(file, mode & 0o7777);
}

/** Returns the file that a link leads to, or the path itself. */
function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isAbsence(error)) return path;
    throw new AdditionError(`${path} cannot be read.`);
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
