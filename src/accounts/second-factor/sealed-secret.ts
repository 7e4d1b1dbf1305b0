import type { Database } from "../../db/database.ts";
import { deriveKey, seal, unseal } from "../../db/sealing.ts";
import { GatewayError } from "../../errors.ts";
import { readSharedSecret } from "../shared-secret.ts";

/** A secret of an authenticator app as the database has it. */
interface SealedSecret {
  readonly personId: string;
  readonly secret: string;
}

/** Encrypts the secret of a person's app. Under another person's id it cannot be opened. */
export async function sealSecret(database: Database, personId: string, bytes: Uint8Array): Promise<string> {
  return seal(await readKey(database, personId), bytes, personId);
}

/** Decrypts the secret of a person's app. Rejects with `not_permitted` after the loss of the key that it had. */
export async function openSecret(database: Database, { personId, secret }: SealedSecret): Promise<Buffer> {
  const opened = unseal(await readKey(database, personId), secret, personId);
  if (opened) return opened;
  const message =
    "The codes of this app cannot be checked any more: use a recovery code, or ask your operator.";
  throw new GatewayError("not_permitted", { message });
}

async function readKey(database: Database, personId: string): Promise<Uint8Array> {
  const shared = await readSharedSecret(database, "second_factor_key");
  return deriveKey(shared, { info: "tollgate second factor", salt: personId });
}
