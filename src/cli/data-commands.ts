import type { Command } from "commander";
import type { RestoreCommandOptions } from "./backup.ts";
import { printResult } from "./command.ts";
import type { TimeBounds } from "./export.ts";
import type { ConfigImportOptions } from "./import/config.ts";
import type { KeyImportOptions } from "./import/keys.ts";
import {
  ACCOUNT,
  type JsonOption,
  onLocalStorage,
  onStorage,
  parseDays,
  parseNames,
  withJson,
  withRange,
} from "./options.ts";

/** Adds the commands that check, shrink, copy, export and import data. */
export function addDataCommands(program: Command): void {
  addBookCommands(program);
  addBackupCommands(program);
  addExportCommands(program.command("export").description("exports of usage, and their lines"));
  addImportCommands(program.command("import").description("models and keys of another gateway"));
}

function addBookCommands(program: Command): void {
  withJson(program, "audit", "check that the books are consistent").action(
    onLocalStorage(async () => (await import("./audit.ts")).runAudit),
  );
  withJson(program, "retention", "report what a retention of receipts has dropped and would drop")
    .requiredOption("--receipts-days <n>", "days that receipts would be kept", parseDays)
    .action(onLocalStorage(async () => (await import("./retention.ts")).runRetention));
  withJson(program, "compact", "write the SQLite file anew without free space; no gateway may run").action(
    onLocalStorage(async () => (await import("./retention.ts")).runCompact),
  );
}

function addBackupCommands(program: Command): void {
  withJson(program, "backup", "copy the SQLite database and the settlement outbox, also while gateways run")
    .argument("<to>", "folder to create")
    .action(async (to: string, options: JsonOption) =>
      printResult(await (await import("./backup.ts")).runBackup(to, options), options),
    );
  withJson(program, "restore", "restore a backup into a new place, and print what it lacks")
    .argument("[from]", "folder of the backup")
    .option("--in-place", "finish a restore that other tools made, such as pg_restore")
    .option("--original-is-stopped", "confirm that no gateway uses the original any more")
    .action(async (from: string | undefined, options: RestoreCommandOptions & JsonOption) =>
      printResult(await (await import("./backup.ts")).runRestore(from, options), options),
    );
}

function addExportCommands(exported: Command): void {
  withJson(exported, "list", "list the exports that this database has a cursor of").action(
    onLocalStorage(async () => (await import("./export.ts")).runExportList),
  );
  withJson(exported, "forget", "forget the cursor of an export, so that nothing is kept for it")
    .requiredOption("--name <name>", "name of the export")
    .action(onLocalStorage(async () => (await import("./export.ts")).runExportForget));
  withRange(
    exported.command("print").description("print the lines of a range on stdout, for a backfill"),
  ).action(async (range: TimeBounds) => {
    const [{ withLocalStorage }, { runExportPrint }] = await Promise.all([
      import("./storage.ts"),
      import("./export.ts"),
    ]);
    await withLocalStorage((storage) => runExportPrint(storage, range));
  });
}

function addImportCommands(parent: Command): void {
  for (const [source, what, argument] of [
    ["litellm", "LiteLLM's config.yaml", "path of its config.yaml"],
    ["openrouter", "OpenRouter's activity export", "path of the activity, in CSV or JSON"],
    ["portkey", "a config of Portkey", "path of the config, in JSON"],
    ["bifrost", "Bifrost's config.json", "path of its config.json"],
    ["helicone", "Helicone's ai-gateway-config.yaml", "path of its ai-gateway-config.yaml"],
  ] as const) {
    const command = withJson(parent, source, `write the models of ${what} into a tollgate.yaml`)
      .argument("<config>", argument)
      .option("--to <file>", "file to write (default: tollgate.yaml)")
      .option("--usage <file>", "usage export of OpenRouter or Portkey, whose money is compared")
      .option("--dry-run", "print the file, and write nothing")
      .action(async (path: string, options: ConfigImportOptions & JsonOption) =>
        printResult((await import("./import/config.ts")).importConfig(source, path, options), options),
      );
    if (source === "litellm")
      command.option(
        "--prices <file>",
        "LiteLLM's model_prices_and_context_window.json, for models without a price",
      );
    if (source === "openrouter")
      command.option("--direct", "send requests to the providers themselves, with keys of your own");
  }
  for (const [name, format, what] of [
    ["litellm-keys", "litellm", "LiteLLM's table LiteLLM_VerificationToken"],
    ["oneapi", "one-api", "the table tokens of one-api or new-api"],
  ] as const) {
    withJson(parent, name, `import keys, which callers keep, from ${what}`)
      .argument("<table>", "path of the exported table, in JSON or CSV")
      .requiredOption(...ACCOUNT)
      .option("--owner <id>", "import the keys of one team or user, or of none")
      .option("--all-owners", "import the keys of several owners into the one account")
      .option("--without <columns>", "import keys without these columns, separated by commas", parseNames)
      .option("--dry-run", "report what would be imported, and change nothing")
      .action(
        onStorage(async () => {
          const { importKeys } = await import("./import/keys.ts");
          return (storage, path: string, options: KeyImportOptions) =>
            importKeys(storage, { format, path }, options);
        }),
      );
  }
}
