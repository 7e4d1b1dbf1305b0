import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../../api.ts";

/** While a request runs, its receipt is read again this often. */
const RUNNING_MS = 2_000;

export type ReceiptData = Awaited<ReturnType<typeof fetchReceipt>>;

const fetchReceipt = (account: string, id: string) =>
  call(() => api.accounts({ account }).requests({ id }).get());

export const receiptQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ["account", account, "request", id],
    queryFn: () => fetchReceipt(account, id),
    refetchInterval: ({ state }) => (state.data?.state === "held" ? RUNNING_MS : false),
  });
