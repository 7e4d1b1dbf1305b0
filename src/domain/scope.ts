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

/** The most scopes that select receipts together. */
export const FILTER_SCOPES_MAX = 8;

/** What no id of a scope has: control characters and lone surrogates. */
export const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;

/**
 * Returns the text of an end user as receipts keep it. A text that cannot be an id, which only bodies send, is named
 * by its hash: a limit of each end user then still counts it.
 */
export function nameOfEndUser(endUser: string): string {
  if (endUser.length <= SCOPE_ID_CHARACTERS_MAX && !UNSTORABLE.test(endUser)) return endUser;
  return `sha256:${Bun.CryptoHasher.hash("sha256", endUser, "hex")}`;
}

/** A run of an agent: those of different keys are different runs. */
interface RunOfKey {
  readonly keyId: string;
  readonly runId: string;
}

export function scopeOfRun({ keyId, runId }: RunOfKey): Scope {
  return { kind: "run", id: `${keyId}:${runId}` };
}

/** Reads the id of a scope of {@link scopeOfRun}. */
export function readRunId(id: string): RunOfKey {
  const colon = id.indexOf(":");
  return { keyId: id.slice(0, Math.max(colon, 0)), runId: id.slice(colon + 1) };
}

/** Reads a scope of the form "kind:id", such as "end_user:alice"; `undefined` for another text. */
export function readScope(text: string): Scope | undefined {
  const colon = text.indexOf(":");
  const kind = SCOPE_KINDS.find((each) => each === text.slice(0, colon));
  const id = text.slice(colon + 1);
  const isId = id !== "" && id.length <= SCOPE_ID_CHARACTERS_MAX && !UNSTORABLE.test(id);
  return kind !== undefined && kind !== "key" && isId ? { kind, id } : undefined;
}

/** No id has this character, so that it separates scopes in a text. */
const SEPARATOR = "\n";

/** The most characters of a text of {@link readScopeFilter}. */
export const SCOPE_FILTER_CHARACTERS_MAX = 2_500;

/** Reads scopes that select together: each of the form "kind:id". `undefined` for another text, and above 8. */
export function readScopeFilter(text: string): readonly Scope[] | undefined {
  const scopes = text.split(SEPARATOR).map(readScope);
  return scopes.length <= FILTER_SCOPES_MAX && scopes.every((each) => each !== undefined)
    ? scopes
    : undefined;
}
