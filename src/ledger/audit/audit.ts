import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { connect, type SqliteDatabase } from "../../db/sqlite/database.ts";
import { POSTGRES } from "../postgres/dialect.ts";
import type { QueryValue, Row } from "../queries/query.ts";
import { SQLITE } from "../sqlite/dialect.ts";
import { type AuditedBooks, type AuditOptions, type AuditReport, runAudit } from "./run-audit.ts";

export type { AuditReport, Finding } from "./run-audit.ts";

/** A database of either dialect with the books of a ledger. */
export type AuditedDatabase =
  | { readonly dialect: "sqlite"; readonly sqlite: Pick<SqliteDatabase, "path"> }
  | { readonly dialect: "postgres"; readonly postgres: Pick<PostgresDatabase, "connect"> };

type RangeOptions = Omit<AuditOptions, "nowMs">;

const BUSY_MS = 5_000;
/** A SQLite file has no index by wallet: each range would read the whole of it. */
const ALL_AT_ONCE = Number.MAX_SAFE_INTEGER;

/** Audits the books in a database while others may be writing them. */
export function auditDatabase(database: AuditedDatabase, nowMs: number): Promise<AuditReport> {
  return database.dialect === "sqlite"
    ? auditSqlite(database.sqlite, nowMs)
    : auditPostgres(database.postgres, nowMs);
}

/**
 * Audits a SQLite ledger, over a connection of its own. Takes no lock that a running server would notice,
 * but as long as the books are large, on the event loop: not in a process that serves.
 */
export async function auditSqlite(
  { path }: Pick<SqliteDatabase, "path">,
  nowMs: number,
  options: RangeOptions = {},
): Promise<AuditReport> {
  const client = connect(path, BUSY_MS);
  const inSnapshot: AuditedBooks["inSnapshot"] = async (look) => {
    client.run("BEGIN");
    try {
      return await look(async ({ sql, values }) => client.query<Row, QueryValue[]>(sql).all(...values));
    } finally {
      if (client.inTransaction) client.run("COMMIT");
    }
  };
  try {
    return await runAudit(
      { dialect: SQLITE, inSnapshot },
      { nowMs, walletsPerSnapshot: ALL_AT_ONCE, ...options },
    );
  } finally {
    client.close();
  }
}

/** Audits a PostgreSQL ledger, over a connection of its own that only reads and takes as long as it needs. */
export async function auditPostgres(
  database: Pick<PostgresDatabase, "connect">,
  nowMs: number,
  options: RangeOptions = {},
): Promise<AuditReport> {
  const client = database.connect({ max: 1, session: { statement_timeout: 0 } });
  const inSnapshot: AuditedBooks["inSnapshot"] = (look) =>
    client.begin("isolation level repeatable read read only", (snapshot) =>
      look(async ({ sql, values }) => snapshot.unsafe(sql, [...values])),
    );
  try {
    return await runAudit({ dialect: POSTGRES, inSnapshot }, { nowMs, ...options });
  } finally {
    await client.close();
  }
}
