// How people may sign in to the console, as the file says.

/** A right that a group of a provider gives: a role in an account, or the operator's right. */
export type GroupRight =
  | { readonly group: string; readonly operator: true }
  | {
      readonly group: string;
      /** The id or the name of the account. */
      readonly account: string;
      readonly role: "owner" | "developer" | "viewer";
    };

/** A provider of OpenID Connect at which people sign in. */
export interface SignInProvider {
  /** The key in the file. It is in the address that is registered at the provider. */
  readonly id: string;
  /** The name on the button. */
  readonly name: string;
  /** The discovery address, without `/.well-known/openid-configuration`. */
  readonly issuer: string;
  readonly clientId: string;
  /** `undefined` for a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  /** The claim that lists the groups of a person; dots lead into objects. */
  readonly groupsClaim: string | undefined;
  readonly rights: readonly GroupRight[];
  /** Domains of the addresses that are admitted; `undefined` for all. */
  readonly domains: readonly string[] | undefined;
  /** How long a session of this provider lasts. It is never renewed. */
  readonly sessionMs: number;
  /** How long rights of groups last without a sign-in. `undefined` for as long as none comes without the group. */
  readonly rightsMs: number | undefined;
  /** What counts as a new proof of the person: a time that the provider states, or any repeated sign-in. */
  readonly confirmBy: "auth_time" | "select_account";
  /** Whether a sign-out here leads on to that at the provider. */
  readonly rpInitiatedLogout: boolean;
}

/** The rules of the sign-in. */
export interface SignInRules {
  readonly providers: readonly SignInProvider[];
  /** Whether passwords and passkeys open no session. */
  readonly requiresProvider: boolean;
  /** Who needs a second factor beside a password. */
  readonly secondFactor: "none" | "operators" | "everyone";
}

/** Of a file that says nothing. */
export const NO_SIGN_IN_RULES: SignInRules = {
  providers: [],
  requiresProvider: false,
  secondFactor: "none",
};

/** Whether two texts name one issuer: the file may write a slash at the end that its tokens do not have. */
export function isSameIssuer(one: string, other: string | undefined): boolean {
  return other !== undefined && new URL(one).href === new URL(other).href;
}
