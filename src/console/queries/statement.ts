import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf } from "../query.ts";

/** The statement of a month as one page. */
export type Sheet = DataOf<typeof sheetQuery>;

const monthOf = (account: string, month: string) => api.accounts({ account }).wallet.statements({ month });

export const sheetQuery = (account: string, month: string) =>
  queryOptions({
    queryKey: ["account", account, "wallet", "statements", month, "sheet"],
    queryFn: () => call(() => monthOf(account, month).sheet.get()),
  });

/** Adds up every transfer of a month: slower than the sheet, which does not wait for it. */
export const statementDigestQuery = (account: string, month: string) =>
  queryOptions({
    queryKey: ["account", account, "wallet", "statements", month, "digest"],
    queryFn: () => call(() => monthOf(account, month).digest.get()),
  });
