import { and, gt, inArray, isNotNull, isNull, lte, or } from "drizzle-orm";
import { containsText } from "../accounts/contains-text.ts";
import { orderRows, type RowOrders } from "../accounts/ordered-rows.ts";
import type { Database, Tables } from "../db/database.ts";
import type { CodeState } from "./redeem-codes.ts";

/** What codes are ordered by. */
export const CODE_ORDERS = ["amount", "created", "expires", "redeemed"] as const;

interface CodePage {
  /** Part of a hint, of a note or of the name of the account that redeemed it; or the account's id. */
  readonly text?: string | undefined;
  readonly state?: CodeState | undefined;
  /** Default: the newest first. */
  readonly sort?: string | undefined;
  readonly token?: string | undefined;
  readonly size: number;
  readonly nowMs: number;
}

/** Lists a page of codes. */
export async function listCodes({ db, tables }: Database, { text, state, size, nowMs, ...page }: CodePage) {
  const { accounts, redeemCodes } = tables;
  const { id, amount, createdAtMs, expiresAtMs, redeemedAtMs, accountId } = redeemCodes;
  const orders: Record<(typeof CODE_ORDERS)[number], RowOrders[string]> = {
    amount: { by: amount },
    created: { by: createdAtMs },
    expires: { by: expiresAtMs },
    redeemed: { by: redeemedAtMs },
  };
  const ordered = orderRows({ orders, id, ...page });
  const isNamed = containsText([accounts.name, accounts.id], text);
  const isFound = or(
    containsText([redeemCodes.hint, redeemCodes.note], text),
    isNamed && inArray(accountId, db.select({ id: accounts.id }).from(accounts).where(isNamed)),
  );
  const rows = await db
    .select({ row: redeemCodes, value: ordered.value })
    .from(redeemCodes)
    .where(and(isFound, isInState(redeemCodes, state, nowMs), ordered.isAfter))
    .orderBy(ordered.orderBy)
    .limit(size + 1);
  return ordered.pageOf(rows, size);
}

/** The condition of `stateOfCode` in SQL. */
function isInState(
  { redeemedAtMs, accountId, expiresAtMs }: Tables["redeemCodes"],
  state: CodeState | undefined,
  nowMs: number,
) {
  const isClaimed = isNotNull(redeemedAtMs);
  if (state === "redeemed") return and(isClaimed, isNotNull(accountId));
  if (state === "revoked") return and(isClaimed, isNull(accountId));
  const isInTime = or(isNull(expiresAtMs), gt(expiresAtMs, nowMs));
  if (state === "open") return and(isNull(redeemedAtMs), isInTime);
  return state && and(isNull(redeemedAtMs), lte(expiresAtMs, nowMs));
}
