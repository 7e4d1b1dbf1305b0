import { SCOPE_KINDS, type Scope, type ScopeKind } from "../../domain/scope.ts";
import { LedgerError } from "../ledger.ts";
import type { ScopeDimension } from "../usage-records.ts";
import { type Dialect, isStorable, type Values } from "./query.ts";

// The SQL that reads the scopes of a receipt. A receipt without a project counts for the default one of its wallet,
// whose id is that of the wallet.

export const SCOPE_DIMENSIONS = ["project", "member", "end_user", "tag", "run", "parent_key"] as const;

export function isScopeDimension(dimension: string): dimension is ScopeDimension {
  return SCOPE_DIMENSIONS.some((each) => each === dimension);
}

/**
 * The kind, in `usage_scope_days`, of a receipt's scopes after its first one of a kind; of tags, after the first one
 * with the same key. Sums by scope take the first ones only, and filters take both, as those of receipts do.
 */
export function furtherOf(kind: ScopeDimension): string {
  return kind + FURTHER;
}

/** The end of the kinds of {@link furtherOf}. */
export const FURTHER = "+";

interface ScopeOptions {
  readonly values: Values;
  readonly dialect: Dialect;
  /** The key of the tags that are read. */
  readonly tagKey?: string | undefined;
}

/** SQL for the id of a receipt's scope of a kind, the nearest of several; of tags, for the value of one key. */
export function scopeOf(kind: ScopeDimension, { values, dialect, tagKey }: ScopeOptions): string {
  const { elements, item } = dialect;
  const id = `(${item(1, "text")})`;
  const ofKind = `FROM ${elements("holds.scopes")} WHERE (${item(0, "text")}) = '${kind}'`;
  if (kind === "project") return `coalesce((SELECT ${id} ${ofKind} LIMIT 1), holds.wallet_id)`;
  if (kind !== "tag") return `(SELECT ${id} ${ofKind} LIMIT 1)`;
  const prefix = values.add(`${tagKey}=`);
  return `(SELECT substr(${id}, length(${prefix}) + 1) ${ofKind} AND substr(${id}, 1, length(${prefix})) = ${prefix} LIMIT 1)`;
}

/** SQL that is true for a receipt that counts for a scope. Throws `invalid_query`. */
export function countsFor({ kind, id }: Scope, options: ScopeOptions): string {
  const { values, dialect } = options;
  if (!SCOPE_KINDS.includes(kind) || !isStorable(id)) throw new LedgerError("invalid_query");
  if (kind === "project") return `${scopeOf(kind, options)} = ${values.add(id)}`;
  return hasScope(kind, { values, dialect }, id);
}

/** SQL that is true for a receipt that has a scope: of a kind, and where one is given, with an id. */
export function hasScope(kind: ScopeKind, { values, dialect }: ScopeOptions, id?: string): string {
  const ofKind = `(${dialect.item(0, "text")}) = '${kind}'`;
  const ofId = id === undefined ? "" : ` AND (${dialect.item(1, "text")}) = ${values.add(id)}`;
  return `EXISTS (SELECT 1 FROM ${dialect.elements("holds.scopes")} WHERE ${ofKind}${ofId})`;
}
