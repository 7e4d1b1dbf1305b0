import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Manifest } from "../../src/backup/manifest.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { writeBackup } from "../../src/backup/write-backup.ts";
import { MIGRATIONS } from "../../src/db/sqlite/database.ts";
import type { LongWork } from "../../src/domain/long-work.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

const ENTRY = join(import.meta.dir, "../../src/cli/tollgate.ts");
const NO_WORK: LongWork = { step: () => {}, at: () => {}, signal: new AbortController().signal };

let source: { readonly database: string; readonly dataFolder: string };
/** A name in an empty folder. */
let to: string;

/** Closes the connection at once: an original that this process has open counts as running. */
beforeEach(() => {
  const dataFolder = tempFolder();
  source = { database: join(dataFolder, "tollgate.db"), dataFolder };
  const client = new Database(source.database, { create: true });
  for (const migration of MIGRATIONS) client.run(migration);
  client.run(`PRAGMA user_version = ${MIGRATIONS.length}; PRAGMA journal_mode = WAL`);
  client.close();
  to = join(tempFolder(), "backup");
});

describe("a restore writes nothing", () => {
  let target: { readonly database: string; readonly dataFolder: string };
  beforeEach(async () => {
    await writeBackup(source, to, NO_WORK);
    // The worker of the backup may have the original open for a moment more.
    rmSync(source.dataFolder, { recursive: true });
    const dataFolder = join(tempFolder(), "data");
    target = { database: join(dataFolder, "tollgate.db"), dataFolder };
  });

  const restore = (isOriginalStopped = false, work = NO_WORK) =>
    restoreBackup({ from: to, target, isOriginalStopped }, work);

  async function expectRefused(message: string): Promise<void> {
    await expect(restore()).rejects.toThrow(message);
    expectNothing();
  }

  function expectNothing(): void {
    expect(existsSync(target.dataFolder) ? readdirSync(target.dataFolder) : []).toEqual([]);
  }

  function editManifest(edit: (manifest: Manifest) => unknown): void {
    const path = join(to, "manifest.json");
    const manifest: Manifest = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...manifest, ...(edit(manifest) as object) }));
  }

  const DAMAGED = "The file tollgate.db of the backup is missing or damaged: nothing was restored.";

  test("when a bit of the database has changed", async () => {
    const path = join(to, "tollgate.db");
    const bytes = readFileSync(path);
    bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    await expectRefused(DAMAGED);
  });

  test("when the database is cut short", async () => {
    truncateSync(join(to, "tollgate.db"), 4096);
    await expectRefused(DAMAGED);
  });

  test("when the manifest names a file outside of the backup", async () => {
    editManifest(({ files }) => ({ files: files.map((file) => ({ ...file, name: `../${file.name}` })) }));
    await expectRefused(`The file manifest.json of ${to} is damaged.`);
  });

  test("when the folder has no manifest, or a torn one", async () => {
    writeFileSync(join(to, "manifest.json"), "{");
    await expectRefused(`The file manifest.json of ${to} is damaged.`);
    to = tempFolder();
    await expectRefused(`There is no backup in ${to}: it has no readable manifest.json.`);
  });

  test.each(["schema", "format"])("when a newer program made the backup, as its %s tells", async (member) => {
    editManifest(() => ({ [member]: 99 }));
    await expectRefused("A newer tollgate made this backup: restore it with that.");
  });

  test("from another machine until the operator confirms that the original is stopped", async () => {
    editManifest((manifest) => ({ source: { ...manifest.source, host: "elsewhere" } }));
    await expectRefused("When it is stopped, add --original-is-stopped.");
    expect((await restore(true)).instance.epoch).toBe(2);
  });

  test("when it is interrupted during the copy", async () => {
    const stopping = new AbortController();
    const step = (name: string) => name === "copy the database" && stopping.abort(new Error("stopped"));
    const work = { ...NO_WORK, step, signal: stopping.signal };
    await expect(restore(false, work)).rejects.toThrow("stopped");
    expectNothing();
  });

  test("where there is a database, which stays; an empty file is replaced", async () => {
    mkdirSync(target.dataFolder);
    writeFileSync(target.database, "something");
    await expect(restore()).rejects.toThrow(`There is already a database ${target.database}: move it away`);
    expect(readFileSync(target.database, "utf8")).toBe("something");
    writeFileSync(target.database, "");
    expect((await restore()).instance.epoch).toBe(2);
  });

  test("twice when two run at once: one of them restores", async () => {
    const results = await Promise.allSettled([restore(), restore()]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(readdirSync(target.dataFolder)).toEqual(["tollgate.db"]);
  });
});

describe("a backup leaves nothing", () => {
  const command = (through: readonly string[] = []) =>
    Bun.spawn([...through, process.execPath, ENTRY, "backup", to], {
      ...{ cwd: source.dataFolder, stdout: "pipe", stderr: "pipe" },
      env: { PATH: process.env.PATH ?? "", DATABASE_URL: `sqlite:${source.database}` },
    });

  test("after Ctrl-C, and exits with 130", async () => {
    // A lock of the whole file, for which the copy waits.
    const lock = new Database(source.database);
    lock.run("PRAGMA locking_mode = EXCLUSIVE");
    lock.run("BEGIN IMMEDIATE");
    lock.run("UPDATE instance SET epoch = epoch");
    const child = command();
    await until(() => readdirSync(dirname(to)).length > 0);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(await new Response(child.stderr).text()).toBe("Interrupted: nothing was changed.\n");
    expect(readdirSync(dirname(to))).toEqual([]);
    lock.close();
  });

  test("when the disk is full", async () => {
    const child = command(["sh", "-c", 'trap "" XFSZ; ulimit -f 100; exec "$0" "$@"']);
    expect(await child.exited).toBe(1);
    expect(await new Response(child.stderr).text()).toStartWith("Cannot copy the database: ");
    expect(readdirSync(dirname(to))).toEqual([]);
  });

  test("where a file or folder has its name, or its folder does not exist", async () => {
    to = tempFolder();
    await expect(writeBackup(source, to, NO_WORK)).rejects.toThrow(`There is already a file or folder ${to}`);
    expect(readdirSync(to)).toEqual([]);
    await expect(writeBackup(source, join(to, "a", "b"), NO_WORK)).rejects.toThrow(
      `There is no folder ${to}/a.`,
    );
  });
});
