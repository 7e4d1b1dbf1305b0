import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { type Markup, printMarkup } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { type Account, lockAccount } from "./accounts.ts";
import { type AuditActor, recordChange } from "./audit-trail.ts";

export interface MarkupParts {
  readonly database: Database;
  readonly now: () => number;
}

export interface MarkupChange {
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
  { database, now }: MarkupParts,
  actor: AuditActor,
  { accountId, markup, reason }: MarkupChange,
): Promise<Account> {
  const { accounts } = database.tables;
  return database.transact(async (tx) => {
    const before = await lockAccount(database, tx, accountId);
    if (!before) throw new GatewayError("unknown_item");
    if (before.markup === markup) return before;
    const version = before.version + 1;
    const column = markup === undefined ? null : Number(markup);
    await tx.update(accounts).set({ markup: column, version }).where(eq(accounts.id, accountId));
    const change = {
      action: "account.markup_changed",
      target: accountId,
      before: { markup: printed(before.markup) },
      after: { markup: printed(markup), reason },
    };
    await recordChange(database, tx, actor, change, now());
    return { ...before, markup, version };
  });
}

function printed(markup: Markup | undefined): string | null {
  return markup === undefined ? null : printMarkup(markup);
}
