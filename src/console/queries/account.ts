import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";

export type Account = Omit<Awaited<ReturnType<typeof fetchAccount>>, "next_refusal" | "unread_notices">;

const fetchAccount = (account: string) => call(() => api.accounts({ account }).get());

export const accountQuery = (account: string) =>
  queryOptions({ queryKey: ["account", account, "settings"], queryFn: () => fetchAccount(account) });
