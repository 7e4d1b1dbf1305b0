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
 * A sync that failed is final: the kernel may have dropped the pages, and a later success would not mean them.
 */
export function createLogSync(path: string): LogSync {
  let log: number | undefined;
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

/** Opens the log, which is there from the first commit on, and brings its name to the disk too. */
function openLog(path: string): number {
  const folder = openSync(dirname(path), "r");
  fsyncSync(folder);
  closeSync(folder);
  return openSync(`${path}-wal`, "r+");
}
