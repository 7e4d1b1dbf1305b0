import { t } from "elysia";
import type { Person } from "../../../accounts/people/people.ts";
import { NAME_BEGIN, NOT_IN_NAMES } from "../../../domain/name-characters.ts";
import { id, oneOf, roleName, time } from "../shapes.ts";

export const emailField = t.String({ minLength: 3, maxLength: 254 });
/** A password as it is sent: its length in characters is checked after normalisation. */
export const passwordField = t.String({ minLength: 1, maxLength: 1024 });
/** A code of an authenticator app, or a recovery code. */
export const codeField = t.String({ minLength: 6, maxLength: 40 });
export const tokenField = t.String({ minLength: 1, maxLength: 2048 });
/** A name of a person or an account, without control characters. */
export const nameField = t.String({
  minLength: 1,
  maxLength: 100,
  pattern: `${NAME_BEGIN}(?=.*\\S)[^${NOT_IN_NAMES}]+$`,
});

export const personShape = t.Object({
  id,
  name: t.String(),
  email: t.String(),
  email_verified: t.Boolean(),
  is_operator: t.Boolean(),
});

const accountState = oneOf(["active", "suspended"]);
const actingShape = t.Object({
  account_id: id,
  account_name: t.String(),
  account_state: accountState,
  until: time,
});

export const meShape = t.Object({
  person: personShape,
  must_change_password: t.Boolean(),
  /** Whether a second factor must be set up before anything else. */
  must_set_up_second_factor: t.Boolean(),
  /** Whether a password or another proof was given in the last 15 minutes. */
  confirmed: t.Boolean(),
  accounts: t.Array(
    t.Object({
      id,
      name: t.String(),
      state: accountState,
      role: roleName,
    }),
  ),
  acting: t.Nullable(actingShape),
});

export const sessionShape = t.Object({
  id,
  address: t.Nullable(t.String()),
  agent: t.Nullable(t.String()),
  created_at: time,
  last_seen_at: time,
  expires_at: time,
  current: t.Boolean(),
});

export const setupShape = t.Object({
  sign_up: oneOf(["open", "invited", "closed"]),
  has_mail: t.Boolean(),
  has_payments: t.Boolean(),
  public_url: t.String(),
  version: t.String(),
  demo_only: t.Boolean(),
  /** Providers at which people may sign in. */
  providers: t.Array(t.Object({ id: t.String(), name: t.String() })),
  /** Whether passwords are accepted; those of operators always may be, by the command line. */
  passwords: t.Boolean(),
  /** Whether passkeys are accepted, and browsers have them at this address. */
  passkeys: t.Boolean(),
});

export function printPerson({ id, name, email, emailVerified, isOperator }: Person) {
  return { id, name, email, email_verified: emailVerified, is_operator: isOperator };
}
