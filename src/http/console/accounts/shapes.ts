import { type TSchema, t } from "elysia";
import { NAME_BEGIN, NOT_IN_NAMES } from "../../../domain/name-characters.ts";
import { id, roleName, time, usd } from "../shapes.ts";

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
  state: t.Union([t.Literal("active"), t.Literal("suspended")]),
  email: t.Nullable(t.String()),
  created_at: time,
  version: t.Integer(),
});
export type AccountShape = typeof account.static;
/** What the next request of a key, or of every key of an account, would be refused for. */
export const nextRefusal = t.Nullable(t.Object({ code: t.String(), text: t.String() }));
export const accountNow = t.Composite([
  account,
  t.Object({ next_refusal: nextRefusal, unread_notices: t.Integer() }),
]);

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
  state: t.Union([t.Literal("active"), t.Literal("revoked"), t.Literal("expired")]),
  created_by: t.String({ description: "Id of the person or management key that made it" }),
  created_at: time,
  expires_at: t.Nullable(time),
  revoked_at: t.Nullable(time),
  last_used_at: t.Nullable(time),
});

export type ManagementKeyShape = typeof managementKey.static;

export const auditEntry = t.Object({
  id,
  at: time,
  account_id: t.Nullable(t.String()),
  account_name: t.Nullable(t.String()),
  actor_kind: t.Union([
    t.Literal("person"),
    t.Literal("management_key"),
    t.Literal("command_line"),
    t.Literal("system"),
  ]),
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

export type AuditEntryShape = typeof auditEntry.static;

/** A whole list. */
export function listOf<Item extends TSchema>(item: Item) {
  return t.Object({ items: t.Array(item) });
}
