import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf } from "../query.ts";
import { type RangeSearch, resolveRange } from "../ranges.ts";
import { DAY_MS } from "../times.ts";

/** The filters of the list, as the URL holds them. */
export interface RequestsSearch extends RangeSearch {
  readonly key?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly outcome?: string;
  readonly surface?: string;
  readonly state?: string;
  readonly metadata?: string;
  readonly page?: string;
  /** "0" pauses the live list. */
  readonly live?: string;
}

export const FILTERS = ["key", "model", "upstream", "outcome", "surface", "state", "metadata"] as const;

const YEAR_MS = 365 * DAY_MS;

export type RequestsAnswer = DataOf<typeof requestsQuery>;
export type RequestRow = RequestsAnswer["items"][number];
/** A receipt with its lines and attempts. */
export type ReceiptData = DataOf<typeof receiptQuery>;
type Query = NonNullable<
  NonNullable<Parameters<ReturnType<typeof api.accounts>["requests"]["get"]>[0]>["query"]
>;

export const requestsQuery = (account: string, search: RequestsSearch) => {
  const named = FILTERS.flatMap((name) => (search[name] ? [[name, search[name]]] : []));
  // Without a range the list reaches back to the first request.
  const { from, to } = resolveRange(search);
  const query: Query = {
    ...Object.fromEntries(named),
    ...(hasRange(search) && { from, to }),
    ...(search.page && { page: search.page }),
  };
  return queryOptions({
    queryKey: ["account", account, "requests", query],
    queryFn: () => call(() => api.accounts({ account }).requests.get({ query })),
    placeholderData: keepPreviousData,
  });
};

export function hasFilter(search: RequestsSearch): boolean {
  return FILTERS.some((name) => search[name] !== undefined);
}

export function hasRange({ range, from }: RequestsSearch): boolean {
  return range !== undefined || from !== undefined;
}

/** Counts all requests of the range, or of the last year, whatever the filters. */
export const countQuery = (account: string, search: RequestsSearch) => {
  const { from, to } = resolveRange(search);
  const year = new Date(Date.parse(to) - YEAR_MS).toISOString();
  const query = { from: hasRange(search) ? from : year, to, by: "none", group: "none" } as const;
  return queryOptions({
    queryKey: ["account", account, "usage", query],
    queryFn: () => call(() => api.accounts({ account }).usage.get({ query })),
  });
};

/** While a request runs, its receipt is read again this often. */
const RUNNING_MS = 2_000;

export const receiptQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ["account", account, "request", id],
    queryFn: () => call(() => api.accounts({ account }).requests({ id }).get()),
    refetchInterval: ({ state }) => (state.data?.state === "held" ? RUNNING_MS : false),
  });
