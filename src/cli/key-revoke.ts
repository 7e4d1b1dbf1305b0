import { findKeys, revokeKey } from "../accounts/keys.ts";
import type { CommandResult } from "./command.ts";
import { CommandError } from "./command-error.ts";
import type { Storage } from "./storage.ts";

export async function runKeyRevoke({ database }: Storage, idOrHint: string): Promise<CommandResult> {
  const [key, ...others] = await findKeys(database, idOrHint);
  if (!key) throw new CommandError("There is no such key.");
  if (others.length > 0) {
    const ids = [key, ...others].map(({ id }) => id).join(", ");
    throw new CommandError(`The hint stands for several keys, name one by its id: ${ids}.`);
  }
  const isNew = await revokeKey({ database }, key.id);
  return {
    json: { id: key.id, hint: key.hint, revoked: true, replayed: !isNew },
    text: isNew
      ? `Revoked key ${key.name} (${key.id}): every process refuses it within a second.`
      : `Key ${key.name} (${key.id}) was revoked before.`,
  };
}
