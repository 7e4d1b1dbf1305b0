import { Database } from "bun:sqlite";
import { existsSync, renameSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { LongWork } from "../domain/long-work.ts";
import { VERSION } from "../domain/version.ts";
import { findOutboxes } from "../settlement-outbox/folder.ts";
import { printTime } from "../time.ts";
import { copyPrivately, createPrivateFolder, digestOf, sizeOf, syncToDisk } from "./files.ts";
import {
  DATABASE_FILE,
  FORMAT,
  type Manifest,
  type ManifestFile,
  OUTBOX_FOLDER,
  TOKEN_FILE,
  writeManifest,
} from "./manifest.ts";
import { sizeOfCopy, vacuumInto } from "./vacuum-into.ts";

/** What is backed up. Nothing of it is changed, and gateways may use it meanwhile. */
export interface BackupSource {
  /** Absolute path of the SQLite file. */
  readonly database: string;
  /** Absolute path of the folder with the outbox and the ledger token. */
  readonly dataFolder: string;
}

/**
 * Writes a backup as a new folder `to`, readable by its owner alone. The folder appears when everything in it is
 * on disk. Rejects when the name is taken; a failed or aborted backup leaves nothing.
 */
export async function writeBackup(
  source: BackupSource,
  to: string,
  work: LongWork,
  now: () => number = Date.now,
): Promise<Manifest> {
  const folder = resolve(to);
  if (existsSync(folder)) throw new Error(`There is already a file or folder ${folder}: name a new one.`);
  if (!existsSync(dirname(folder))) throw new Error(`There is no folder ${dirname(folder)}.`);
  const draft = `${folder}.partial-${crypto.randomUUID()}`;
  try {
    createPrivateFolder(draft);
    const manifest = await fillDraft(source, draft, work, now);
    work.signal.throwIfAborted();
    // Fails when another backup was faster: the folder is not empty then.
    renameSync(draft, folder);
    syncToDisk(dirname(folder));
    return manifest;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

async function fillDraft(
  source: BackupSource,
  draft: string,
  work: LongWork,
  now: () => number,
): Promise<Manifest> {
  const madeAtMs = now();
  // Before the database: a settlement that is in both is booked once, one that is in neither would be lost.
  const { names, entries } = await copyOutboxes(source.dataFolder, draft, work);
  work.step("copy the database", await sizeOfCopy(source.database, work.signal), "bytes");
  await vacuumInto(source.database, join(draft, DATABASE_FILE), work);
  const token = join(source.dataFolder, TOKEN_FILE);
  const others = existsSync(token) ? [TOKEN_FILE] : [];
  for (const name of others) copyPrivately(token, join(draft, name));
  const files = await describeFiles(draft, [DATABASE_FILE, ...others, ...names], work);
  const manifest: Manifest = {
    format: FORMAT,
    tollgate: VERSION,
    made_at: printTime(madeAtMs),
    ...readFacts(join(draft, DATABASE_FILE), entries),
    source: { host: hostname(), database: source.database, data_folder: source.dataFolder },
    files: [...files],
  };
  writeManifest(draft, manifest);
  syncToDisk(draft);
  return manifest;
}

/** Copies the outbox files that hold entries. Damaged ones stay where they are: nothing can be replayed from them. */
async function copyOutboxes(dataFolder: string, draft: string, work: LongWork) {
  const found = findOutboxes(dataFolder).filter(({ isReadable }) => isReadable);
  if (found.length > 0) createPrivateFolder(join(draft, OUTBOX_FOLDER));
  const names: string[] = [];
  for (const { path } of found) {
    const name = `${OUTBOX_FOLDER}/${basename(path)}`;
    work.step("copy the settlement outbox", sizeOf(path), "bytes");
    await vacuumInto(path, join(draft, name), work);
    names.push(name);
  }
  if (names.length > 0) syncToDisk(join(draft, OUTBOX_FOLDER));
  return { names, entries: found.reduce((sum, each) => sum + each.entries, 0) };
}

async function describeFiles(
  draft: string,
  names: readonly string[],
  work: LongWork,
): Promise<readonly ManifestFile[]> {
  const sizes = names.map((name) => sizeOf(join(draft, name)));
  work.step(
    "compute digests",
    sizes.reduce((sum, bytes) => sum + bytes, 0),
    "bytes",
  );
  const files: ManifestFile[] = [];
  let before = 0;
  for (const [index, name] of names.entries()) {
    const bytes = sizes[index] ?? 0;
    files.push({ name, bytes, sha256: await digestOf(join(draft, name), work, before) });
    before += bytes;
  }
  return files;
}

/** Reads the manifest's fields about the copied database, which may have an older schema. */
function readFacts(
  path: string,
  outboxEntries: number,
): Pick<Manifest, "schema" | "instance_id" | "epoch" | "counts"> {
  const client = new Database(path, { readonly: true });
  const read = (sql: string) => client.query(sql).values()[0] ?? [];
  const count = (rows: string) => Number(read(`SELECT count(*) FROM ${rows}`)[0]);
  try {
    const hasInstance = count("sqlite_schema WHERE name = 'instance'") > 0;
    const [id, epoch] = hasInstance ? read("SELECT instance_id, epoch FROM instance") : [];
    return {
      schema: Number(read("PRAGMA user_version")[0]),
      instance_id: id === undefined ? null : String(id),
      epoch: Number(epoch ?? 1),
      counts: {
        accounts: count("accounts"),
        keys: count("api_keys"),
        wallets: count("wallets"),
        holds: count("holds"),
        open_holds: count("holds WHERE state = 'held'"),
        transfers: count("transfers"),
        outbox_entries: outboxEntries,
      },
    };
  } finally {
    client.close();
  }
}
