import type { DatabaseParts } from "../db/database.ts";
import type { BillingDetails } from "../domain/company.ts";
import { type Account, changeAccount } from "./accounts.ts";
import type { AuditActor } from "./audit-trail.ts";

/** Sets whom the statements of an account are for, of every month. Without a detail, its name alone stays. */
export function setBillingDetails(
  parts: DatabaseParts,
  actor: AuditActor,
  accountId: string,
  details: BillingDetails,
): Promise<Account> {
  return changeAccount(parts, actor, accountId, (account) => {
    const before = printBillingDetails(account);
    const after = printBillingDetails({ billing: details });
    if (Bun.deepEquals(before, after)) return undefined;
    const isEmpty = Object.values(after).every((each) => each === null);
    const entry = { accountId, action: "account.billing_changed", target: accountId, before, after };
    return { columns: { billing: isEmpty ? null : details }, entry };
  });
}

/** Prints billing details in the words of the API. */
export function printBillingDetails({ billing }: Pick<Account, "billing">) {
  return {
    name: billing?.name ?? null,
    address: billing?.address ?? null,
    tax_id: billing?.taxId ?? null,
  };
}
