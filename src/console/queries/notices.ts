import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";

/** How often the server checks the rules. */
export const REFRESH_MS = 15_000;

/** A threshold of an account, and who is notified when it is crossed. */
export type Rule = Awaited<ReturnType<typeof fetchRules>>["items"][number];

const fetchRules = (account: string) => call(() => api.accounts({ account })["notice-rules"].get());

export const rulesQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "notice-rules"],
    queryFn: () => fetchRules(account),
    refetchInterval: REFRESH_MS,
  });

/** The condition of a rule, in words. */
export function describeRule({ kind, threshold }: Pick<Rule, "kind" | "threshold">): string {
  if (kind === "balance_below") return `less than $${threshold} is available`;
  if (kind === "key_limit") return `a key has used ${threshold}% of its spending limit`;
  return `${threshold}% of an upstream's attempts fail`;
}
