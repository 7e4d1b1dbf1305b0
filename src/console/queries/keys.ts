import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";
import { resolveRange } from "../ranges.ts";
import { orderIn } from "../search.ts";
import { useAccount, useMay, useMe } from "../session.ts";

/** A key as the list has it, with what binds it. */
export type ListedKey = ItemOf<typeof keysPageQuery>;
/** A key as every change answers it. */
export type Key = Omit<ListedKey, "bound_by" | "next_refusal">;
export type KeyPageData = DataOf<typeof keyQuery>;

const STATES = ["active", "expired", "revoked"] as const;
const CALM_MS = 10_000;

const viewer = () => ({ offset_h: resolveRange({}).offsetHours });

/** One key with the limits that bind it, asked for every 10 s while it is looked at. */
export const keyQuery = (account: string, key: string) =>
  queryOptions({
    queryKey: ["account", account, "keys", key],
    queryFn: () => call(() => api.accounts({ account }).keys({ key }).get({ query: viewer() })),
    refetchInterval: CALM_MS,
  });

const PAGE_SIZE = 50;
const PAGE_EVERY_MS = 30_000;

/** What the page of keys shows: active keys by default. */
export interface KeysSearch {
  readonly state?: string;
  readonly q?: string;
  readonly page?: string;
  /** "name", "-spent" */
  readonly sort?: string;
}

/** A page of keys, found by the server. */
export const keysPageQuery = (account: string, { state = "active", q, page, sort }: KeysSearch) => {
  const wanted = STATES.find((each) => each === state);
  const chosen = { ...(q && { q }), ...(page && { page }), ...orderIn(sort, ["name", "spent", "used"]) };
  const query = { size: PAGE_SIZE, ...(wanted && { state: wanted }), ...chosen };
  return queryOptions({
    queryKey: ["account", account, "keys", "page", query],
    queryFn: () => call(() => api.accounts({ account }).keys.get({ query: { ...query, ...viewer() } })),
    refetchInterval: PAGE_EVERY_MS,
    placeholderData: keepPreviousData,
  });
};

/** The keys below a key, of every state. */
export const childKeysQuery = (account: string, parent: string) => {
  const query = { parent, size: PAGE_SIZE, ...viewer() };
  return queryOptions({
    queryKey: ["account", account, "keys", "below", parent],
    queryFn: () => call(() => api.accounts({ account }).keys.get({ query })),
  });
};

/** Whether the caller may change a key: developers change those that they created. */
export function useMayChange(): (key: { readonly created_by: { readonly id: string } | null }) => boolean {
  const may = useMay("keys.write");
  const { role } = useAccount();
  const { person } = useMe();
  return ({ created_by }) => may && (role !== "developer" || created_by?.id === person.id);
}
