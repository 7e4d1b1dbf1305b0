import type { Database } from "../../db/database.ts";
import { readSharedSecret } from "../shared-secret.ts";

const SECRET = "end_user_secret";

/** Returns the name of an end user on the receipts of an account that keeps no names: 64 hex digits. */
export type HashEndUser = (accountId: string, endUser: string) => string | Promise<string>;

/** Creates the hash of end users. Its secret is that of the database, and is read at the first use. */
export function createEndUserHash(database: Database): HashEndUser {
  let known: string | undefined;
  return (accountId, endUser) => {
    if (known !== undefined) return hash(known, accountId, endUser);
    return readSharedSecret(database, SECRET).then((secret) => {
      known = secret;
      return hash(secret, accountId, endUser);
    });
  };
}

/** Accounts have hashes of their own, so that the hashes of two accounts cannot be compared. */
function hash(secret: string, accountId: string, endUser: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(`${accountId}\n${endUser}`).digest("hex");
}
