import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../../api.ts";

export type Account = Awaited<ReturnType<typeof fetchAccount>>;

const fetchAccount = (account: string) => call(() => api.accounts({ account }).get());

export const accountQuery = (account: string) =>
  queryOptions({ queryKey: ["account", account, "settings"], queryFn: () => fetchAccount(account) });
