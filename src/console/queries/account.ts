import { keepPreviousData, queryOptions } from "@tanstack/react-query";
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

export const managementKeysQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "management-keys"],
    queryFn: () => call(() => api.accounts({ account })["management-keys"].get()),
  });

/** The filters of an audit trail, as the API takes them. */
export interface TrailQuery {
  readonly actor?: string;
  readonly action?: string;
  readonly page?: string;
  readonly from?: string;
  readonly to?: string;
}

export const auditTrailQuery = (account: string, query: TrailQuery) =>
  queryOptions({
    queryKey: ["account", account, "audit-trail", query],
    queryFn: () => call(() => api.accounts({ account })["audit-trail"].get({ query })),
    placeholderData: keepPreviousData,
  });
