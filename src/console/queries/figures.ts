import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";

export type Figures = DataOf<typeof figuresQuery>;
export type AtRisk = ItemOf<typeof atRiskQuery>;

/** Every reason, in the words of the console. */
export const RISK_KINDS = {
  below_zero: "below zero",
  payment_failed: "payment failed",
  runs_out: "runs out",
  cancelling: "cancelling",
  paused: "paused",
  silent: "silent",
  unused_credit: "unused credit",
} as const;
export type RiskKind = keyof typeof RISK_KINDS;

export function isRiskKind(text: string | undefined): text is RiskKind {
  return text !== undefined && Object.hasOwn(RISK_KINDS, text);
}

export const figuresQuery = () =>
  queryOptions({
    queryKey: ["operator", "figures"],
    queryFn: () => call(() => api.operator.figures.get()),
  });

/** The most urgent accounts at risk, or those of one reason. */
export const atRiskQuery = (kind: RiskKind | undefined) => {
  const query = kind ? { kind } : {};
  return queryOptions({
    queryKey: ["operator", "at-risk", query],
    queryFn: () => call(() => api.operator["accounts-at-risk"].get({ query })),
  });
};
