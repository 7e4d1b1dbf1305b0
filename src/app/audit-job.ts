import { eq, gt } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { endLease, tryLease } from "../db/leases.ts";
import type { PostgresDatabase } from "../db/postgres/database.ts";
import type { SqliteDatabase } from "../db/sqlite/database.ts";
import type { AuditJob, AuditResult } from "../http/console/console-parts.ts";
import { type AuditReport, auditDatabase } from "../ledger/audit/audit.ts";
import { waitAtMost } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { startWorker } from "../workers/start-worker.ts";
import type { AuditWorkerData } from "./audit-worker.ts";

const JOB = "ledger_audit";
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** A stop waits so long for the lease to be given back. */
const CLOSE_MS = 2_000;
const SCRIPT = new URL("./audit-worker.ts", import.meta.url);

interface AuditParts {
  readonly database: Database;
  readonly log: Log;
  readonly now: () => number;
}

/** A running audit: its report, and how to end it early. */
interface RunningAudit {
  readonly report: Promise<AuditReport>;
  stop(): void;
}

/**
 * Creates the job that audits the ledger of this database. A lease keeps it to one audit at a time, whichever
 * gateway was asked; that of a killed gateway ends after 30 s. The result is a row of the database.
 */
export function createAuditJob({ database, log, now }: AuditParts): AuditJob {
  const lease = { job: JOB, holder: crypto.randomUUID(), ms: LEASE_MS };
  let running: Promise<void> | undefined;
  let audit: RunningAudit | undefined;
  let isClosed = false;

  const run = async () => {
    const renew = setInterval(() => void tryLease(database, lease, now).catch(() => undefined), RENEW_MS);
    try {
      const ranAtMs = now();
      const startedAt = performance.now();
      audit = startAudit(database, ranAtMs);
      if (isClosed) audit.stop();
      const report = await audit.report;
      const durationMs = Math.round(performance.now() - startedAt);
      await keepResult(database, { ranAtMs, durationMs, report });
      const findings = report.findings.length;
      if (findings > 0) log.error({ findings }, "the audit found problems");
    } catch (fault) {
      if (isClosed) log.info({}, "audit stopped");
      else log.error(describeFault(fault), "audit failed");
    } finally {
      clearInterval(renew);
      audit = undefined;
      await endLease(database, lease).catch(() => undefined);
    }
  };

  return {
    async start() {
      if (running) return false;
      const begun = Promise.withResolvers<void>();
      running = begun.promise;
      const isFree = await tryLease(database, lease, now).catch((fault) => {
        running = undefined;
        throw fault;
      });
      const ending = isFree ? run() : Promise.resolve();
      running = isFree ? ending.finally(() => (running = undefined)) : undefined;
      begun.resolve();
      return isFree;
    },
    async isRunning() {
      const { leases } = database.tables;
      const isLive = gt(leases.expiresAtMs, now());
      const rows = await database.db.select().from(leases).where(isLive);
      return running !== undefined || rows.some(({ job }) => job === JOB);
    },
    last: () => readResult(database),
    async close() {
      isClosed = true;
      audit?.stop();
      if (running) await waitAtMost(CLOSE_MS, running);
    },
  };
}

/** Audits SQLite in a worker, and PostgreSQL over connections of its own. */
function startAudit(database: Database, nowMs: number): RunningAudit {
  return database.dialect === "postgres"
    ? startPostgresAudit(database.postgres, nowMs)
    : startSqliteAudit(database.sqlite, nowMs);
}

/** A query may take minutes: a stop closes the connection beneath it. */
function startPostgresAudit({ connect }: PostgresDatabase, nowMs: number): RunningAudit {
  const clients: ReturnType<typeof connect>[] = [];
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const postgres = {
    connect: (options: Parameters<typeof connect>[0]) => {
      const client = connect(options);
      clients.push(client);
      return client;
    },
  };
  const report = auditDatabase({ dialect: "postgres", postgres }, nowMs);
  return {
    report: Promise.race([report, stopped]),
    stop() {
      reject(new Error("The audit was stopped"));
      for (const client of clients) void client.close({ timeout: 0 }).catch(() => undefined);
    },
  };
}

function startSqliteAudit({ path }: SqliteDatabase, nowMs: number): RunningAudit {
  const { promise: report, resolve, reject } = Promise.withResolvers<AuditReport>();
  const workerData: AuditWorkerData = { path, nowMs };
  const worker = startWorker(SCRIPT, { workerData });
  worker.on("message", resolve);
  worker.on("error", reject);
  worker.on("exit", () => reject(new Error("The audit was stopped")));
  const stop = () => void worker.terminate();
  return { report: report.finally(stop), stop };
}

async function keepResult({ transact, tables: { sharedValues } }: Database, result: AuditResult) {
  const value = JSON.stringify(result);
  await transact((tx) =>
    tx
      .insert(sharedValues)
      .values({ name: JOB, value })
      .onConflictDoUpdate({ target: sharedValues.name, set: { value } }),
  );
}

async function readResult({ db, tables: { sharedValues } }: Database): Promise<AuditResult | undefined> {
  const [row] = await db.select().from(sharedValues).where(eq(sharedValues.name, JOB));
  // Safe because only keepResult writes this row. A `subject` that is absent was undefined.
  return row && (JSON.parse(row.value) as AuditResult);
}
