import { closeSync, existsSync, promises as fs, fsyncSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { FREE_BYTES_MIN } from "../db/full-disk.ts";
import type { Instance } from "../db/instance.ts";
import { connect } from "../db/sqlite/database.ts";
import type { OpenLogSync } from "../ledger/sqlite/log-sync.ts";
import { platform } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { checkTables, countEntries, hasTables, isDamage, readOrigin } from "./entry.ts";
import {
  adoptOutboxFile,
  createOutboxFile,
  DAMAGED,
  ForeignOutbox,
  type NewEntry,
  type OutboxFile,
} from "./file.ts";

/** The outbox files that this process holds: its own, and those it adopted from dead processes. */
export interface OutboxFiles {
  all(): readonly OutboxFile[];
  /** The number of entries to replay, in all files. */
  pending(): number;
  /** When the oldest of them was written, in Unix milliseconds; `undefined` without one. */
  oldestAtMs(): number | undefined;
  /** Resolves when the entries are on disk, in the process's own file. */
  commit(entries: readonly NewEntry[]): Promise<void>;
  /** Adopts every file that no process holds. */
  adopt(): void;
  /** Closes the adopted files that are replayed. */
  closeReplayed(): void;
  /** Logs that using a file failed, and quarantines the file when it is damaged. */
  reportFault(file: OutboxFile, fault: unknown): void;
  close(): void;
}

/** The database whose settlements an outbox keeps, and the one that it was restored from. */
export type OutboxOwner = Pick<Instance, "id" | "restoredFrom">;

interface OutboxFilesParts {
  readonly now: () => number;
  readonly log: Log;
  /** Default: files of every origin are adopted. */
  readonly owner?: OutboxOwner | undefined;
  readonly openLog?: OpenLogSync | undefined;
}

/** Creates a file for this process. Throws when it cannot: without an outbox no request may be accepted. */
export function openOutboxFiles(
  dataFolder: string,
  { now, log, owner, openLog }: OutboxFilesParts,
): OutboxFiles {
  const folder = outboxFolder(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  syncFolder(dataFolder);
  const held = new Map<string, OutboxFile>();
  /** Paths that could not be opened. Each is logged once, although every adoption tries it again. */
  const unopened = new Set<string>();
  /** Paths of files that belong to another database. They are left alone. */
  const foreign = new Set<string>();
  const isOwn = (origin: string) => !owner || origin === owner.id || origin === owner.restoredFrom;
  let own: OutboxFile | undefined = create();

  function create(): OutboxFile {
    const file = createOutboxFile(join(folder, `${platform.uuidV7(now())}.db`), owner?.id, openLog);
    held.set(file.path, file);
    return file;
  }
  function adoptOne(path: string): void {
    try {
      const file = adoptOutboxFile(path, isOwn, openLog);
      if (file) held.set(path, file);
    } catch (fault) {
      if (fault instanceof ForeignOutbox) {
        foreign.add(path);
        log.warn({ journal: path }, "settlement outbox of another database left alone");
        return;
      }
      if (!unopened.has(path)) {
        log.error({ journal: path, ...describeFault(fault) }, "settlement outbox cannot be opened");
      }
      unopened.add(path);
    }
  }
  function forget(file: OutboxFile): void {
    held.delete(file.path);
    if (own === file) own = undefined;
  }

  return {
    all: () => [...held.values()],
    oldestAtMs() {
      const times = [...held.values()].flatMap((file) => (file.pending > 0 ? (file.oldestAtMs() ?? []) : []));
      return times.length > 0 ? Math.min(...times) : undefined;
    },
    pending: () => held.values().reduce((sum, file) => sum + file.pending, 0),
    async commit(entries) {
      own ??= create();
      const file = own;
      try {
        await file.append(entries, now());
      } catch (fault) {
        // The file is still replayed, but gets no more entries: its WAL failed once.
        if (own === file) own = undefined;
        throw fault;
      }
    },
    adopt() {
      for (const path of outboxPaths(folder)) if (!held.has(path) && !foreign.has(path)) adoptOne(path);
    },
    closeReplayed() {
      for (const file of held.values()) {
        if (file === own || file.pending > 0) continue;
        forget(file);
        file.close();
      }
    },
    reportFault(file, fault) {
      log.error({ journal: file.path, ...describeFault(fault) }, "settlement outbox failed");
      if (!isDamage(fault)) return;
      forget(file);
      file.quarantine();
    },
    close() {
      for (const file of held.values()) {
        forget(file);
        file.close();
      }
    },
  };
}

/** Syncs the names in a folder to disk. */
function syncFolder(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** An outbox file with entries that are not in the ledger. */
export interface FoundOutbox {
  readonly path: string;
  /** The number of entries that are pending or declined; 0 when they cannot be counted. */
  readonly entries: number;
  /** False when the file is damaged, or of a later version. */
  readonly isReadable: boolean;
  /** The id of the database that the entries belong to; `undefined` when the file names no database. */
  readonly origin?: string | undefined;
}

/** Milliseconds that counting waits for a writer in another process. */
const COUNT_BUSY_MS = 1_000;

/**
 * Lists the outbox files of a data folder that hold entries. Changes nothing, and is safe beside running
 * gateways.
 */
export function findOutboxes(dataFolder: string): readonly FoundOutbox[] {
  const folder = outboxFolder(dataFolder);
  const damaged = outboxPaths(folder, `.db${DAMAGED}`).map(unreadable);
  return [...outboxPaths(folder).flatMap((path) => inspect(path)), ...damaged];
}

function inspect(path: string): FoundOutbox | [] {
  try {
    return readFound(path);
  } catch {
    // The owner may have deleted the file since the folder was listed.
    return existsSync(path) ? unreadable(path) : [];
  }
}

function unreadable(path: string): FoundOutbox {
  return { path, entries: 0, isReadable: false };
}

function readFound(path: string): FoundOutbox | [] {
  const client = connect(path, COUNT_BUSY_MS);
  try {
    if (!hasTables(client)) return [];
    checkTables(client);
    const { pending, declined } = countEntries(client);
    const entries = pending + declined;
    return entries === 0 ? [] : { path, entries, isReadable: true, origin: readOrigin(client) };
  } finally {
    client.close();
  }
}

/** Returns the folder of the outbox files of every process that uses this data folder. */
export function outboxFolder(dataFolder: string): string {
  return join(dataFolder, "journal");
}

/** Returns the files of a folder with this suffix, the oldest first; none when the folder does not exist. */
function outboxPaths(folder: string, suffix = ".db"): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(suffix));
    return names.sort().map((name) => join(folder, name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** The disk that keeps the settlement outbox. */
interface OutboxDisk {
  /** Bytes that this process may still write. */
  readonly freeBytes: number;
  /** Why no settlement could be written; `undefined` when one can. */
  readonly problem: "disk_full" | "read_only" | "not_writable" | undefined;
}

const PROBE = Buffer.alloc(4096);
const PROBLEMS: Readonly<Record<string, OutboxDisk["problem"]>> = {
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EROFS: "read_only",
};

/**
 * Checks the disk of the settlement outbox, off the event loop: reads its free space, and writes and removes a
 * file of 4 KiB. Rejects when the folder is gone.
 */
export async function checkOutboxDisk(dataFolder: string): Promise<OutboxDisk> {
  const folder = outboxFolder(dataFolder);
  const [{ bavail, bsize }, fault] = await Promise.all([fs.statfs(folder), tryWrite(folder)]);
  const freeBytes = bavail * bsize;
  return { freeBytes, problem: fault ?? (freeBytes < FREE_BYTES_MIN ? "disk_full" : undefined) };
}

async function tryWrite(folder: string): Promise<OutboxDisk["problem"]> {
  // Named by process, so that a process killed in between leaves one file at most.
  const path = join(folder, `probe-${process.pid}`);
  try {
    await fs.writeFile(path, PROBE, { mode: 0o600 });
    return undefined;
  } catch (fault) {
    const code = fault instanceof Error && "code" in fault ? String(fault.code) : "";
    return PROBLEMS[code] ?? "not_writable";
  } finally {
    await fs.rm(path, { force: true }).catch(() => undefined);
  }
}
