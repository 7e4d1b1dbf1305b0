import { isMailAddress } from "../domain/mail-address.ts";
import { GatewayError } from "../errors.ts";

/**
 * Returns an e-mail address as it is stored: composed (NFC) and in lower case. Throws `wrong_shape` for a text
 * that is no plain address. A host without a dot, such as `localhost`, is allowed.
 */
export function normaliseEmail(text: string): string {
  const email = text.trim().normalize("NFC").toLowerCase();
  if (!isMailAddress(email)) throw new GatewayError("wrong_shape", { path: "email" });
  return email;
}
