/** The result of a command, as a JSON object and as text for people. */
export interface CommandResult {
  readonly json: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The command ran and found problems: exit code 1. */
  readonly failed?: boolean;
}

type ExitCode = 1 | 2 | 130 | 143;

/** A command failed. The message is one sentence for the operator. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** 1, 2 for a wrong command line, 130 after Ctrl-C, 143 after SIGTERM. */
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What steers a terminal, or turns the direction of a line: texts of clients and other gateways may hold it. */
const CONTROLS = /[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/gu;

/** Prints a result on stdout; with `json`, as one object on one line. */
export function printResult(result: CommandResult, { json }: { readonly json?: boolean | undefined }): void {
  console.log(json ? JSON.stringify(result.json) : result.text.replace(CONTROLS, "\ufffd"));
  if (result.failed) process.exitCode = 1;
}

/** "1 wallet", "2 wallets" */
export function count(size: number, noun: string): string {
  return `${size} ${noun}${size === 1 ? "" : "s"}`;
}
