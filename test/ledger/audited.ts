import { afterAll } from "bun:test";
import { openPostgres, type PostgresDatabase } from "../../src/db/postgres/database.ts";
import { type AuditReport, auditPostgres, auditSqlite } from "../../src/ledger/audit/audit.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { copyLedger } from "./copy-ledger.ts";
import { NOON_MS, type OpenLedger } from "./samples.ts";

/** A copy of a ledger in a store, which its owner may damage. */
interface AuditedStore {
  run(statement: string): Promise<unknown>;
  audit(nowMs?: number, walletsPerSnapshot?: number): Promise<AuditReport>;
  close(): Promise<void>;
}

type OpenAudited = (open: OpenLedger) => Promise<AuditedStore>;

/** Opens copies of ledgers in either store for the tests of one file, which drops the database at its end. */
export function useAudited(): Readonly<Record<"SQLite" | "PostgreSQL", OpenAudited>> {
  let opened: ReturnType<typeof openDamageable> | undefined;
  afterAll(async () => {
    const { database, server } = (await opened) ?? {};
    await database?.close();
    await server?.drop();
  });
  return {
    SQLite: async ({ database, close }) => ({
      run: async (statement) => database.client.run(statement),
      audit: (nowMs = NOON_MS, walletsPerSnapshot = 1_000) =>
        auditSqlite(database, nowMs, { walletsPerSnapshot }),
      close,
    }),
    PostgreSQL: async (source) => {
      opened ??= openDamageable();
      const { database } = await opened;
      const emptied = ["wallets", "transfers", "holds", "spend_limits", "limit_counters", "credits"];
      await database.client.unsafe(`TRUNCATE ${emptied.join(", ")}`);
      await copyLedger(source.database.client, database.client);
      await source.close();
      return {
        run: (statement) => database.client.unsafe(statement),
        audit: (nowMs = NOON_MS, walletsPerSnapshot = 1_000) =>
          auditPostgres(database, nowMs, { walletsPerSnapshot }),
        close: async () => {},
      };
    },
  };
}

async function openDamageable(): Promise<{
  readonly database: PostgresDatabase;
  readonly server: TestDatabase;
}> {
  const server = await createTestDatabase();
  const database = await openPostgres(server.url);
  // The triggers would reject the damage and the TRUNCATE before the next test.
  await database.client.unsafe("ALTER TABLE transfers DISABLE TRIGGER USER");
  return { server, database };
}

/** Statements that allow changes of transfers. */
export const ALLOW_DAMAGE = {
  SQLite: "DROP TRIGGER transfers_never_change; DROP TRIGGER transfers_never_go;",
  PostgreSQL: "",
};
