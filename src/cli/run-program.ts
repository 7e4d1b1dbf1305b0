import { type Command, CommanderError } from "commander";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { LedgerError } from "../ledger/ledger.ts";
import { LedgerLinkError } from "../ledger-grpc/client/link-error.ts";
import { CommandError } from "./command-error.ts";
import { explainRefusal } from "./explain-refusal.ts";

const DATABASE_ERRORS = ["SQLiteError", "PostgresError"];
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
  if (thrown instanceof LedgerError) return explainLedger(thrown);
  if (thrown instanceof DrizzleQueryError) return explain(thrown.cause);
  if (!(thrown instanceof Error)) return "The command failed for an unknown reason.";
  if (DATABASE_ERRORS.includes(thrown.name)) return `The database cannot be used: ${thrown.message}.`;
  if (thrown.name === "LedgerListenError") return `${thrown.message}: see LEDGER_LISTEN and LEDGER_TLS_CERT.`;
  if (thrown.name === "MetricsListenError") return `${thrown.message}: see METRICS_LISTEN.`;
  return thrown.message;
}

/** A ledger elsewhere that cannot be reached says more than that it is unavailable. */
function explainLedger({ refusal, cause }: LedgerError): string {
  return cause instanceof LedgerLinkError ? `${cause.message}.` : explainRefusal(refusal);
}
