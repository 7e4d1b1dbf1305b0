import { FILTER_SCOPES_MAX, SCOPES_MAX, type Scope } from "../../domain/scope.ts";
import type * as Proto from "../../gen/messages.ts";
import type { DecliningLimit } from "../../ledger/ledger.ts";
import { scopeKinds } from "./enums.ts";
import { encodeId } from "./fields.ts";

/** Encodes a scope. A kind outside the union and an id that the wire cannot carry are declined by the server. */
export function encodeScope({ kind, id }: Scope): Proto.Scope {
  return { kind: scopeKinds.encode(kind), id: encodeId(id) };
}

/** Throws InvalidField for a kind that this version does not know: left out, its limits would not bind. */
export function decodeScope({ kind, id }: Proto.Scope__Output, field: string): Scope {
  return { kind: scopeKinds.decode(kind, `${field}.kind`, "invalid_scope"), id };
}

/** One scope above the maximum stays, so that the ledger declines the request. */
const SCOPES_SENT_MAX = SCOPES_MAX + 1;

/** Encodes the scopes of a hold or charge. Without scopes, the field is absent. */
export function encodeScopes(scopes: readonly Scope[] | undefined): Proto.Scope[] | undefined {
  return scopes && scopes.length > 0 ? scopes.slice(0, SCOPES_SENT_MAX).map(encodeScope) : undefined;
}

/** Decodes the scopes of a hold or charge: `undefined` for none. Throws InvalidField like {@link decodeScope}. */
export function decodeScopes(
  wire: readonly Proto.Scope__Output[],
  field = "scopes",
): readonly Scope[] | undefined {
  if (wire.length === 0) return undefined;
  return wire.slice(0, SCOPES_SENT_MAX).map((scope, index) => decodeScope(scope, `${field}[${index}]`));
}

/** Decodes the scopes of a receipt. Leaves out kinds of a newer ledger, because they change nothing here. */
export function decodeStoredScopes(wire: readonly Proto.Scope__Output[]): readonly Scope[] {
  return wire.flatMap(({ kind, id }) => {
    const known = scopeKinds.find(kind);
    return known === undefined ? [] : [{ kind: known, id }];
  });
}

/** Encodes the scopes of a filter. Earlier versions know the first field alone. */
export function encodeFilterScopes(
  scopes: readonly Scope[] = [],
): Pick<Proto.HoldFilter, "scope" | "moreScopes"> {
  // One scope above the maximum stays, so that the ledger declines the query.
  const [first, ...more] = scopes.slice(0, FILTER_SCOPES_MAX + 1).map(encodeScope);
  return { ...(first && { scope: first }), ...(more.length > 0 && { moreScopes: more }) };
}

/** Decodes the scopes of a filter: `undefined` for none. Throws InvalidField like {@link decodeScope}. */
export function decodeFilterScopes({
  scope,
  moreScopes,
}: Pick<Proto.HoldFilter__Output, "scope" | "moreScopes">): readonly Scope[] | undefined {
  const more = decodeScopes(moreScopes, "filter.more_scopes") ?? [];
  const all = scope ? [decodeScope(scope, "filter.scope"), ...more] : more;
  return all.length > 0 ? all : undefined;
}

/** The keys in the metadata of `google.rpc.ErrorInfo` that name the limit of a declined hold. */
const NAMES = { limitId: "limit_id", kind: "limit_scope_kind", scopeId: "limit_scope_id" } as const;

/** Encodes the limit that declined a hold. The kind is a name of the enum `ScopeKind`. */
export function encodeDecliningLimit({ limitId, scope }: DecliningLimit): Record<string, string> {
  const name = { [NAMES.limitId]: limitId };
  return scope ? { ...name, [NAMES.kind]: scopeKinds.encode(scope.kind), [NAMES.scopeId]: scope.id } : name;
}

/** Returns `undefined` unless the limit is named, with the whole of its scope or without any. */
export function decodeDecliningLimit(metadata: Readonly<Record<string, string>>): DecliningLimit | undefined {
  const { [NAMES.limitId]: limitId, [NAMES.kind]: wireKind, [NAMES.scopeId]: id } = metadata;
  if (limitId === undefined) return undefined;
  if (wireKind === undefined && id === undefined) return { limitId, scope: undefined };
  const kind = wireKind === undefined ? undefined : scopeKinds.find(wireKind);
  return kind === undefined || id === undefined ? undefined : { limitId, scope: { kind, id } };
}
