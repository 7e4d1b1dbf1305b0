// The schemas of redeem codes.
import { t } from "elysia";
import { NAME_BEGIN, NOT_IN_NAMES } from "../../../domain/name-characters.ts";
import { CODE_ORDERS } from "../../../payments/code-list.ts";
import { id, listQuery, oneOf, pageOf, time, usd } from "../shapes.ts";
import { creditSource } from "../wallet/shapes.ts";

export const codesBody = t.Object({
  amount_usd: t.String({ pattern: "^\\d{1,10}(\\.\\d{1,9})?$", description: "USD above 0" }),
  count: t.Optional(t.Integer({ minimum: 1, maximum: 100, default: 1 })),
  note: t.Optional(t.String({ maxLength: 200, pattern: `${NAME_BEGIN}[^${NOT_IN_NAMES}]*$` })),
  expires_at: t.Optional(t.Nullable(time)),
  source: t.Optional(creditSource),
  credit_days: t.Optional(
    t.Nullable(
      t.Integer({ minimum: 1, maximum: 36_500, description: "from its redemption to the end of the credit" }),
    ),
  ),
});

/** The only answer that has the text of a code. */
export const newCodesShape = t.Object({
  codes: t.Array(t.Object({ id, code: t.String(), amount_usd: usd })),
});

const codeState = oneOf(["open", "redeemed", "expired", "revoked"]);

export const codesQuery = t.Composite([
  listQuery(...CODE_ORDERS),
  t.Object({ state: t.Optional(codeState) }),
]);

export const codesShape = pageOf(
  t.Object({
    id,
    hint: t.String({ description: "the first 5 symbols" }),
    amount_usd: usd,
    note: t.Nullable(t.String()),
    state: codeState,
    created_by: t.String(),
    created_at: time,
    expires_at: t.Nullable(time),
    source: creditSource,
    credit_days: t.Nullable(t.Integer({ description: "from its redemption to the end of the credit" })),
    redeemed_at: t.Nullable(time),
    account_id: t.Nullable(t.String()),
    account_name: t.Nullable(t.String()),
    credited_at: t.Nullable(time),
  }),
);

export const revokedCodeShape = t.Object({ id, revoked: t.Boolean() });
