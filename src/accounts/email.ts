import { GatewayError } from "../errors.ts";

/** One `@`, and nothing that a mail header, a list of recipients or a log line could take for its own. */
const EMAIL = /^[^\s@,;:<>()[\]\\"\p{C}]{1,64}@[^\s@,;:<>()[\]\\"\p{C}]{1,190}$/u;

/**
 * Returns an e-mail address as it is stored: composed (NFC) and in lower case. Throws `wrong_shape` for a
 * text of another form. A host without a dot, such as `localhost`, is allowed.
 */
export function normaliseEmail(text: string): string {
  const email = text.trim().normalize("NFC").toLowerCase();
  if (!EMAIL.test(email)) throw new GatewayError("wrong_shape", { path: "email" });
  return email;
}
