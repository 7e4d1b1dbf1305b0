import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../db/sqlite/database.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { adoptJournalFile, createJournalFile, DAMAGED, type JournalFile, type NewEntry } from "./file.ts";
import { checkTables, countEntries, hasTables, isDamage } from "./tables.ts";

/** The journals that this process holds: its own, and those that dead processes left. */
export interface JournalFiles {
  all(): readonly JournalFile[];
  /** Entries that wait to be replayed, in all of them. */
  pending(): number;
  /** Resolves when the entries are on disk, in the process's own file. */
  commit(entries: readonly NewEntry[]): Promise<void>;
  /** Takes over what nobody holds. */
  adopt(): void;
  /** Gives up what others left and is replayed by now. */
  giveUpReplayed(): void;
  /** Says that using a file failed, and puts it aside when it is damaged. */
  blame(file: JournalFile, fault: unknown): void;
  close(): void;
}

/** Throws when no file can be made: without a journal no request should be taken. */
export function openJournalFiles(
  dataFolder: string,
  { now, log }: { readonly now: () => number; readonly log: Log },
): JournalFiles {
  const folder = journalFolder(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  syncFolder(dataFolder);
  const held = new Map<string, JournalFile>();
  /** What could not be opened, so that each is logged once however often it is tried. */
  const unopened = new Set<string>();
  let own: JournalFile | undefined = create();

  function create(): JournalFile {
    const file = createJournalFile(join(folder, `${Bun.randomUUIDv7("hex", now())}.db`));
    held.set(file.path, file);
    return file;
  }
  function adoptOne(path: string): void {
    try {
      const file = adoptJournalFile(path);
      if (file) held.set(path, file);
    } catch (fault) {
      if (!unopened.has(path))
        log.error({ journal: path, ...describeFault(fault) }, "journal cannot be opened");
      unopened.add(path);
    }
  }
  function letGo(file: JournalFile): void {
    held.delete(file.path);
    if (own === file) own = undefined;
  }

  return {
    all: () => [...held.values()],
    pending: () => held.values().reduce((sum, file) => sum + file.pending, 0),
    async commit(entries) {
      own ??= create();
      const file = own;
      try {
        await file.append(entries, now());
      } catch (fault) {
        // What is in it will be replayed, but a log that failed once cannot be trusted with more.
        if (own === file) own = undefined;
        throw fault;
      }
    },
    adopt() {
      for (const path of journalPaths(folder)) if (!held.has(path)) adoptOne(path);
    },
    giveUpReplayed() {
      for (const file of held.values()) {
        if (file === own || file.pending > 0) continue;
        letGo(file);
        file.close();
      }
    },
    blame(file, fault) {
      log.error({ journal: file.path, ...describeFault(fault) }, "journal failed");
      if (!isDamage(fault)) return;
      letGo(file);
      file.putAside();
    },
    close() {
      for (const file of held.values()) {
        letGo(file);
        file.close();
      }
    },
  };
}

/** Brings the names in a folder to the disk. */
function syncFolder(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Where the journals are of every process that has this data folder. */
export function journalFolder(dataFolder: string): string {
  return join(dataFolder, "journal");
}

/** The files in a folder whose names end so, the oldest first; none when there is no folder. */
export function journalPaths(folder: string, ending = ".db"): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(ending));
    return names.sort().map((name) => join(folder, name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** A journal with endings of holds that are in no book. */
export interface FoundJournal {
  readonly path: string;
  /** Entries that wait for the ledger, or that it has refused; 0 when they cannot be counted. */
  readonly entries: number;
  /** False when the file is damaged, or of a later version. */
  readonly isReadable: boolean;
}

const BUSY_MS = 1_000;

/** Lists the journals in a data folder that hold something. Changes nothing, and may run beside gateways that write. */
export function findJournals(dataFolder: string): readonly FoundJournal[] {
  const folder = journalFolder(dataFolder);
  const damaged = journalPaths(folder, `.db${DAMAGED}`).map(unreadable);
  return [...journalPaths(folder).flatMap((path) => look(path)), ...damaged];
}

function look(path: string): FoundJournal | [] {
  try {
    const entries = countIn(path);
    return entries === 0 ? [] : { path, entries, isReadable: true };
  } catch {
    // Some are emptied and removed since the folder was read.
    return existsSync(path) ? unreadable(path) : [];
  }
}

function unreadable(path: string): FoundJournal {
  return { path, entries: 0, isReadable: false };
}

function countIn(path: string): number {
  const client = connect(path, BUSY_MS);
  try {
    if (!hasTables(client)) return 0;
    checkTables(client);
    const { pending, refused } = countEntries(client);
    return pending + refused;
  } finally {
    client.close();
  }
}
