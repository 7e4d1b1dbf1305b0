import { writeBackup } from "../backup/write-backup.ts";
import { loadStorageConfig } from "../config/config.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { runLongWork } from "./progress.ts";
import { requireStorage } from "./storage.ts";

/** Writes a backup of the SQLite database and the data folder. Opens both for reading only. */
export async function runBackup(to: string, options: { readonly json?: boolean }): Promise<CommandResult> {
  const { database, dataFolder } = loadStorageConfig();
  if (database.dialect !== "sqlite") {
    throw new CommandError("PostgreSQL is backed up with its own tools: see docs/backup.md.");
  }
  await requireStorage(database);
  const source = { database: database.path, dataFolder };
  const manifest = await runLongWork(options, (work) => writeBackup(source, to, work));
  const { counts, files, made_at } = manifest;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    json: { folder: to, bytes, ...manifest },
    text: [
      `Backed up ${counts.accounts} accounts, ${counts.holds} receipts and ${counts.transfers} transfers of ${made_at}.`,
      `It has ${counts.open_holds} open holds and ${counts.outbox_entries} settlements in the outbox.`,
      `${to} (${(bytes / 1_000_000).toFixed(1)} MB) holds e-mail addresses and signing secrets: keep it private.`,
    ].join("\n"),
  };
}
