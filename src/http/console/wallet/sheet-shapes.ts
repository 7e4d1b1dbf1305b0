// The schemas of the statement of a month as one page.
import { t } from "elysia";
import { id, oneOf, time, usd } from "../shapes.ts";
import { creditSource, month } from "./shapes.ts";

const sourceSums = t.Array(t.Object({ source: creditSource, amount_usd: usd, transfers: t.Integer() }));
const sheetLines = t.Array(
  t.Object({
    kind: t.String({ description: "project or key; none or dropped_receipts: of no known one" }),
    id: t.Nullable(t.String()),
    name: t.Nullable(t.String()),
    charged_usd: usd,
    refunded_usd: usd,
  }),
);

/** The statement of a month as one page. */
export const sheetShape = t.Object({
  month,
  is_running: t.Boolean({ description: "the month is not over: its closing is that of now" }),
  from: time,
  to: t.String({ description: "exclusive" }),
  time_zone: t.String(),
  company: t.Nullable(
    t.Object({ name: t.String(), address: t.Nullable(t.String()), tax_id: t.Nullable(t.String()) }),
  ),
  customer: t.Object({ name: t.String(), address: t.Nullable(t.String()), tax_id: t.Nullable(t.String()) }),
  account: t.Object({ id, name: t.String(), email: t.Nullable(t.String()) }),
  opening_usd: usd,
  granted: sourceSums,
  granted_usd: t.String({ description: "by top-ups, without what was given back" }),
  returned_usd: t.String({ description: "given back after a reversal" }),
  charged_usd: usd,
  refunded_usd: usd,
  expired: sourceSums,
  expired_usd: t.String({ description: "what credits lost at their ends" }),
  reversed_usd: t.String({ description: "taken off because payers have it back" }),
  corrected_usd: t.String({ description: "taken off by operators" }),
  closing_usd: usd,
  transfers: t.Integer(),
  projects: sheetLines,
  keys: sheetLines,
  moves: t.Array(
    t.Object({
      at: time,
      kind: oneOf(["correction", "reversal", "return"]),
      id: t.String(),
      amount_usd: usd,
      reason: t.String(),
    }),
  ),
});

export const digestShape = t.Object({
  digest: t.Nullable(
    t.Object(
      {
        sha256: t.String({ description: "of the file of transfers, in hex" }),
        transfers: t.Integer(),
        closing_usd: t.String({ description: "the opening balance and every transfer" }),
      },
      { description: "null while the month is running" },
    ),
  ),
});
