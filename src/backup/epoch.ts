import { randomBytes } from "node:crypto";
import { type SQL, sql } from "drizzle-orm";
import { COMMAND_LINE, recordChange } from "../accounts/audit-trail.ts";
import type { Database, Db } from "../db/database.ts";
import { type Instance, RESTORED, readInstance } from "../db/instance.ts";
import { printTime } from "../time.ts";

export interface EpochOptions {
  /** The moment of the copy; `undefined` when only another tool knows it. */
  readonly backupAtMs: number | undefined;
  readonly nowMs: number;
}

/**
 * Makes a restored database one of its own: a new id, the next epoch, an entry in the audit trail. Ends what must
 * not outlive a restore: sessions, proofs of mails, and the registrations of gateways and jobs of the original.
 */
export async function beginEpoch(database: Database, { backupAtMs, nowMs }: EpochOptions): Promise<Instance> {
  const before = await readInstance(database);
  const { tables } = database;
  const next = { instanceId: randomBytes(16).toString("hex"), epoch: before.epoch + 1 };
  await database.transact(async (tx) => {
    await tx.update(tables.instance).set({
      ...next,
      restoredFrom: lastServed(tables),
      backupAtMs: backupAtMs ?? null,
      restoredAtMs: nowMs,
      servedAt: placeOfOriginal(database),
    });
    await endRegistrations(database, tx);
    const after = { epoch: next.epoch, backup_made_at: printTime(backupAtMs) };
    const change = { action: "instance.restored", target: next.instanceId, after };
    await recordChange(database, tx, COMMAND_LINE, change, nowMs);
  });
  return readInstance(database);
}

/** A copy that was never served has no outbox files: they carry the id of the instance before it. */
function lastServed({ instance }: Database["tables"]): SQL {
  return sql`CASE WHEN ${isUnserved(instance.servedAt)} AND ${instance.restoredFrom} IS NOT NULL
    THEN ${instance.restoredFrom} ELSE ${instance.instanceId} END`;
}

function isUnserved(servedAt: Database["tables"]["instance"]["servedAt"]): SQL {
  return sql`(${servedAt} IS NULL OR ${servedAt} LIKE ${`${RESTORED}%`})`;
}

/** The first start of a restored file looks whether its original is in use again. */
function placeOfOriginal({ dialect, tables }: Database): SQL | null {
  if (dialect === "postgres") return null;
  const { servedAt } = tables.instance;
  return sql`CASE WHEN ${isUnserved(servedAt)} THEN ${servedAt} ELSE ${RESTORED} || ${servedAt} END`;
}

async function endRegistrations({ tables }: Database, tx: Db): Promise<void> {
  await tx.delete(tables.gateways);
  await tx.delete(tables.leases);
  await tx.delete(tables.sessions);
  await tx.delete(tables.proofs);
}
