import type { DatabaseParts } from "../db/database.ts";
import { type Markup, printMarkup } from "../domain/money.ts";
import { type Account, changeAccount } from "./accounts.ts";
import type { AuditActor } from "./audit-trail.ts";

/** The factor over upstream costs that an account pays: its own, or that of its plan. */
export function markupOf({ markup, planMarkup }: Pick<Account, "markup" | "planMarkup">): Markup | undefined {
  return markup ?? planMarkup;
}

interface MarkupChange {
  readonly accountId: string;
  /** `undefined` returns the account to the prices of the models. */
  readonly markup: Markup | undefined;
  readonly reason: string;
}

/**
 * Sets the factor over upstream costs that an account pays. Gateways apply it within a second to requests that
 * begin later. Its audit entry is of the platform, because only operators see markups. Rejects with
 * `unknown_item`.
 */
export function setMarkup(
  parts: DatabaseParts,
  actor: AuditActor,
  { accountId, markup, reason }: MarkupChange,
): Promise<Account> {
  return changeAccount(parts, actor, accountId, (before) => {
    if (before.markup === markup) return undefined;
    const entry = {
      action: "account.markup_changed",
      target: accountId,
      before: { markup: printOptional(before.markup) },
      after: { markup: printOptional(markup), reason },
    };
    return { columns: { markup: markup === undefined ? null : Number(markup) }, entry };
  });
}

function printOptional(markup: Markup | undefined): string | null {
  return markup === undefined ? null : printMarkup(markup);
}
