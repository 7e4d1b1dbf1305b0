import type { accounts } from "../db/sqlite/schema.ts";
import type { Account } from "./account.ts";

/** Turns a row into an account. */
export function readAccount(row: typeof accounts.$inferSelect): Account {
  return { ...row, email: row.email ?? undefined };
}
