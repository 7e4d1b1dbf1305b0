import { COMMAND_LINE } from "../accounts/audit-trail.ts";
import { createOperator } from "../accounts/people/operators.ts";
import { createPasswords } from "../accounts/people/passwords.ts";
import { GatewayError } from "../errors.ts";
import { CommandError, type CommandResult } from "./command.ts";
import type { Storage } from "./storage.ts";

export interface OperatorCreateOptions {
  readonly email: string;
  readonly name?: string;
}

/** Creates an operator, or gives an existing person the right and a new one-time password. */
export async function runOperatorCreate(
  { database }: Storage,
  options: OperatorCreateOptions,
): Promise<CommandResult> {
  const parts = { database, passwords: createPasswords() };
  const created = await createOperator(parts, options, COMMAND_LINE).catch((thrown: unknown) => {
    const isWrong = thrown instanceof GatewayError && thrown.kind === "wrong_shape";
    throw isWrong ? new CommandError(`"${options.email}" is not an e-mail address.`, 2) : thrown;
  });
  const { person, oneTimePassword, isNew } = created;
  const what = isNew ? `Created operator ${person.email}.` : `Made ${person.email} an operator.`;
  return {
    json: { id: person.id, email: person.email, is_new: isNew, one_time_password: oneTimePassword },
    text: `${what} The password is shown only now; the first sign-in asks for a new one:\n${oneTimePassword}`,
  };
}
