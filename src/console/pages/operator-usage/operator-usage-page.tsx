import { getRouteApi } from "@tanstack/react-router";
import { UsageBody } from "../usage/usage-body.tsx";
import { resolveUsage, type UsageSearch } from "../usage/view.ts";

const route = getRouteApi("/shell/operator/usage");

/** Cost, requests, tokens and times of all accounts, by account and otherwise. */
export function OperatorUsagePage() {
  const search: UsageSearch = route.useSearch();
  const query = resolveUsage(search, { isOperator: true });
  return <UsageBody title="Usage of all accounts" account={undefined} search={search} query={query} />;
}
