import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";
import { type RangeSearch, resolveRange } from "../ranges.ts";

export type Refusal = DataOf<typeof refusalQuery>;
export type RefusalRow = ItemOf<typeof refusalsQuery>;
export type RefusedUsage = DataOf<typeof refusedQuery>;

/** The filters of the list, as the URL holds them. */
export interface RefusalsSearch extends RangeSearch {
  readonly key?: string;
  readonly code?: string;
  readonly page?: string;
}

/** Why one request was refused. */
export const refusalQuery = (account: string, request: string) =>
  queryOptions({
    queryKey: ["account", account, "refusal", request],
    queryFn: () => call(() => api.accounts({ account }).refusals({ request_id: request }).get()),
  });

/** A page of refusals, by minute, key and cause. */
export const refusalsQuery = (account: string, search: RefusalsSearch) => {
  const { from, to } = resolveRange(search, { usual: "7d" });
  const { key, code, page } = search;
  const query = { from, to, ...(key && { key }), ...(code && { code }), ...(page && { page }) };
  return queryOptions({
    queryKey: ["account", account, "refusals", query],
    queryFn: () => call(() => api.accounts({ account }).refusals.get({ query })),
    placeholderData: keepPreviousData,
  });
};

/** Refused requests per hour, by what they were refused with. */
export const refusedQuery = (account: string, { key, code, ...range }: RefusalsSearch) => {
  const { from, to } = resolveRange(range, { usual: "7d" });
  const asked = { from, to, by: "hour", group: "outcome" } as const;
  const query = { ...asked, ...(key && { key }), ...(code && { outcome: code }) };
  return queryOptions({
    queryKey: ["account", account, "usage", query],
    queryFn: () => call(() => api.accounts({ account }).usage.get({ query })),
    placeholderData: keepPreviousData,
  });
};
