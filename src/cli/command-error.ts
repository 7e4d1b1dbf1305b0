/** A command cannot do what it was asked to. The message is one sentence for the operator. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** 1, or 2 when the command line itself is wrong. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
