// The worker of audit-job.ts. An audit of SQLite blocks its thread to the end.
import { parentPort, workerData } from "node:worker_threads";
import { auditSqlite } from "../ledger/audit/audit.ts";

// Safe because audit-job.ts starts the worker with an AuditWorkerData.
const { path, nowMs } = workerData as AuditWorkerData;

export interface AuditWorkerData {
  readonly path: string;
  readonly nowMs: number;
}

parentPort?.postMessage(await auditSqlite({ path }, nowMs));
