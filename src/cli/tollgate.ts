#!/usr/bin/env bun
import { type Command, CommanderError } from "commander";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { LedgerError, type LedgerErrorCode } from "../ledger/ledger.ts";
import { LedgerLinkError } from "../ledger-grpc/client/link-error.ts";
import { CommandError } from "./command.ts";
import { createProgram } from "./program.ts";

const DATABASE_ERRORS = ["SQLiteError", "PostgresError"];
const FAILED = 1;
const MISUSED = 2;

/** Runs one command line. Resolves with the exit code: 0, 1 for a failure, 2 for a wrong command line. */
async function runProgram(program: Command, argv: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(argv);
    return Number(process.exitCode ?? 0);
  } catch (thrown) {
    // Commander has printed its message, or the help.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : MISUSED;
    console.error(explain(thrown));
    return thrown instanceof CommandError ? thrown.exitCode : FAILED;
  }
}

/** Returns one sentence. Omits Drizzle's own message, which contains the values of a statement. */
function explain(thrown: unknown): string {
  if (thrown instanceof LedgerError) return explainLedgerError(thrown);
  if (thrown instanceof DrizzleQueryError) return explain(thrown.cause);
  if (!(thrown instanceof Error)) return "The command failed for an unknown reason.";
  if (DATABASE_ERRORS.includes(thrown.name)) return `The database cannot be used: ${thrown.message}.`;
  if (Object.hasOwn(LISTENERS, thrown.name)) return explainListening(thrown);
  if ("code" in thrown && "path" in thrown && FILE_ERRORS.includes(String(thrown.code)))
    return `${thrown.path} cannot be written (${thrown.code}). TOLLGATE_DATA names the folder of the gateway's data.`;
  return thrown.message;
}

const FILE_ERRORS = ["EACCES", "EEXIST", "ENOTDIR", "EPERM", "EROFS"];

/** The variables of an address that cannot be used, by the name of the error. */
const LISTENERS: Readonly<Record<string, string>> = {
  HttpListenError: "PORT or HOST",
  LedgerListenError: "LEDGER_LISTEN, LEDGER_TLS_CERT or LEDGER_TLS_KEY",
  MetricsListenError: "METRICS_LISTEN",
};

const LISTEN_REASONS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/EADDRINUSE|in use/, "another program, or a gateway that runs already, listens there"],
  [/EADDRNOTAVAIL/, "this machine has no such address"],
  [/EACCES|EPERM/, "this user may not listen there"],
];

function explainListening({ name, message, cause }: Error): string {
  const { code, message: text } = Object(cause);
  const [, reason = "it is not usable"] =
    LISTEN_REASONS.find(([pattern]) => pattern.test(`${code} ${text}`)) ?? [];
  return `${message}: ${reason}. Change ${LISTENERS[name]}.`;
}

/** A failed connection to a remote ledger has a message of its own, more precise than `unavailable`. */
function explainLedgerError({ code, cause }: LedgerError): string {
  if (cause instanceof LedgerLinkError) return `${cause.message}.`;
  return LEDGER_SENTENCES[code] ?? `The ledger declined: ${code}.`;
}

const LEDGER_SENTENCES: Readonly<Partial<Record<LedgerErrorCode, string>>> = {
  invalid_amount: "The amount is out of range.",
  invalid_id: "The id is not usable: it has 1 to 128 characters, and is none of a plan's credits.",
  wallet_not_found: "The account has no wallet.",
  wallet_frozen: "The wallet is frozen.",
  hold_not_found: "The account has no such receipt.",
  hold_released: "Nothing was charged for this receipt.",
  conflict: "The id was used before with other values: nothing was booked.",
  refund_exceeds_charge: "The amount is more than what is left of the charge: nothing was booked.",
  balance_overflow: "The balance would grow beyond what the ledger can count.",
  queue_full: "The ledger is too busy: run the command again.",
  unavailable: "The ledger cannot be written now: run the command again with the same id.",
};

const exitCode = await runProgram(createProgram(), Bun.argv);
process.exitCode = exitCode;
// A server that failed to start may have left timers. A running server keeps the process alive by itself.
if (exitCode !== 0) process.exit();
