import { COMMAND_LINE, recordChange } from "../accounts/audit-trail.ts";
import { dropLostSecrets } from "../accounts/shared-secret.ts";
import { CommandError, type CommandResult } from "./command.ts";
import type { Storage } from "./storage.ts";

/** Replaces the secrets of the database that no key of SEALING_KEYS opens any more. */
export async function runSecretsRenew(
  { database }: Storage,
  { yes = false }: { readonly yes?: boolean },
): Promise<CommandResult> {
  if (!yes) throw new CommandError("Name --yes: what was sealed with a lost key cannot be brought back.");
  const renewed = await dropLostSecrets(database);
  if (renewed.length > 0) {
    const change = { action: "secrets.renewed", target: "database", after: { secrets: renewed } };
    await database.transact((tx) => recordChange(database, tx, COMMAND_LINE, change, Date.now()));
  }
  const names = renewed.length === 0 ? "no secret: every one can be opened" : renewed.join(", ");
  return { json: { renewed }, text: `Replaced ${names}.` };
}
