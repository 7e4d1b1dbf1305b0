import type { Database } from "bun:sqlite";
import { connect, type SqliteDatabase } from "../db/sqlite/database.ts";
import { INVARIANTS, type Invariant, OVERDUE } from "./sqlite/invariants.ts";

/** One row that contradicts an invariant. `subject` is a hold, transfer or limit; `undefined` is the wallet. */
export interface Finding {
  readonly invariant: string;
  readonly says: string;
  readonly walletId: string;
  readonly subject: string | undefined;
}

/** What an audit looked at and found. The books are right when `findings` is empty. */
export interface AuditReport {
  readonly wallets: number;
  readonly holds: number;
  readonly transfers: number;
  readonly checked: readonly string[];
  readonly findings: readonly Finding[];
  /** What will mend itself: holds past their time that no sweep has reached. */
  readonly warnings: readonly Finding[];
}

/** Rows reported per invariant; one is enough to fail. */
const ROWS_MAX = 100;
const BUSY_MS = 5_000;

/**
 * Checks every invariant of a ledger in one read snapshot. Takes no lock that a running server
 * would notice, but takes as long as the books are large: not for an event loop that serves.
 */
export function auditSqlite(database: Pick<SqliteDatabase, "path">, nowMs: number): AuditReport {
  const client = connect(database.path, BUSY_MS);
  try {
    return client.transaction(() => audit(client, nowMs)).deferred();
  } finally {
    client.close();
  }
}

function audit(client: Database, nowMs: number): AuditReport {
  const count = (table: string) => Number(client.query(`SELECT count(*) FROM ${table}`).values()[0]?.[0]);
  return {
    wallets: count("wallets"),
    holds: count("holds"),
    transfers: count("transfers"),
    checked: [...INVARIANTS, OVERDUE].map(({ id, says }) => `${id}: ${says}`),
    findings: INVARIANTS.flatMap((invariant) => find(client, invariant, [])),
    warnings: find(client, OVERDUE, [nowMs]),
  };
}

function find(client: Database, { id, says, sql }: Invariant, parameters: number[]): readonly Finding[] {
  return client
    .query<{ wallet_id: string; subject: string | null }, number[]>(
      `SELECT * FROM (${sql}) LIMIT ${ROWS_MAX}`,
    )
    .all(...parameters)
    .map((row) => ({ invariant: id, says, walletId: row.wallet_id, subject: row.subject ?? undefined }));
}
