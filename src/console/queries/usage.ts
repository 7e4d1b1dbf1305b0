import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";
import { type GroupName, isScopeGroup, printQuery, type UsageQuery } from "../usage-view.ts";

/** The figures of a view, and the query that they answer: while another loads, the last ones are shown. */
export type UsageAnswer = Awaited<ReturnType<typeof fetchUsage>> & { readonly query: UsageQuery };
export type UsageRow = UsageAnswer["rows"][number];
export type UsageTotal = UsageAnswer["total"];
export type UsageGroup = UsageAnswer["groups"][number];

/** The figures that only operators see. */
export type Margin = Pick<
  Awaited<ReturnType<typeof fetchAll>>["total"],
  "upstream_cost_usd" | "margin_usd" | "unknown_cost_usd"
>;

/** Whether sums are those of an answer for operators. */
export function hasMargin<Sums extends object>(sums: Sums): sums is Sums & Margin {
  return "margin_usd" in sums;
}

/** Usage of one account, or of all where `account` is undefined. */
export const usageQuery = (account: string | undefined, query: UsageQuery) =>
  queryOptions({
    queryKey: ["account", account ?? "all", "usage", query],
    queryFn: async (): Promise<UsageAnswer> => ({ ...(await fetchUsage(account, query)), query }),
    placeholderData: keepPreviousData,
  });

function fetchAll(query: UsageQuery) {
  const group = isScopeGroup(query.group) ? "none" : query.group;
  return call(() => api.operator.usage.get({ query: { ...query, group } }));
}

function fetchUsage(account: string | undefined, query: UsageQuery) {
  if (account === undefined) return fetchAll(query);
  const group = ownGroup(query.group);
  return call(() => api.accounts({ account }).usage.get({ query: { ...query, group } }));
}

/** One account is not divided by accounts. */
function ownGroup(group: GroupName): Exclude<GroupName, "account"> {
  return group === "account" ? "none" : group;
}

/** The address of a view as CSV. */
export function csvAddress(account: string | undefined, query: UsageQuery): string {
  const path = account === undefined ? "operator" : `accounts/${encodeURIComponent(account)}`;
  return `/console/api/${path}/usage.csv?${printQuery(query)}`;
}

export const anomaliesQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "usage", "anomalies"],
    queryFn: () => call(() => api.accounts({ account }).usage.anomalies.get()),
    staleTime: 300_000,
  });

export interface WhatIf {
  readonly from: string;
  readonly to: string;
  readonly model: string;
  readonly key?: string;
}

export type Anomaly = ItemOf<typeof anomaliesQuery>;
export type WhatIfAnswer = DataOf<typeof whatIfQuery>;
export type WhatIfRow = WhatIfAnswer["by_key"][number];

export const whatIfQuery = (account: string, body: WhatIf) =>
  queryOptions({
    queryKey: ["account", account, "what-if", body],
    queryFn: () => call(() => api.accounts({ account })["what-if"].post(body)),
    placeholderData: keepPreviousData,
  });

/** All classes of input. */
export function inputOf(
  sums: Pick<UsageTotal, "input_tokens" | "cached_input_tokens" | "cache_write_tokens">,
): number {
  return sums.input_tokens + sums.cached_input_tokens + sums.cache_write_tokens;
}
