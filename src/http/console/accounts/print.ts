import type { Account } from "../../../accounts/accounts.ts";
import type { AuditEntry } from "../../../accounts/audit-trail.ts";
import type { ManagementKey } from "../../../accounts/keys/management-keys.ts";
import { printTime } from "../../../time.ts";
import type { AccountShape, AuditEntryShape, ManagementKeyShape } from "./shapes.ts";

export function printAccount({ id, name, state, email, createdAtMs, version }: Account): AccountShape {
  return { id, name, state, email: email ?? null, created_at: printTime(createdAtMs), version };
}

export function printManagementKey(key: ManagementKey, nowMs: number): ManagementKeyShape {
  const isExpired = key.expiresAtMs !== null && nowMs >= key.expiresAtMs;
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    role: key.role,
    state: key.revokedAtMs !== null ? "revoked" : isExpired ? "expired" : "active",
    created_by: key.createdBy,
    created_at: printTime(key.createdAtMs),
    expires_at: printTime(key.expiresAtMs),
    revoked_at: printTime(key.revokedAtMs),
    last_used_at: printTime(key.lastUsedAtMs),
  };
}

/** The names of accounts and targets by their ids. A deleted thing has none. */
export interface AuditNames {
  readonly accounts: ReadonlyMap<string, string>;
  readonly targets: ReadonlyMap<string, string>;
}

export function printAuditEntry(entry: AuditEntry, { accounts, targets }: AuditNames): AuditEntryShape {
  return {
    id: entry.id,
    at: printTime(entry.atMs),
    account_id: entry.accountId,
    account_name: accounts.get(entry.accountId ?? "") ?? null,
    actor_kind: entry.actorKind,
    actor_id: entry.actorId,
    actor_name: entry.actorName,
    is_acting: entry.isActing,
    action: entry.action,
    target: entry.target,
    target_name: targets.get(entry.target) ?? null,
    before: parseMembers(entry.before),
    after: parseMembers(entry.after),
    address: entry.address,
  };
}

/** The text is ours: `recordChange` stores objects only. */
function parseMembers(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}
