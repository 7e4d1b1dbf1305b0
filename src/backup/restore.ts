import { existsSync, linkSync, readdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { connectDatabase, type Database } from "../db/database.ts";
import type { Instance } from "../db/instance.ts";
import { isOpenElsewhere, MIGRATIONS } from "../db/sqlite/database.ts";
import type { LongWork } from "../domain/long-work.ts";
import { outboxFolder } from "../settlement-outbox/folder.ts";
import { copyInChunks, copyPrivately, createPrivateFolder, digestOf, sizeOf, syncToDisk } from "./files.ts";
import {
  beginEpoch,
  DATABASE_FILE,
  type Manifest,
  OUTBOX_FOLDER,
  readManifest,
  TOKEN_FILE,
} from "./manifest.ts";
import { type RestoreReport, readRestoreReport } from "./report.ts";

/** Where a backup is restored to: a SQLite file that does not exist yet, and its data folder. */
interface RestoreTarget {
  readonly database: string;
  readonly dataFolder: string;
}

export interface RestoreOptions {
  readonly from: string;
  readonly target: RestoreTarget;
  /** The operator has confirmed that the original no longer runs. */
  readonly isOriginalStopped: boolean;
  readonly now?: () => number;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly instance: Instance;
  readonly report: RestoreReport;
}

/** Suffixes of the files beside a database in use: its log, and the index of that. */
const LOG_SUFFIXES = ["-wal", "-shm"];

/**
 * Restores a backup into a new place and migrates it. The database appears last, when everything else is on disk.
 * Rejects with one sentence before it writes anything when the backup is damaged, the place is taken, or the
 * original runs. A failed or aborted restore leaves nothing.
 */
export async function restoreBackup(options: RestoreOptions, work: LongWork): Promise<Restored> {
  const { target, isOriginalStopped, now = Date.now } = options;
  const from = resolve(options.from);
  const manifest = readManifest(from);
  if (manifest.schema > MIGRATIONS.length) {
    throw new Error("A newer tollgate made this backup: restore it with that.");
  }
  requireFree(target.database);
  requireStopped(findOriginal(manifest.source), isOriginalStopped);
  await verifyFiles(from, manifest, work);
  const draft = `${target.database}.restoring-${crypto.randomUUID()}`;
  const written: string[] = [draft, ...LOG_SUFFIXES.map((suffix) => `${draft}${suffix}`)];
  try {
    createPrivateFolder(dirname(target.database));
    work.step("copy the database", sizeOf(join(from, DATABASE_FILE)), "bytes");
    await copyInChunks(join(from, DATABASE_FILE), draft, work);
    copyDataFolder({ from, manifest, dataFolder: target.dataFolder, written });
    const { instance, report } = await prepare(draft, target.dataFolder, manifest, now());
    work.signal.throwIfAborted();
    publish(draft, target.database);
    return { manifest, instance, report };
  } catch (error) {
    for (const path of written) rmSync(path, { force: true });
    throw error;
  }
}

/** An empty file counts as free: a container's mount may have made it. */
function requireFree(path: string): void {
  const isTaken = (existsSync(path) && sizeOf(path) > 0) || existsSync(`${path}-wal`);
  if (isTaken) {
    throw new Error(
      `There is already a database ${path}: move it away, or name a new place in DATABASE_URL.`,
    );
  }
}

async function verifyFiles(from: string, { files }: Manifest, work: LongWork): Promise<void> {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  work.step("verify the backup", total, "bytes");
  let before = 0;
  for (const { name, bytes, sha256 } of files) {
    const path = join(from, name);
    const isWhole =
      existsSync(path) && sizeOf(path) === bytes && (await digestOf(path, work, before)) === sha256;
    if (!isWhole)
      throw new Error(`The file ${name} of the backup is missing or damaged: nothing was restored.`);
    before += bytes;
  }
}

interface DataFolderParts {
  readonly from: string;
  readonly manifest: Manifest;
  readonly dataFolder: string;
  /** Gets the path of each file that is written. */
  readonly written: string[];
}

/**
 * Copies outbox files under new names, because the folder may still hold later versions of them. A ledger token
 * that is there stays.
 */
function copyDataFolder({ from, manifest, dataFolder, written }: DataFolderParts): void {
  const copy = (name: string, to: string) => {
    written.push(to);
    copyPrivately(join(from, name), to);
  };
  createPrivateFolder(dataFolder);
  const names = manifest.files.map(({ name }) => name);
  const token = join(dataFolder, TOKEN_FILE);
  if (names.includes(TOKEN_FILE) && !existsSync(token)) copy(TOKEN_FILE, token);
  const outboxes = names.filter((name) => name.startsWith(`${OUTBOX_FOLDER}/`));
  if (outboxes.length > 0) createPrivateFolder(outboxFolder(dataFolder));
  for (const name of outboxes) copy(name, join(outboxFolder(dataFolder), `${Bun.randomUUIDv7()}.db`));
  if (outboxes.length > 0) syncToDisk(outboxFolder(dataFolder));
  syncToDisk(dataFolder);
}

/** Migrates the copy, makes it an instance of its own, and reads what the operator must know. */
async function prepare(path: string, dataFolder: string, manifest: Manifest, nowMs: number) {
  const database = await connectDatabase({ dialect: "sqlite", path });
  try {
    const own = await makeOwn(database, { dataFolder, nowMs, backupAtMs: Date.parse(manifest.made_at) });
    moveLogIntoFile(database);
    return own;
  } finally {
    await database.close();
    for (const suffix of LOG_SUFFIXES) rmSync(`${path}${suffix}`, { force: true });
    syncToDisk(path);
  }
}

/** The file is published alone, without its log. */
function moveLogIntoFile(database: Database): void {
  if (database.dialect !== "sqlite") return;
  const [row] = database.sqlite.client.query("PRAGMA wal_checkpoint(TRUNCATE)").values();
  if (Number(row?.[0]) !== 0) throw new Error("Cannot write the restored database: its log is in use.");
}

interface OwnParts {
  readonly dataFolder: string;
  readonly backupAtMs: number | undefined;
  readonly nowMs: number;
}

async function makeOwn(database: Database, { dataFolder, backupAtMs, nowMs }: OwnParts) {
  // Read first: the audit entry of the restore is not of the original.
  const report = await readRestoreReport(database, { dataFolder, nowMs });
  const instance = await beginEpoch(database, { backupAtMs, nowMs });
  return { instance, report };
}

/** Unlike a rename, a link fails when another restore was faster. */
function publish(draft: string, path: string): void {
  if (existsSync(path) && sizeOf(path) === 0) rmSync(path);
  linkSync(draft, path);
  rmSync(draft);
  syncToDisk(dirname(path));
}

export interface InPlaceOptions {
  readonly database: Parameters<typeof connectDatabase>[0];
  readonly dataFolder: string;
  readonly isOriginalStopped: boolean;
  readonly nowMs: number;
}

/**
 * Finishes a restore that other tools made, such as pg_restore: migrates the database and makes it an instance of
 * its own. Rejects with one sentence when a gateway uses it.
 */
export async function restoreInPlace(options: InPlaceOptions): Promise<Omit<Restored, "manifest">> {
  const { dataFolder, nowMs } = options;
  requireStopped("unknown", options.isOriginalStopped);
  await requireUnused(options.database);
  const database = await connectDatabase(options.database);
  try {
    return await makeOwn(database, { dataFolder, nowMs, backupAtMs: undefined });
  } finally {
    await database.close();
  }
}

async function requireUnused(location: InPlaceOptions["database"]): Promise<void> {
  if (location.dialect === "sqlite") {
    if (!existsSync(location.path)) throw new Error(`There is no file ${location.path}. See DATABASE_URL.`);
    if (isOpenElsewhere(location.path)) throw inUse();
    return;
  }
  const { countTollgateSessions } = await import("../db/postgres/connection.ts");
  if ((await countTollgateSessions(location.url)) > 0) throw inUse();
}

function inUse(): Error {
  return new Error("A gateway uses this database: it is not a copy at rest. Stop the gateways that name it.");
}

/** Whether the original of a copy runs: `unknown` when it was on another machine. */
type OriginalState = "stopped" | "running" | "unknown";

/** Finds out whether a process of this machine uses the database of a backup, or its settlement outbox. */
function findOriginal({ host, database, data_folder }: Manifest["source"]): OriginalState {
  if (host !== hostname()) return "unknown";
  // A file that was moved away may still be in use: its gateway then holds a lock in the data folder.
  const isRunning = isOpenElsewhere(database) || outboxLocks(data_folder).some(isOpenElsewhere);
  return isRunning ? "running" : "stopped";
}

function outboxLocks(dataFolder: string): readonly string[] {
  const folder = outboxFolder(dataFolder);
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith("-lock"));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Throws Error, one sentence, unless the original of a copy is stopped, or is confirmed to be. */
function requireStopped(state: OriginalState, isConfirmed: boolean): void {
  if (state === "running") {
    throw new Error("The original is running: stop it first. Two copies would both charge.");
  }
  if (state === "unknown" && !isConfirmed) {
    throw new Error(
      "Whether the original runs cannot be checked from here. When it is stopped, add --original-is-stopped.",
    );
  }
}
