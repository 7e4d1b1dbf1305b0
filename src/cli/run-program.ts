import { type Command, CommanderError } from "commander";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { LedgerError } from "../ledger/ledger.ts";
import { CommandError } from "./command-error.ts";
import { explainRefusal } from "./explain-refusal.ts";

const FAILED = 1;
const MISUSED = 2;

/** Runs one command line and resolves with the exit code: 0, 1 when it failed, 2 when it was misused. */
export async function runProgram(program: Command, argv: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(argv);
    return Number(process.exitCode ?? 0);
  } catch (thrown) {
    // Commander has said what is wrong, or was asked for help.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : MISUSED;
    console.error(explain(thrown));
    return thrown instanceof CommandError ? thrown.exitCode : FAILED;
  }
}

/** One sentence; the values of a statement, which Drizzle puts into its message, stay out of it. */
function explain(thrown: unknown): string {
  if (thrown instanceof LedgerError) return explainRefusal(thrown.refusal);
  if (thrown instanceof DrizzleQueryError) return explain(thrown.cause);
  if (!(thrown instanceof Error)) return "The command failed for an unknown reason.";
  if (thrown.name === "SQLiteError") return `The database cannot be used: ${thrown.message}.`;
  return thrown.message;
}
