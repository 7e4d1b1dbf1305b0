import { closeSync, fdatasync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Brings the write-ahead log of a database to the disk. */
export interface LogSync {
  /** Resolves when all that was committed before the call is on disk. */
  sync(): Promise<void>;
  close(): void;
}

/**
 * Syncs off the event loop: SQLite itself would stop the process for each commit. Commits that come
 * while one sync runs share the next one, so that a slow disk makes larger groups and not a longer queue.
 */
export function createLogSync(path: string): LogSync {
  let log: number | undefined;
  let next: PromiseWithResolvers<void> | undefined;
  let isSyncing = false;

  function syncNext(): void {
    const group = next;
    if (!group) return;
    next = undefined;
    isSyncing = true;
    log ??= openLog(path);
    fdatasync(log, (error) => {
      isSyncing = false;
      if (error) group.reject(error);
      else group.resolve();
      syncNext();
    });
  }

  return {
    sync() {
      next ??= Promise.withResolvers();
      const { promise } = next;
      if (!isSyncing) syncNext();
      return promise;
    },
    close() {
      if (log !== undefined) closeSync(log);
    },
  };
}

/** Opens the log, which is there from the first commit on, and brings its name to the disk too. */
function openLog(path: string): number {
  const folder = openSync(dirname(path), "r");
  fsyncSync(folder);
  closeSync(folder);
  return openSync(`${path}-wal`, "r+");
}
