/** What a command came to: an object for programs and the same as text for people. */
export interface CommandResult {
  readonly json: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The command ran and what it looked at is not in order: exit 1. */
  readonly failed?: boolean;
}

/** Prints an outcome on stdout, with `json` as exactly one object on one line. */
export function printResult(outcome: CommandResult, { json }: { readonly json?: boolean | undefined }): void {
  console.log(json ? JSON.stringify(outcome.json) : outcome.text);
  if (outcome.failed) process.exitCode = 1;
}
