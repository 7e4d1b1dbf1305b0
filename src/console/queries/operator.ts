import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";

export interface ListSearch {
  readonly q?: string;
  readonly page?: string;
}

export type ListedAccount = Awaited<ReturnType<typeof fetchAccounts>>["items"][number];

export const ACCOUNTS_KEY = ["operator", "accounts"];

const fetchAccounts = (query: ListSearch) => call(() => api.operator.accounts.get({ query }));

export const accountsQuery = ({ q, page }: ListSearch) => {
  const query = { ...(q && { q }), ...(page && { page }) };
  return queryOptions({
    queryKey: [...ACCOUNTS_KEY, query],
    queryFn: () => fetchAccounts(query),
    placeholderData: keepPreviousData,
  });
};
