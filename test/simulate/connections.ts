import { Database } from "bun:sqlite";
import type { Machine } from "./scheduler.ts";

const connections = new Map<Machine, Set<Database>>();
const { run: runOf, prepare: prepareOf } = Database.prototype;
/** More than the texts of statements that one connection has. */
const STATEMENTS_MAX = 1_000;

/**
 * Assigns each SQLite connection to the machine that first uses it, until the returned function is called, so that
 * {@link closeConnections} can do what the operating system does when a process dies.
 * Statements belong to their connection and end with it. Else a closed one would write its log back into the
 * file when its last statement is collected, at a moment that no seed decides.
 * `onSynced` is called with the file of each transaction that SQLite synced itself.
 */
export function followConnections(current: () => Machine, onSynced: (path: string) => void): () => void {
  Database.prototype.run = function run(this: Database, ...args: Parameters<typeof runOf>) {
    const machine = current();
    const open = connections.get(machine) ?? new Set();
    connections.set(machine, open.add(this));
    const changes = runOf.apply(this, args);
    if (args[0] === "COMMIT" && isSynchronous(this)) onSynced(this.filename);
    return changes;
  } as typeof runOf;
  const { MAX_QUERY_CACHE_SIZE: cached } = Database;
  Database.MAX_QUERY_CACHE_SIZE = STATEMENTS_MAX;
  Database.prototype.prepare = function prepare(this: Database, sql: string) {
    return this.query(sql);
  } as typeof prepareOf;
  return () => {
    Database.MAX_QUERY_CACHE_SIZE = cached;
    Object.assign(Database.prototype, { run: runOf, prepare: prepareOf });
    for (const machine of [...connections.keys()]) closeConnections(machine);
  };
}

/** Whether SQLite itself syncs the commits of a connection. */
function isSynchronous(connection: Database): boolean {
  const [row] = connection.query("PRAGMA synchronous").values();
  return Number(row?.[0]) >= 2;
}

/** Closes every connection of a machine. A transaction in progress is rolled back. */
export function closeConnections(machine: Machine): void {
  for (const connection of openOf(machine)) {
    if (connection.inTransaction) runOf.call(connection, "ROLLBACK");
    connection.close();
  }
  connections.delete(machine);
}

function openOf(machine: Machine): readonly Database[] {
  return [...(connections.get(machine) ?? [])].filter(isOpen);
}

function isOpen(connection: Database): boolean {
  try {
    return connection.inTransaction !== undefined;
  } catch {
    return false;
  }
}

/** The connections of a machine to files whose path holds a text. */
export function connectionsTo(machine: Machine, part: string): readonly Database[] {
  return openOf(machine).filter(({ filename }) => filename.includes(part));
}
