import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";

// Queries of the first view. Those of later pages stand apart, so that it loads none of them.

export type Wallet = DataOf<typeof walletQuery>;
export type NamedKey = ItemOf<typeof keyNamesQuery>;
export type Latest = DataOf<typeof latestQuery>;
export type ModelRow = ItemOf<typeof modelsQuery>;

/** Whether a model answers chats. */
export function isChat({ max_output_tokens }: Pick<ModelRow, "max_output_tokens">): boolean {
  return max_output_tokens > 0;
}

/** How often the first steps look for what has happened meanwhile. */
const WATCH_MS = 1_500;
const CALM_MS = 30_000;
const CATALOG_STALE_MS = 300_000;
/** The balance and the newest requests move together, soon after a request. */
export const MOVING_MS = 10_000;

export const walletQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "wallet"],
    queryFn: () => call(() => api.accounts({ account }).wallet.get()),
    refetchInterval: MOVING_MS,
  });

/** All keys, each with little more than its name. */
export const keyNamesQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "keys", "names"],
    queryFn: () => call(() => api.accounts({ account })["key-names"].get()),
    refetchInterval: CALM_MS,
  });

/** The 5 newest requests. Read every 1.5 s until a first request has ended. */
export const latestQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "requests", "latest"],
    queryFn: () => call(() => api.accounts({ account }).requests.get({ query: { size: 5 } })),
    refetchInterval: ({ state }) =>
      state.data?.items.every((each) => each.state === "held") ? WATCH_MS : MOVING_MS,
  });

/** The 3 newest refusals of the 7 days that are kept. */
export const latestRefusalsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "refusals", "latest"],
    queryFn: () => call(() => api.accounts({ account }).refusals.get({ query: { size: 3 } })),
    refetchInterval: CALM_MS,
  });

/** The 5 newest notices of the wallet, keys, projects and upstreams. */
export const newestNoticesQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "notices", "newest"],
    queryFn: () => call(() => api.accounts({ account }).notices.get({ query: { size: 5, of: "account" } })),
  });

/** The models of an account, read again by every page that filters by them. */
export const modelsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "models"],
    queryFn: () => call(() => api.accounts({ account }).models.get()),
  });

/** The models for pages that choose one, where an answer of 5 minutes ago will do. */
export const catalogQuery = (account: string) => ({
  ...modelsQuery(account),
  staleTime: CATALOG_STALE_MS,
});
