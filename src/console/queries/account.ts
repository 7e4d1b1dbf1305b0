import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";

export type Account = Omit<DataOf<typeof accountQuery>, "next_refusal" | "unread_notices">;
export type SharedLink = ItemOf<typeof linksQuery>;

export const accountQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "settings"],
    queryFn: () => call(() => api.accounts({ account }).get()),
  });

export const linksQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "links"],
    queryFn: () => call(() => api.accounts({ account }).links.get()),
  });
