import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";

/** How often the first steps look for what has happened meanwhile. */
const WATCH_MS = 3_000;
const CALM_MS = 30_000;
/** The balance and the newest requests move together, soon after a request. */
export const MOVING_MS = 10_000;

export const walletQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "wallet"],
    queryFn: () => call(() => api.accounts({ account }).wallet.get()),
    refetchInterval: MOVING_MS,
  });

const fetchKeyNames = (account: string) => call(() => api.accounts({ account })["key-names"].get());

export type NamedKey = Awaited<ReturnType<typeof fetchKeyNames>>["items"][number];

/** All keys, each with little more than its name. */
export const keyNamesQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "keys", "names"],
    queryFn: () => fetchKeyNames(account),
    refetchInterval: CALM_MS,
  });

const fetchLatest = (account: string) =>
  call(() => api.accounts({ account }).requests.get({ query: { size: 5 } }));

export type Latest = Awaited<ReturnType<typeof fetchLatest>>;

/** The 5 newest requests. Read every 3 s until the first request appears. */
export const latestQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "requests", "latest"],
    queryFn: () => fetchLatest(account),
    refetchInterval: ({ state }) => (state.data?.items.length === 0 ? WATCH_MS : MOVING_MS),
  });

/** The 3 newest refusals of the 7 days that are kept. */
export const refusalsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "refusals", "latest"],
    queryFn: () => call(() => api.accounts({ account }).refusals.get({ query: { size: 3 } })),
    refetchInterval: CALM_MS,
  });

export const modelsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "models"],
    queryFn: () => call(() => api.accounts({ account }).models.get()),
  });

export const noticesQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "notices", "newest"],
    queryFn: () => call(() => api.accounts({ account }).notices.get({ query: { size: 5 } })),
  });
