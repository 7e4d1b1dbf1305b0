import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { type AuditReport, auditPostgres, auditSqlite } from "../../src/ledger/audit/audit.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { temporaryFolder } from "./samples.ts";

const AUDITS = 20;
/** Enough transfers for several of each kind. */
const TRANSFERS = 400;
const PROCESSES = 2;

interface Audited {
  /** The arguments of a load process. */
  readonly place: readonly [dialect: string, place: string];
  audit(walletsPerSnapshot: number): Promise<AuditReport>;
  close(): Promise<void>;
}

const stores: Readonly<Record<"SQLite" | "PostgreSQL", () => Promise<Audited>>> = {
  SQLite: async () => {
    const folder = temporaryFolder();
    const database = openDatabase(join(folder.path, "ledger.db"));
    const audit = (walletsPerSnapshot: number) => auditSqlite(database, Date.now(), { walletsPerSnapshot });
    const close = async () => {
      database.close();
      folder.remove();
    };
    return { place: ["sqlite", database.path], audit, close };
  },
  PostgreSQL: async () => {
    const server = await createTestDatabase();
    const database = await openPostgres(server.url);
    const audit = (walletsPerSnapshot: number) => auditPostgres(database, Date.now(), { walletsPerSnapshot });
    const close = () => database.close().then(() => server.drop());
    return { place: ["postgres", server.url], audit, close };
  },
};

async function startLoad(place: Audited["place"]) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "audit-load-child.ts"), ...place], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = child.stdout.getReader();
  const line = async () => new TextDecoder().decode((await output.read()).value).trim();
  expect(await line()).toBe("ready");
  return {
    /** Ends the load and returns the number of its requests. */
    async end() {
      await child.stdin.end();
      const requests = Number(await line());
      expect(await child.exited).toBe(0);
      return requests;
    },
  };
}

describe.each(["SQLite", "PostgreSQL"] as const)("an audit of a %s ledger under load", (dialect) => {
  test("finds nothing, for any number of wallets per snapshot", async () => {
    const store = await stores[dialect]();
    const loads = await Promise.all(Array.from({ length: PROCESSES }, () => startLoad(store.place)));
    const reports: AuditReport[] = [];
    // Audits continue until enough transfers were written during them.
    const seen = new Set<number>();
    while (seen.size < AUDITS || Math.max(...seen) < TRANSFERS) {
      const report = await store.audit(1 + (reports.length % 6));
      reports.push(report);
      seen.add(report.transfers);
    }
    const requests = await Promise.all(loads.map((load) => load.end()));
    reports.push(await store.audit(1_000));
    expect(reports.flatMap(({ findings, warnings }) => [...findings, ...warnings])).toEqual([]);
    expect(Math.min(...requests)).toBeGreaterThan(0);
    await store.close();
  });
});
