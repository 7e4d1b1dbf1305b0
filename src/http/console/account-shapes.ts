import { t } from "elysia";

// Shapes of accounts, people and their management keys that several routes share.

export const usd = t.String({ description: "USD with up to 9 decimals" });
export const time = t.String({ description: "ISO 8601 in UTC" });
export const id = t.String({ minLength: 1, maxLength: 128 });
/** One line of text without blanks at its ends. */
export const name = t.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[^\\p{Cc}\\s]([^\\p{Cc}]*[^\\p{Cc}\\s])?$",
});
/** An address without a comma, an angle bracket or a blank, so that it never names two recipients. */
export const email = t.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@,;:<>()\\[\\]"\\\\\\p{Cc}]+@[^\\s@,;:<>()\\[\\]"\\\\\\p{Cc}]+$',
});
export const reason = t.String({ minLength: 1, maxLength: 500, description: "Shown in the audit trail" });
export const role = t.Union([t.Literal("owner"), t.Literal("developer"), t.Literal("viewer")]);
export const nothing = t.Object({});
export const pageQuery = t.Object({
  page: t.Optional(t.String({ maxLength: 4_000 })),
  size: t.Optional(t.Integer({ minimum: 1, maximum: 200 })),
});
export const error = t.Object({
  message: t.String(),
  type: t.String(),
  code: t.String(),
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
  role: t.Union([role, t.Literal("operator")]),
  state: t.Union([t.Literal("active"), t.Literal("revoked"), t.Literal("expired")]),
  created_by: t.String({ description: "Id of the person or management key that made it" }),
  created_at: time,
  expires_at: t.Nullable(time),
  revoked_at: t.Nullable(time),
  last_used_at: t.Nullable(time),
});

export const auditEntry = t.Object({
  id,
  at: time,
  account_id: t.Nullable(t.String()),
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
  target: t.String(),
  before: t.Nullable(t.Record(t.String(), t.Unknown())),
  after: t.Nullable(t.Record(t.String(), t.Unknown())),
  address: t.Nullable(t.String()),
});

/** A page of a list. `next` is the `page` of the next one, null on the last page. */
export function pageOf<Item extends ReturnType<typeof t.Object>>(item: Item) {
  return t.Object({ items: t.Array(item), next: t.Nullable(t.String()) });
}

export function listOf<Item extends ReturnType<typeof t.Object>>(item: Item) {
  return t.Object({ items: t.Array(item) });
}
