import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { ItemOf } from "../query.ts";
import { orderIn } from "../search.ts";
import type { ListSearch } from "./operator.ts";

export type Subscription = ItemOf<typeof subscriptionsQuery>;

export const SUBSCRIPTIONS_KEY = ["operator", "subscriptions"];

export const SUBSCRIPTION_STATES = ["active", "paused", "ended"] as const;

/** Subscriptions as the URL selects them: by default those that have not ended. */
export const subscriptionsQuery = ({ state: named, sort, ...search }: ListSearch) => {
  const state = SUBSCRIPTION_STATES.find((each) => each === named);
  const shown = state ? { state } : { live: named !== "all" };
  const query = { ...search, ...shown, ...orderIn(sort, ["account", "plan", "next"]) };
  return queryOptions({
    queryKey: [...SUBSCRIPTIONS_KEY, query],
    queryFn: () => call(() => api.operator.subscriptions.get({ query })),
    placeholderData: keepPreviousData,
  });
};

export const plansQuery = () =>
  queryOptions({
    queryKey: ["operator", "plans"],
    queryFn: () => call(() => api.operator.plans.get()),
  });

/** What a new subscription of an account would do. */
export const newPreviewQuery = (accountId: string, plan: string) =>
  queryOptions({
    queryKey: [...SUBSCRIPTIONS_KEY, "preview", accountId, plan],
    queryFn: () => call(() => api.operator.accounts({ id: accountId }).subscription.preview.post({ plan })),
    enabled: plan !== "",
    retry: false,
    gcTime: 0,
  });

/** A change of a subscription, as its form has it. */
export interface WantedChange {
  readonly action: "pause" | "resume" | "change" | "cancel";
  readonly plan?: string;
  readonly when?: "now" | "period_end";
}

/** What a change of a subscription would do. */
export const previewQuery = (id: string, wanted: WantedChange) =>
  queryOptions({
    queryKey: [...SUBSCRIPTIONS_KEY, "preview", id, wanted],
    queryFn: () => call(() => api.operator.subscriptions({ id }).preview.post(wanted)),
    enabled: wanted.action !== "change" || Boolean(wanted.plan),
    retry: false,
    gcTime: 0,
  });
