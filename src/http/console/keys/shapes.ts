import { t } from "elysia";
import { KEY_ORDERS } from "../../../accounts/keys/key-list.ts";
import { NAME_BEGIN, NOT_IN_NAMES } from "../../../domain/name-characters.ts";
import { TIERS } from "../../../domain/tiers.ts";
import { nextRefusal } from "../accounts/shapes.ts";
import { id, oneOf, pageOf, pageQuery, sortOf, time, usd } from "../shapes.ts";
import { offsetHours } from "../usage/shapes.ts";

/** A limit per minute or of concurrent requests; 0 admits nothing. */
const bound = t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const count = t.Integer({ minimum: 0 });
const name = t.String({ minLength: 1, maxLength: 100, pattern: `${NAME_BEGIN}[^${NOT_IN_NAMES}]*$` });
const models = t.Array(t.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 1000 });
const tiers = t.Array(oneOf(TIERS), {
  maxItems: TIERS.length,
  description: "the service tiers that the key may ask for beside the standard one; null for every tier",
});
const amount = t.String({ pattern: "^\\d{1,10}(\\.\\d{1,9})?$", description: "USD with up to 9 decimals" });
export const period = t.String({
  pattern: "^(total|day|week|month|([1-9]\\d?|1[0-5]\\d|16[0-8])h)$",
  description: "total, day, week or month, or a window of 1h to 168h that begins with its first request",
});

/** The most that a key, a project or a member may spend per period. */
export const spendingLimitBody = t.Object({
  amount_usd: amount,
  period,
  time_zone: t.Optional(t.String({ minLength: 1, maxLength: 64, description: "IANA name, default UTC" })),
});

/** The account of a path. */
export const accountParams = t.Object({ account: id });
/** The id of a key. PostgreSQL has no text with a NUL. */
export const keyId = t.String({ minLength: 1, maxLength: 128, pattern: "^[^\\0]*$" });
/** A key of an account. */
export const keyParams = t.Object({ account: id, key: keyId });

/** The id of a project. The default one has the account's id; null stands for it too. */
export const projectId = t.String({ minLength: 1, maxLength: 128, pattern: "^[^\\0]*$" });

const limitSettings = {
  requests_per_minute: t.Optional(t.Nullable(bound)),
  tokens_per_minute: t.Optional(t.Nullable(bound)),
  concurrent_requests: t.Optional(t.Nullable(bound)),
  spending_limit: t.Optional(t.Nullable(spendingLimitBody)),
};
const keySettings = {
  models: t.Optional(t.Nullable(models)),
  expires_at: t.Optional(t.Nullable(time)),
  tiers: t.Optional(t.Nullable(tiers)),
  allows_paid_tools: t.Optional(
    t.Boolean({ description: "whether the key may use tools at the provider that have a fee; default true" }),
  ),
  allows_clamp: t.Optional(t.Boolean()),
  allows_children: t.Optional(t.Boolean({ description: "whether the key may make keys below it" })),
  project_id: t.Optional(t.Nullable(projectId)),
  ...limitSettings,
};

export const newKeyBody = t.Object({ name, ...keySettings });

/** Members that are absent stay as they are; null removes a limit, the expiry or the list of models. */
export const keyChangeBody = t.Object({
  version: t.Integer({ minimum: 1 }),
  name: t.Optional(name),
  ...keySettings,
});

export const versionBody = t.Object({ version: t.Integer({ minimum: 1 }) });

/** The limits to try on the requests of the last 7 days. An absent or null limit refuses nothing. */
export const simulationBody = t.Object(limitSettings);

const source = oneOf(["key", "default"], {
  description: "whose limit it is: the key's own, or the configured default of all keys",
});

const rate = t.Object({ limit: count, used: count, remaining: count, resets_in_s: count, source });

export const spendingLimit = t.Object({
  amount_usd: usd,
  period,
  time_zone: t.Nullable(t.String()),
  used_usd: usd,
  held_usd: usd,
  remaining_usd: usd,
  resets_at: t.Nullable(time),
});

const keyState = oneOf(["active", "revoked", "expired"]);

const keyMembers = {
  id,
  name: t.String(),
  hint: t.String(),
  state: keyState,
  created_at: time,
  created_by: t.Nullable(t.Object({ id, name: t.String() })),
  expires_at: t.Nullable(time),
  revoked_at: t.Nullable(time),
  previous: t.Nullable(t.Object({ hint: t.String(), ends_at: time })),
  models: t.Nullable(t.Array(t.String())),
  tiers: t.Nullable(tiers),
  allows_paid_tools: t.Boolean(),
  allows_clamp: t.Boolean(),
  allows_children: t.Boolean(),
  project_id: t.String({ description: "the account's id for its default project" }),
  parent_id: t.Nullable(t.String({ description: "the key that made this one" })),
  version: t.Integer(),
  spending_limit: t.Nullable(spendingLimit),
  requests_per_minute: t.Nullable(rate),
  tokens_per_minute: t.Nullable(rate),
  concurrent_requests: t.Nullable(t.Object({ limit: count, used: count, source })),
  last_used_at: t.Nullable(time),
  spent_30d_usd: usd,
};

export const key = t.Object(keyMembers);
export const issuedKey = t.Object({ key, secret: t.String({ description: "shown only in this answer" }) });

/** The limits that can refuse a request, in the words of the API. */
const limitName = oneOf([
  "key_spending",
  "key_requests",
  "key_tokens",
  "key_concurrency",
  "account_requests",
  "account_tokens",
  "account_concurrency",
  "account_spending",
  "parent_key_spending",
  "project_spending",
  "member_spending",
  "wallet",
]);

const limit = t.Object({
  limit: limitName,
  owner: oneOf(["key", "parent_key", "project", "member", "account", "wallet"]),
  used: t.String(),
  max: t.String(),
  remaining: t.String(),
  unit: oneOf(["usd", "requests", "tokens"]),
  share: t.Number({ description: "used ÷ max, from 0; 1 and more when nothing is left" }),
  resets_at: t.Nullable(time),
});

/** A key with the limit that binds it first, and what its next request would be refused for. */
const boundMembers = {
  ...keyMembers,
  bound_by: t.Object({ ...limit.properties, text: t.String() }),
  next_refusal: nextRefusal,
};

/** The zone of the viewer's days, by which spending of 30 days is counted. */
export const viewerQuery = t.Object({ offset_h: t.Optional(offsetHours) });

/** Without a size, the list has every key that is wanted. Without a parent, it has those that no key made. */
export const keysQuery = t.Composite([
  pageQuery,
  viewerQuery,
  t.Object({
    q: t.Optional(t.String({ maxLength: 254, description: "part of a name or hint" })),
    state: t.Optional(keyState),
    project: t.Optional(projectId),
    sort: sortOf(...KEY_ORDERS),
    parent: t.Optional(t.String({ maxLength: 128, description: "id of a key: the keys that it made" })),
  }),
]);

/** As much of a key as a choice of keys needs. */
export const namedKey = t.Object({
  id,
  name: t.String(),
  state: keyState,
  created_by: t.Nullable(t.Object({ id: t.String() })),
  spending_limit: keyMembers.spending_limit,
});

export const keyList = pageOf(t.Object(boundMembers));
export const keyPage = t.Object({ ...boundMembers, limits: t.Array(limit) });

export const simulation = t.Object({
  from: time,
  to: time,
  requests: count,
  refused: count,
  by: t.Array(
    t.Object({
      limit: oneOf(["requests_per_minute", "tokens_per_minute", "concurrent_requests", "spending_limit"]),
      refused: count,
      first_at: time,
    }),
  ),
  first_at: t.Nullable(time),
  is_cut: t.Boolean({ description: "true when only the newest 50,000 requests were read" }),
});
