import type { Command } from "commander";
import { type CommandResult, printResult } from "./command.ts";
import { parseTime } from "./options.ts";
import type { Storage } from "./storage.ts";

/** The option of every command that prints a result. */
export interface JsonOption {
  readonly json?: boolean;
}

/** The option that names an account. */
export const ACCOUNT = ["--account <account>", "id or name of the account"] as const;
/** The option with which a command prints JSON. */
export const JSON_OPTION = ["--json", "print one JSON object"] as const;

/** Adds a command that prints text, or one JSON object with `--json`. */
export function withJson(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option(...JSON_OPTION);
}

/** Adds the bounds of a range of time. */
export function withRange(command: Command): Command {
  return command
    .option("--from <time>", "from this time, such as 2026-11-01 or 2026-11-01T08:00Z", parseTime)
    .option("--to <time>", "to before this time", parseTime);
}

type Load<Options> = () => Promise<(storage: Storage, options: Options) => Promise<CommandResult>>;

/** Returns an action that opens the storage, runs a command with it and prints the result. */
export function onStorage<Options>(load: Load<Options>) {
  return async (options: Options & JsonOption): Promise<void> => {
    const [{ withStorage }, run] = await Promise.all([import("./storage.ts"), load()]);
    printResult(await withStorage((storage) => run(storage, options)), options);
  };
}

/** Like {@link onStorage}, for commands that need the database of the ledger. */
export function onLocalStorage<Options>(load: Load<Options>) {
  return async (options: Options & JsonOption): Promise<void> => {
    const [{ withLocalStorage }, run] = await Promise.all([import("./storage.ts"), load()]);
    printResult(await withLocalStorage((storage) => run(storage, options)), options);
  };
}
