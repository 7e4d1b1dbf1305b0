import type { Database } from "../db/database.ts";
import { readSharedSecret } from "./shared-secret.ts";

/** Returns the secret that signs session cookies. Changing its row signs everybody out. */
export function readCookieSecret(database: Database): Promise<string> {
  return readSharedSecret(database, "console_cookie_secret");
}
