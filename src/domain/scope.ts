/**
 * What a hold may count for beside its wallet: its key, a key above it, the project of its key, the member who made
 * the key, the end user and the tags that the request names, and the run that it is part of.
 */
export const SCOPE_KINDS = ["key", "parent_key", "project", "member", "end_user", "tag", "run"] as const;
export type ScopeKind = (typeof SCOPE_KINDS)[number];

/** One thing that holds count for. `id` has 1 to 256 characters, no control characters. */
export interface Scope {
  readonly kind: ScopeKind;
  readonly id: string;
}

/** The most scopes of a hold beside its wallet and its key. */
export const SCOPES_MAX = 16;

export const SCOPE_ID_CHARACTERS_MAX = 256;
