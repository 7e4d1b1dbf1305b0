import { Database } from "bun:sqlite";
import { existsSync, renameSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { DAY_MS, printTime } from "../domain/id-time.ts";
import { type LongWork, unlessAborted } from "../domain/long-work.ts";
import { VERSION } from "../domain/version.ts";
import { LedgerError } from "../ledger/ledger.ts";
import { createWorkerReader } from "../ledger/sqlite/reads.ts";
import { findOutboxes } from "../settlement-outbox/folder.ts";
import {
  copyPrivately,
  createPrivateFile,
  createPrivateFolder,
  digestOf,
  sizeOf,
  syncToDisk,
} from "./files.ts";
import {
  DATABASE_FILE,
  FORMAT,
  type Manifest,
  type ManifestFile,
  OUTBOX_FOLDER,
  TOKEN_FILE,
  writeManifest,
} from "./manifest.ts";

/** What is backed up. Nothing of it is changed, and gateways may use it meanwhile. */
interface BackupSource {
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

const POLL_MS = 100;
/** The longest copy: a day. */
const COPY_MS_MAX = DAY_MS;

/**
 * Copies a SQLite database at one moment, while other processes write to it. They do not wait. Reports the bytes
 * written. Rejects with one sentence when the disk is full, the file is damaged, or the work is aborted.
 *
 * @see https://www.sqlite.org/lang_vacuum.html#vacuuminto
 */
async function vacuumInto(from: string, to: string, { at, signal }: LongWork): Promise<void> {
  // SQLite fills an empty file, and keeps its mode.
  createPrivateFile(to);
  const reader = createWorkerReader({ path: from, replyMsMax: COPY_MS_MAX });
  const poll = setInterval(() => at(sizeOf(to)), POLL_MS);
  try {
    await unlessAborted(signal, reader.run({ sql: "VACUUM INTO ?1", values: [to] }));
  } catch (thrown) {
    throw signal.aborted ? thrown : new Error(`Cannot copy the database: ${reasonOf(thrown)}.`);
  } finally {
    clearInterval(poll);
    reader.close();
  }
  syncToDisk(to);
}

/** Returns the bytes that a copy will have, about: free pages are not copied. */
async function sizeOfCopy(path: string, signal: AbortSignal): Promise<number> {
  const reader = createWorkerReader({ path });
  const read = async (name: string) => {
    const query = { sql: `SELECT ${name} AS value FROM pragma_${name}`, values: [] };
    const [row] = await unlessAborted(signal, reader.run(query));
    return Number(row?.value);
  };
  try {
    return ((await read("page_count")) - (await read("freelist_count"))) * (await read("page_size"));
  } catch (thrown) {
    throw signal.aborted ? thrown : new Error(`Cannot read the database: ${reasonOf(thrown)}.`);
  } finally {
    reader.close();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  SQLITE_FULL: "the disk is full",
  SQLITE_CORRUPT: "its file is damaged",
  SQLITE_NOTADB: "the file is not a database",
};

/** The reader's error carries the code of SQLite in its cause. */
function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof LedgerError ? thrown.cause : thrown;
  const code = cause instanceof Error ? cause.message : String(cause);
  return REASONS[code.split("_").slice(0, 2).join("_")] ?? code;
}
