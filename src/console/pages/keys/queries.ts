import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { useAccount, useMay, useMe } from "../../session.ts";
import { keysQuery } from "../overview/queries.ts";

/** A key as the list has it, with what binds it. */
export type ListedKey = Awaited<
  ReturnType<NonNullable<ReturnType<typeof keysQuery>["queryFn"]>>
>["items"][number];
/** A key as every change answers it. */
export type Key = Omit<ListedKey, "bound_by" | "next_refusal">;
export type KeyPageData = Awaited<ReturnType<typeof fetchKey>>;
export type ModelRow = Awaited<ReturnType<typeof fetchModels>>["items"][number];

const CALM_MS = 10_000;
const MODELS_STALE_MS = 300_000;

const fetchKey = (account: string, key: string) => call(() => api.accounts({ account }).keys({ key }).get());
const fetchModels = (account: string) => call(() => api.accounts({ account }).models.get());

/** One key with the limits that bind it, asked for every 10 s while it is looked at. */
export const keyQuery = (account: string, key: string) =>
  queryOptions({
    queryKey: ["account", account, "keys", key],
    queryFn: () => fetchKey(account, key),
    refetchInterval: CALM_MS,
  });

export const modelsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "models"],
    queryFn: () => fetchModels(account),
    staleTime: MODELS_STALE_MS,
  });

export { keysQuery };

/** Whether the caller may change a key: developers change those that they created. */
export function useMayChange(): (key: Pick<Key, "created_by">) => boolean {
  const may = useMay("keys.write");
  const { role } = useAccount();
  const { person } = useMe();
  return ({ created_by }) => may && (role !== "developer" || created_by?.id === person.id);
}
