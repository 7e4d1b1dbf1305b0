import { existsSync } from "node:fs";
import { connect } from "../db/sqlite/database.ts";
import { DAMAGED } from "./file.ts";
import { journalFolder, journalPaths } from "./folder.ts";
import { checkTables, countEntries, hasTables } from "./tables.ts";

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
