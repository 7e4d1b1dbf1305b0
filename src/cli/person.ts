import { COMMAND_LINE } from "../accounts/audit-trail.ts";
import { findPerson, normaliseEmail, type Person } from "../accounts/people/people.ts";
import { endWay, listSignInWays } from "../accounts/people/sign-in-ways.ts";
import { printTime } from "../domain/id-time.ts";
import { GatewayError } from "../errors.ts";
import { CommandError, type CommandResult } from "./command.ts";
import type { Storage } from "./storage.ts";

export interface PersonOptions {
  readonly email: string;
}

/** Lists how a person may sign in. */
export async function runPersonWays({ database }: Storage, options: PersonOptions): Promise<CommandResult> {
  const person = await requirePerson(database, options);
  const { hasPassword, identities, passkeys, recoveryCodes } = await listSignInWays(database, person.id);
  const json = {
    person: person.id,
    password: hasPassword,
    second_factor: recoveryCodes === undefined ? null : { recovery_codes: recoveryCodes },
    identities: identities.map(({ id, provider, issuer, subject, email, lastUsedAtMs }) => {
      return { id, provider, issuer, subject, email, last_used_at: printTime(lastUsedAtMs) };
    }),
    passkeys: passkeys.map(({ id, name, lastUsedAtMs }) => {
      return { id, name, last_used_at: printTime(lastUsedAtMs) };
    }),
  };
  const lines = [
    `${person.email} may sign in by:`,
    ...(hasPassword ? [`  a password${recoveryCodes === undefined ? "" : " with a second factor"}`] : []),
    ...identities.map(({ id, provider, subject }) => `  ${provider}, as ${subject}: ${id}`),
    ...passkeys.map(({ id, name }) => `  the passkey ${name}: ${id}`),
  ];
  return { json, text: lines.join("\n") };
}

/** Takes a way to sign in from a person: an identity, a passkey, or the second factor of the password. */
export async function runPersonEndWay(
  { database }: Storage,
  { way, ...options }: PersonOptions & { readonly way: string },
): Promise<CommandResult> {
  const person = await requirePerson(database, options);
  await endWay(database, { actor: COMMAND_LINE, personId: person.id, way }, Date.now()).catch(
    (thrown: unknown) => {
      const isUnknown = thrown instanceof GatewayError && thrown.kind === "unknown_item";
      throw isUnknown ? new CommandError(`${person.email} has no such way: list them with ways.`) : thrown;
    },
  );
  return {
    json: { person: person.id, way },
    text: `${person.email} no longer signs in by it, and was signed out.`,
  };
}

async function requirePerson(database: Storage["database"], { email }: PersonOptions): Promise<Person> {
  const person = await findPerson(database, normaliseEmail(email));
  if (!person) throw new CommandError(`There is no person with the address ${email}.`);
  return person;
}
