import { type Database, SQLiteError } from "bun:sqlite";
import { needsOf } from "../core/read-set.ts";
import { CLOCKS_APART_MS } from "../core/settle.ts";
import { type Store, StoreError, type StoreFault } from "../engine/store.ts";
import { createLoader } from "./load.ts";
import { createWriter } from "./write.ts";

export interface SqliteStoreParts {
  readonly client: Database;
  readonly now: () => number;
  /** Brings what the client has committed to the disk. */
  sync(): Promise<void>;
}

/**
 * Keeps the books in a SQLite file. A transaction locks the whole file and is over before it
 * returns, so it never waits: when another process writes, it throws `busy` at once.
 */
export function createSqliteStore({ client, now, sync }: SqliteStoreParts): Store {
  const load = createLoader(client);
  const write = createWriter(client);
  const begin = client.query("BEGIN IMMEDIATE");
  const commit = client.query("COMMIT");
  const anyWallet = client.query("SELECT 1 FROM wallets LIMIT 1");
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

  return {
    transact(_walletIds, turn) {
      try {
        begin.run();
        const nowMs = now();
        const books = load(needsOf(turn.collect()), nowMs);
        turn.decide(books, nowMs);
        write(books);
        commit.run();
      } catch (error) {
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
      const nowMs = now();
      return [...due.all(nowMs, limit), ...ahead.all(limit, nowMs, CLOCKS_APART_MS)].slice(0, limit);
    },
  };
}

function rollBack(client: Database): void {
  try {
    client.run("ROLLBACK");
  } catch {
    // The first error says why; a failed commit may have rolled back by itself.
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
