import type { Limits } from "../limiter/limiter.ts";

/** A key as it is stored: everything but the secret, of which only a digest is kept. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** The head of the secret, enough to tell keys apart: "sk-tg-3fK9". */
  readonly hint: string;
  readonly limits: Limits;
  /** Model ids the key may use; `undefined` is every model. */
  readonly models: readonly string[] | undefined;
  /** Whether an own output limit may be lowered to what the wallet affords. */
  readonly allowsClamp: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
}

/** Who is asking: a key in force, and the state of the account that pays. */
export interface Caller {
  readonly key: ApiKey;
  readonly accountSuspended: boolean;
}

/** Finds who a secret belongs to. Throws `unknown_key` for a missing, unknown, expired or revoked one. */
export type Authenticate = (secret: string | undefined) => Promise<Caller>;
