import { printTime } from "../domain/id-time.ts";
import { printLine } from "../exports/line.ts";
import { openExportConnection } from "../ledger/exports/connection.ts";
import { forgetCursor, readExportBacklogs } from "../ledger/exports/cursor.ts";
import { readRange } from "../ledger/exports/range.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printTable } from "./printing.ts";
import type { Storage } from "./storage.ts";

/** Lists the exports that have a cursor, also those no longer configured. */
export async function runExportList({ database }: Pick<Storage, "database">): Promise<CommandResult> {
  const connection = openExportConnection(database);
  const backlogs = await readExportBacklogs(connection.run, connection.dialect).finally(connection.close);
  const exports = backlogs.map(({ name, lagsFromMs }) => ({ name, oldest_at: printTime(lagsFromMs) }));
  const rows = exports.map(({ name, oldest_at }) => [name, oldest_at ?? "-"]);
  return { json: { exports }, text: printTable(["name", "oldest line not delivered"], rows) };
}

/** Forgets the cursor of an export. Fails for an unknown name. */
export async function runExportForget(
  { database }: Pick<Storage, "database">,
  { name }: { readonly name: string },
): Promise<CommandResult> {
  const connection = openExportConnection(database);
  const isForgotten = await forgetCursor(connection, name).finally(connection.close);
  if (!isForgotten) throw new CommandError(`There is no export "${name}".`);
  return { json: { name, forgotten: true }, text: `Forgot the export ${name}.` };
}

/** The bounds of a range in Unix milliseconds. Default: everything up to now. */
export interface TimeBounds {
  readonly from?: number;
  readonly to?: number;
}

/** Prints the lines of a range on stdout, one JSON object per line. */
export async function runExportPrint(
  { database }: Pick<Storage, "database">,
  { from: fromMs = 0, to: toMs = Date.now() }: TimeBounds,
): Promise<void> {
  if (fromMs >= toMs) throw new CommandError("Expected --from to be before --to.", 2);
  const connection = openExportConnection(database);
  try {
    for await (const entries of readRange(connection, { fromMs, toMs })) {
      await Bun.write(Bun.stdout, entries.map((entry) => `${printLine(entry).text}\n`).join(""));
    }
  } finally {
    await connection.close();
  }
}
