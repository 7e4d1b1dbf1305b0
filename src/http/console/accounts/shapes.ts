import { t } from "elysia";
import type { Account } from "../../../accounts/accounts.ts";
import type { AuditEntry } from "../../../accounts/audit-trail.ts";
import type { ManagementKey } from "../../../accounts/keys/management-keys.ts";
import { printTime } from "../../../domain/id-time.ts";
import { NAME_BEGIN, NOT_IN_NAMES } from "../../../domain/name-characters.ts";
import { id, oneOf, roleName, time, usd } from "../shapes.ts";

// Shapes of accounts, people and their management keys that several routes share.

/** One line of text without blanks at its ends. TypeBox compiles patterns without the flag for \p{Cc}. */
const BLANK = ` \\u00a0${NOT_IN_NAMES}`;
export const name = t.String({
  minLength: 1,
  maxLength: 100,
  pattern: `${NAME_BEGIN}[^${BLANK}]([^${NOT_IN_NAMES}]*[^${BLANK}])?$`,
});
export const email = t.String({ minLength: 3, maxLength: 254, description: "One plain e-mail address" });
export const reason = t.String({
  minLength: 1,
  maxLength: 500,
  pattern: `${NAME_BEGIN}[^${NOT_IN_NAMES}]*$`,
  description: "One line, shown in the audit trail",
});
export const account = t.Object({
  id,
  name: t.String(),
  state: oneOf(["active", "suspended"]),
  email: t.Nullable(t.String()),
  created_at: time,
  version: t.Integer(),
});
export type AccountShape = typeof account.static;
/** What the next request of a key, or of every key of an account, would be refused for. */
export const nextRefusal = t.Nullable(t.Object({ code: t.String(), text: t.String() }));
export const accountNow = t.Composite([
  account,
  t.Object({
    next_refusal: nextRefusal,
    unread_notices: t.Integer(),
    recently_refused: t.Nullable(
      t.Object({
        count: t.Integer(),
        request_id: t.String({ description: "The newest of them" }),
        key_name: t.Nullable(t.String()),
        code: t.String(),
        text: t.String(),
      }),
      { description: "Requests that were refused in the last 10 minutes" },
    ),
    wallet: t.Nullable(
      t.Object({
        available_usd: usd,
        runway_days: t.Nullable(
          t.Number({ description: "Days until nothing is available, at the 7-day rate" }),
        ),
        may_subscribe: t.Boolean({ description: "Whether a plan is for sale, and the account has none" }),
      }),
    ),
  }),
]);
export type AccountNow = typeof accountNow.static;

export const wallet = t.Object({
  posted_usd: usd,
  held_usd: usd,
  available_usd: usd,
  replayed: t.Boolean({ description: "Whether this id was booked before" }),
});

export const acting = t.Object({ account_id: id, account_name: t.String(), until: time });

export const managementKey = t.Object({
  id,
  name: t.String(),
  hint: t.String({ description: "The first characters of the secret" }),
  role: t.Union([roleName, t.Literal("operator")]),
  state: oneOf(["active", "revoked", "expired"]),
  created_by: t.String({ description: "Id of the person or management key that made it" }),
  created_at: time,
  expires_at: t.Nullable(time),
  revoked_at: t.Nullable(time),
  last_used_at: t.Nullable(time),
});

type ManagementKeyShape = typeof managementKey.static;

export const actorKind = oneOf([
  "person",
  "management_key",
  "api_key",
  "payment_caller",
  "command_line",
  "system",
]);

export const auditEntry = t.Object({
  id,
  at: time,
  account_id: t.Nullable(t.String()),
  account_name: t.Nullable(t.String()),
  actor_kind: actorKind,
  actor_id: t.String(),
  actor_name: t.String(),
  is_acting: t.Boolean(),
  action: t.String(),
  target: t.String({ description: "Id of what was changed" }),
  target_name: t.Nullable(t.String({ description: "Its present name or e-mail" })),
  before: t.Nullable(t.Record(t.String(), t.Unknown())),
  after: t.Nullable(t.Record(t.String(), t.Unknown())),
  address: t.Nullable(t.String()),
});

type AuditEntryShape = typeof auditEntry.static;

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
