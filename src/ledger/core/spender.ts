import { isCalendar } from "../../domain/period.ts";
import type { Scope, ScopeKind } from "../../domain/scope.ts";
import type { SpendLimit } from "../records.ts";

/** What a hold or charge counts for: a key, and scopes beside it. */
export interface Spender {
  readonly keyId: string;
  readonly scopes?: readonly Scope[] | undefined;
}

/** No id has this character, so that it separates the parts of a text. */
const SEPARATOR = "\n";

export const NO_SCOPES: readonly Scope[] = [];

/** The binding of templates that bind the whole wallet. */
const WALLET_TEMPLATES = `wallet${SEPARATOR}`;

type Bound = Pick<SpendLimit, "keyId" | "scope"> & Partial<Pick<SpendLimit, "each">>;

/**
 * Returns what a limit binds as one text, which is stored: the id of a key, the kind and id of another scope, or
 * `undefined` for the whole wallet. Templates of keys and wallets have a kind as well, which programs of earlier
 * versions take for a key that nothing has.
 */
export function bindingOf({ keyId, scope, each }: Bound): string | undefined {
  if (scope) return scope.kind + SEPARATOR + scope.id;
  if (each === undefined) return keyId;
  return keyId === undefined ? WALLET_TEMPLATES : templatesOf(keyId);
}

/** The reverse of {@link bindingOf}. */
export function readBinding(binding: string | null): Pick<SpendLimit, "keyId" | "scope"> {
  if (binding === null || binding === WALLET_TEMPLATES) return { keyId: undefined };
  const end = binding.indexOf(SEPARATOR);
  if (end === -1) return { keyId: binding };
  const id = binding.slice(end + 1);
  // Safe because bindingOf is the only writer of the column.
  const kind = binding.slice(0, end) as ScopeKind;
  return kind === "key" ? { keyId: id } : { keyId: undefined, scope: { kind, id } };
}

/** The binding of the templates of a key. */
function templatesOf(keyId: string): string {
  return `key${SEPARATOR}${keyId}`;
}

/** The binding of the limits of a scope. A key above the hold's binds it as its own holds. */
export function bindingOfScope({ kind, id }: Scope): string {
  return kind === "parent_key" ? id : kind + SEPARATOR + id;
}

/** Returns every binding of limits that bind a spender, but that of the whole wallet. May have one twice. */
export function bindingsOf({ keyId, scopes = NO_SCOPES }: Spender): readonly string[] {
  const bindings = [WALLET_TEMPLATES, keyId, templatesOf(keyId)];
  for (const scope of scopes) {
    bindings.push(bindingOfScope(scope));
    if (scope.kind === "parent_key") bindings.push(templatesOf(scope.id));
  }
  return bindings;
}

/** Whether a limit binds what a spender spends. A template may count none of its scopes nevertheless. */
export function binds(limit: Bound, spender: Spender): boolean {
  const binding = bindingOf(limit);
  return binding === undefined || bindingsOf(spender).includes(binding);
}

/**
 * Whether a receipt counts for what a limit, no template, counts of the time before it was set. The default project of
 * a wallet, which has its id, has the receipts without a project as well.
 */
export function spentFor(bound: Pick<SpendLimit, "walletId" | "keyId" | "scope">, spender: Spender): boolean {
  const { walletId, scope } = bound;
  const isOfDefault = scope?.kind === "project" && scope.id === walletId;
  return (isOfDefault && !spender.scopes?.some(({ kind }) => kind === "project")) || binds(bound, spender);
}

/** What a limit that is no template counts: everything that it binds. */
const ALL: readonly undefined[] = [undefined];

/** Returns the ids of the scopes that a template counts of a spender; of another limit one `undefined`. */
export function subjectsOf(
  { each }: Pick<SpendLimit, "each">,
  { keyId, scopes = NO_SCOPES }: Spender,
): readonly (string | undefined)[] {
  if (each === undefined) return ALL;
  if (each === "key") return [keyId];
  return scopes.filter(({ kind }) => kind === each).map(({ id }) => id);
}

/**
 * Returns the id of a limit's counters. Those of a template are told apart by the scope that they count, and those of
 * windows by a last line feed: a window never goes on from a calendar period that the limit had before.
 */
export function counterIdOf({ limitId, period }: CountedLimit, subject: string | undefined): string {
  if (!isCalendar(period)) return limitId + SEPARATOR + (subject ?? "") + SEPARATOR;
  return subject === undefined ? limitId : limitId + SEPARATOR + subject;
}

type CountedLimit = Pick<SpendLimit, "limitId" | "period">;

/** Returns scopes as JSON text, `[["project", "p1"], …]`; null for none. */
export function printScopes(scopes: readonly Scope[] = NO_SCOPES): string | null {
  return scopes.length === 0 ? null : JSON.stringify(scopes.map(({ kind, id }) => [kind, id]));
}

export function readScopes(printed: string | null): readonly Scope[] {
  if (printed === null) return NO_SCOPES;
  // Safe because printScopes is the only writer of the column.
  const pairs = JSON.parse(printed) as readonly (readonly [ScopeKind, string])[];
  return pairs.map(([kind, id]) => ({ kind, id }));
}
