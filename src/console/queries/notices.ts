import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import { localise } from "../format.ts";
import type { ItemOf } from "../query.ts";

/** How often the server checks the rules. */
const REFRESH_MS = 15_000;
const WAITING_MS = 3_000;

/** A threshold of an account, and who is notified when it is crossed. */
export type Rule = ItemOf<typeof rulesQuery>;
export type Notice = ItemOf<typeof noticesQuery>;
export type Delivery = ItemOf<typeof deliveriesQuery>;

export const rulesQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "notice-rules"],
    queryFn: () => call(() => api.accounts({ account })["notice-rules"].get()),
    refetchInterval: REFRESH_MS,
  });

/** Whose notices a list has: those of the account and its keys, or those of single end users, members and runs. */
export type NoticesOf = "account" | "subjects";

/** The notices that no one has read, or whose threshold is crossed now. */
export const NOTICE_STATES = ["unread", "crossed"] as const;

interface NoticesSearch {
  readonly q?: string;
  readonly state?: string;
  readonly page?: string;
}

/** A page of notices, newest first. */
export const noticesQuery = (account: string, of: NoticesOf, { q, state: named, page }: NoticesSearch) => {
  const state = NOTICE_STATES.find((each) => each === named);
  const query = { of, ...(q && { q }), ...(state && { state }), ...(page && { page }) };
  return queryOptions({
    queryKey: ["account", account, "notices", "list", query],
    queryFn: () => call(() => api.accounts({ account }).notices.get({ query })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
};

/** The mails and webhook calls of a rule; read every 3 s while one of them waits. */
export const deliveriesQuery = (account: string, rule: string) =>
  queryOptions({
    queryKey: ["account", account, "notice-rules", rule, "deliveries"],
    queryFn: () => call(() => api.accounts({ account })["notice-rules"]({ rule }).deliveries.get()),
    refetchInterval: ({ state }) => (state.data?.items.some(isWaiting) ? WAITING_MS : false),
  });

export const isWaiting = ({ state }: { readonly state: string }): boolean => state === "waiting";

/** The secret that signs the webhook of a rule; not kept once its dialog is closed. */
export const webhookSecretQuery = (account: string, rule: string) =>
  queryOptions({
    queryKey: ["account", account, "notice-rules", rule, "secret"],
    queryFn: () => call(() => api.accounts({ account })["notice-rules"]({ rule }).secret.get()),
    gcTime: 0,
  });

/** The condition of a rule, in words. */
export function describeRule({ kind, threshold }: Pick<Rule, "kind" | "threshold">): string {
  if (kind === "balance_below") return localise(`less than $${threshold} is available`);
  if (kind === "credit_ends")
    return `a credit ends within ${threshold} ${threshold === "1" ? "day" : "days"}`;
  if (kind === "key_limit") return `a key or project has used ${threshold}% of its spending limit`;
  if (kind === "subject_limit") return `an end user, member or run has used ${threshold}% of its limit`;
  return `${threshold}% of an upstream's attempts fail`;
}
