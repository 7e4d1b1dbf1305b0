import { type Database, SQLiteError } from "bun:sqlite";
import { firstIdOf } from "../../domain/id-time.ts";
import { CLOCK_SKEW_MAX_MS } from "../core/book.ts";
import { type Store, StoreError, type StoreFault } from "../engine/store.ts";
import { createBooks } from "./books.ts";
import { createWriter, type WriteFence } from "./write.ts";

export interface SqliteStoreParts {
  readonly client: Database;
  readonly now: () => number;
  /** Syncs the commits of `client` to disk. */
  sync(): Promise<void>;
}

export interface SqliteStore extends Store {
  /** Must be called when the fence of the roll-ups was changed on the store's connection. */
  forgetFence(): void;
}

/**
 * Stores the ledger in a SQLite file. A transaction locks the whole file and runs synchronously. It never
 * waits: when another process is writing, it throws `busy` at once.
 */
export function createSqliteStore({ client, now, sync }: SqliteStoreParts): SqliteStore {
  const fence = createFence(client);
  const books = createBooks(client, undefined, fence.forget);
  const write = createWriter(client);
  const begin = client.query("BEGIN IMMEDIATE");
  const commit = client.query("COMMIT");
  const anyWallet = client.query("SELECT 1 FROM wallets LIMIT 1");
  const quiet = createQuietMemory(client);
  const due = client.query<{ walletId: string; holdId: string }, [number, number]>(
    `SELECT wallet_id AS walletId, hold_id AS holdId FROM holds
      WHERE state = 'held' AND expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?`,
  );
  const ahead = client.query<{ walletId: string; holdId: string }, [number, number, number]>(
    `SELECT wallet_id AS walletId, hold_id AS holdId FROM
      (SELECT wallet_id, hold_id, created_at_ms, expires_at_ms, ttl_ms FROM holds
        WHERE state = 'held' ORDER BY expires_at_ms DESC LIMIT ?1)
      WHERE created_at_ms > ?2 + ?3 AND expires_at_ms > ?2 + ttl_ms`,
  );
  const dueCredits = client.query<{ wallet_id: string }, [number, number]>(
    `SELECT DISTINCT wallet_id FROM credits INDEXED BY credits_due
      WHERE live AND claims IS NULL AND expires_at_ms <= ? LIMIT ?`,
  );

  return {
    forgetFence: fence.forget,
    transact(_walletIds, batch) {
      quiet.forget();
      try {
        begin.run();
        const nowMs = now();
        const opened = books.open(batch.collect(), nowMs);
        batch.decide(opened, nowMs);
        write(opened, fence.read());
        books.keep();
        commit.run();
      } catch (error) {
        books.drop();
        if (client.inTransaction) rollBack(client);
        throw new StoreError(faultOf(error), error);
      }
    },
    sync,
    async ping() {
      try {
        anyWallet.get();
      } catch (error) {
        throw new StoreError("unavailable", error);
      }
    },
    findDue(limit) {
      if (quiet.hasNoHolds()) return [];
      const nowMs = now();
      return [...due.all(nowMs, limit), ...ahead.all(limit, nowMs, CLOCK_SKEW_MAX_MS)].slice(0, limit);
    },
    findDueCredits: (limit) => dueCredits.all(now(), limit).map(({ wallet_id }) => wallet_id),
  };
}

/**
 * The fence of the roll-ups, kept in memory from batch to batch. Must be forgotten when it may have changed:
 * with a commit of another connection, and with the job's own commits.
 */
function createFence(client: Database): { read(): WriteFence; forget(): void } {
  const select = client.query<{ fence_ms: number; records_ends: number }, []>(
    "SELECT fence_ms, records_ends FROM usage_fence",
  );
  let kept: WriteFence | undefined;
  return {
    read() {
      if (!kept) {
        const row = select.get();
        kept = { id: firstIdOf(row?.fence_ms ?? 0), recordsEnds: row?.records_ends === 1 };
      }
      return kept;
    },
    forget() {
      kept = undefined;
    },
  };
}

/**
 * Whether no hold is open, kept in memory until a commit of any connection. Without open holds none is due at any
 * time, so that an idle gateway reads one counter in memory instead of the file.
 */
function createQuietMemory(client: Database): { hasNoHolds(): boolean; forget(): void } {
  /** Changes with every commit of another connection. */
  const version = client.query<{ data_version: number }, []>("PRAGMA data_version");
  const anyHeld = client.query<object, []>(
    "SELECT 1 FROM holds INDEXED BY holds_open WHERE state = 'held' LIMIT 1",
  );
  let quietVersion: number | undefined;
  return {
    hasNoHolds() {
      const now = version.get()?.data_version;
      if (quietVersion !== undefined && now === quietVersion) return true;
      quietVersion = anyHeld.get() ? undefined : now;
      return quietVersion !== undefined;
    },
    forget() {
      quietVersion = undefined;
    },
  };
}

function rollBack(client: Database): void {
  try {
    client.run("ROLLBACK");
  } catch {
    // A failed commit may have rolled back already. The first error is the one reported.
  }
}

const UNAVAILABLE =
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|NOMEM|PROTOCOL|PERM|AUTH|INTERRUPT)/;

function faultOf(error: unknown): StoreFault {
  if (!(error instanceof SQLiteError)) return "rejected";
  const code = error.code ?? "";
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return "busy";
  return UNAVAILABLE.test(code) ? "unavailable" : "rejected";
}
