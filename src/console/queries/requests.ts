import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";
import { type RangeSearch, resolveRange } from "../ranges.ts";
import { DAY_MS } from "../times.ts";

/** The filters of the list of requests, as the URL holds them. */
export interface RequestsSearch extends RangeSearch {
  /** What requests count for: "project:ID", "end_user:ada"; several have line feeds between them. */
  readonly scope?: string;
  readonly key?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly outcome?: string;
  readonly surface?: string;
  readonly state?: string;
  readonly metadata?: string;
  readonly page?: string;
  /** "-charged" or "-duration". */
  readonly sort?: string;
  /** "0" pauses the live list. */
  readonly live?: string;
}

export const FILTERS = [
  "scope",
  "key",
  "model",
  "upstream",
  "outcome",
  "surface",
  "state",
  "metadata",
] as const;

/** What the URL has as the outcome of every request that did not end with `ok`. */
export const FAILED = "failed";

/** The states of a request, in the words of the console. */
export const STATES = { held: "running", settled: "settled", released: "released", expired: "expired" };

const YEAR_MS = 365 * DAY_MS;

export type RequestsAnswer = DataOf<typeof requestsQuery>;
export type RequestRow = RequestsAnswer["items"][number];
/** A receipt with its lines and attempts. */
export type ReceiptData = DataOf<typeof receiptQuery>;
export type Refusal = DataOf<typeof refusalQuery>;
export type RefusalRow = ItemOf<typeof refusalsQuery>;
export type RefusedUsage = DataOf<typeof refusedQuery>;
type Query = NonNullable<
  NonNullable<Parameters<ReturnType<typeof api.accounts>["requests"]["get"]>[0]>["query"]
>;

export const requestsQuery = (account: string, search: RequestsSearch) => {
  const { state = "", outcome } = search;
  const isFailed = outcome === FAILED;
  const filters = FILTERS.filter((name) =>
    name === "outcome" ? !isFailed : name !== "state" || Object.hasOwn(STATES, state),
  );
  const named = filters.flatMap((name) => (search[name] ? [[name, search[name]]] : []));
  // Without a range the list reaches back to the first request.
  const { from, to } = resolveRange(search);
  const query: Query = {
    ...Object.fromEntries(named),
    ...(isFailed && { failed: true }),
    ...(hasRange(search) && { from, to }),
    ...(search.page && { page: search.page }),
    ...(isOrdered(search) && { sort: search.sort }),
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

/** Whether requests are in another order than the newest first. */
export function isOrdered<Search extends { readonly sort?: string }>(
  search: Search,
): search is Search & { readonly sort: "-charged" | "-duration" } {
  return search.sort === "-charged" || search.sort === "-duration";
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

/** The filters of the list of refusals, as the URL holds them. */
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
