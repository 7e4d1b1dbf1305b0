import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";

export type Refusal = Awaited<ReturnType<typeof fetchRefusal>>;

const fetchRefusal = (account: string, request: string) =>
  call(() => api.accounts({ account }).refusals({ request_id: request }).get());

/** Why one request was refused. */
export const refusalQuery = (account: string, request: string) =>
  queryOptions({
    queryKey: ["account", account, "refusal", request],
    queryFn: () => fetchRefusal(account, request),
  });
