import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type SQL, sql } from "drizzle-orm";
import { COMMAND_LINE, recordChange } from "../accounts/audit-trail.ts";
import type { Database, Db } from "../db/database.ts";
import { type Instance, RESTORED, readInstance } from "../db/instance.ts";
import { printTime } from "../domain/id-time.ts";

/** The version of the layout of a backup. */
export const FORMAT = 1;
/** The database in a backup. */
export const DATABASE_FILE = "tollgate.db";
/** The token of the gRPC ledger, as in the data folder. */
export const TOKEN_FILE = "ledger-token";
/** The folder of the settlement outbox in a backup. */
export const OUTBOX_FOLDER = "outbox";
const MANIFEST_FILE = "manifest.json";

const COUNT = Type.Integer({ minimum: 0 });
const TIME = Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" });

const MANIFEST = Type.Object({
  format: Type.Literal(FORMAT),
  /** The version of the program that made the backup. */
  tollgate: Type.String(),
  /** The number of migrations in the database. */
  schema: COUNT,
  /** When the copy of the database began: nothing later is in it for certain. */
  made_at: TIME,
  /** Null for a database from before instances had ids. */
  instance_id: Type.Union([Type.String(), Type.Null()]),
  epoch: COUNT,
  /** Where the original is, so that a restore on this machine finds it running. */
  source: Type.Object({ host: Type.String(), database: Type.String(), data_folder: Type.String() }),
  counts: Type.Object({
    accounts: COUNT,
    keys: COUNT,
    wallets: COUNT,
    holds: COUNT,
    open_holds: COUNT,
    transfers: COUNT,
    outbox_entries: COUNT,
  }),
  files: Type.Array(
    Type.Object({
      // A restore writes to these names: no other folder can be named.
      name: Type.String({ pattern: "^(tollgate\\.db|ledger-token|outbox/[\\w-]+\\.db)$" }),
      bytes: COUNT,
      sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    }),
  ),
});

/** The manifest of a backup, as JSON. */
export type Manifest = Static<typeof MANIFEST>;
export type ManifestFile = Manifest["files"][number];

export function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    ...{ mode: 0o600, flag: "wx", flush: true },
  });
}

/** Reads the manifest of a backup. Throws Error, one sentence, when the folder holds no whole backup. */
export function readManifest(folder: string): Manifest {
  const manifest = parse(folder);
  if (isLater(manifest)) throw new Error("A newer tollgate made this backup: restore it with that.");
  if (!Value.Check(MANIFEST, manifest)) throw new Error(`The file ${MANIFEST_FILE} of ${folder} is damaged.`);
  if (!manifest.files.some(({ name }) => name === DATABASE_FILE)) {
    throw new Error(`The file ${MANIFEST_FILE} of ${folder} names no database.`);
  }
  return manifest;
}

function parse(folder: string): unknown {
  let text: string;
  try {
    text = readFileSync(join(folder, MANIFEST_FILE), "utf8");
  } catch {
    throw new Error(`There is no backup in ${folder}: it has no readable ${MANIFEST_FILE}.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isLater(manifest: unknown): boolean {
  return (
    typeof manifest === "object" &&
    manifest !== null &&
    "format" in manifest &&
    typeof manifest.format === "number" &&
    manifest.format > FORMAT
  );
}

interface EpochOptions {
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
