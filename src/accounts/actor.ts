/** What a person or a management key may do in one account. */
export type Role = "owner" | "developer" | "viewer";

/** Who sends a request to the console, as authenticated by a session or a management key. */
export interface Actor {
  readonly kind: "person" | "management_key";
  readonly id: string;
  /** The e-mail of a person or the hint of a management key, for the audit trail. */
  readonly name: string;
  /** Platform operators reach the operator's routes; in an account they act only by {@link Actor.acting}. */
  readonly isOperator: boolean;
  /** Set for a management key of one account: it reaches no other account. */
  readonly role: { readonly accountId: string; readonly role: Role } | undefined;
  /** The account inside which an operator acts, by a logged session. */
  readonly acting: { readonly accountId: string; readonly untilMs: number } | undefined;
  readonly session: SessionState | undefined;
  /** The address of the caller, for the audit trail; behind a trusted proxy that of its client. */
  readonly address: string | undefined;
}

/** What a session adds to its person. */
export interface SessionState {
  readonly id: string;
  /** Set with a one-time password: only a new password is accepted first. */
  readonly mustChangePassword: boolean;
  /** When the password was last given in this session, in Unix milliseconds. */
  readonly confirmedAtMs: number | undefined;
}
