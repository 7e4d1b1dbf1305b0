import { Elysia, type Static, t } from "elysia";
import { printBillingDetails, setBillingDetails } from "../../../accounts/billing-details.ts";
import { NAME_BEGIN, NOT_IN_NAMES } from "../../../domain/name-characters.ts";
import { createGuard, type GuardParts } from "../guard.ts";
import { id } from "../shapes.ts";

const line = t.String({ minLength: 1, maxLength: 200, pattern: `${NAME_BEGIN}[^${NOT_IN_NAMES}]+$` });
const lines = t.String({
  minLength: 1,
  maxLength: 500,
  pattern: `${NAME_BEGIN}([^${NOT_IN_NAMES}]|\\n)+$`,
  description: "One line or several",
});
const body = t.Object({
  name: t.Nullable(line, { description: "Null for the name of the account" }),
  address: t.Nullable(lines),
  tax_id: t.Nullable(line),
});
const details = t.Object({
  name: t.Nullable(t.String()),
  address: t.Nullable(t.String()),
  tax_id: t.Nullable(t.String()),
});
const params = t.Object({ account: id });

/** Whom the statements of an account are for. */
export function billingRoutes(parts: GuardParts) {
  return new Elysia()
    .use(createGuard(parts, "Accounts"))
    .get("/accounts/:account/billing-details", ({ account }) => printBillingDetails(account), {
      summary: "Read whom statements are for",
      needs: "account.read",
      params,
      response: details,
    })
    .put(
      "/accounts/:account/billing-details",
      async ({ account, body: sent, actor }) =>
        printBillingDetails(await setBillingDetails(parts, actor, account.id, readDetails(sent))),
      {
        summary: "Set whom statements are for",
        needs: "account.write",
        params,
        body,
        response: details,
      },
    );
}

function readDetails({ name, address, tax_id }: Static<typeof body>) {
  return {
    ...(name !== null && { name }),
    ...(address !== null && { address }),
    ...(tax_id !== null && { taxId: tax_id }),
  };
}
