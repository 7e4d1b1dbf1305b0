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

/** Prints a result on stdout; with `json`, as one object on one line. */
export function printResult(result: CommandResult, { json }: { readonly json?: boolean | undefined }): void {
  console.log(json ? JSON.stringify(result.json) : result.text);
  if (result.failed) process.exitCode = 1;
}

/** "1 wallet", "2 wallets" */
export function count(size: number, noun: string): string {
  return `${size} ${noun}${size === 1 ? "" : "s"}`;
}
