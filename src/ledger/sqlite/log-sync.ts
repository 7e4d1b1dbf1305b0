import { closeSync, existsSync, fdatasync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Syncs the write-ahead log of a SQLite database to disk. */
export interface LogSync {
  /** Resolves when every commit before the call is on disk. */
  sync(): Promise<void>;
  close(): void;
}

export type OpenLogSync = (path: string) => LogSync;

/**
 * Syncs off the event loop; SQLite itself would block the process for each commit. Commits made during one
 * sync share the next one, so that a slow disk makes larger groups instead of a longer queue. After a failed
 * sync every later one fails: the kernel may have dropped the pages, and a later success would not cover
 * them.
 */
export function createLogSync(path: string): LogSync {
  // Opened now, where it is there: a busy process may find no file free at its first commit.
  let log = existsSync(logOf(path)) ? openLog(path) : undefined;
  let next: PromiseWithResolvers<void> | undefined;
  let isSyncing = false;
  let failure: unknown;

  function syncNext(descriptor: number): void {
    const group = next;
    if (!group) return;
    next = undefined;
    isSyncing = true;
    fdatasync(descriptor, (error) => {
      isSyncing = false;
      failure ??= error ?? undefined;
      if (failure === undefined) group.resolve();
      else group.reject(failure);
      syncNext(descriptor);
    });
  }

  return {
    async sync() {
      if (failure !== undefined) throw failure;
      log ??= openLog(path);
      next ??= Promise.withResolvers();
      const { promise } = next;
      if (!isSyncing) syncNext(log);
      return promise;
    },
    close() {
      if (log !== undefined) closeSync(log);
    },
  };
}

/** Opens the log, which exists from the first commit on, and syncs its directory entry. */
function openLog(path: string): number {
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
  return openSync(logOf(path), "r+");
}

function logOf(path: string): string {
  return `${path}-wal`;
}
