import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Anomalies } from "./anomalies.tsx";
import { dayOf } from "./chart-data.ts";
import { anomaliesQuery } from "./queries.ts";
import { UsageBody } from "./usage-body.tsx";
import { resolveUsage, type UsageSearch } from "./view.ts";
import { WhatIfPanel } from "./what-if.tsx";

const route = getRouteApi("/shell/accounts/$account/usage");

/** Cost, requests, tokens and times of one account. */
export function UsagePage() {
  const { account } = route.useParams();
  const search: UsageSearch = route.useSearch();
  const query = resolveUsage(search, { isOperator: false });
  const { data: anomalies } = useQuery(anomaliesQuery(account));
  const isWhole = !search.key && !search.model && !search.upstream && !search.outcome;
  // Anomalies are those of the whole account.
  const unusual = (isWhole ? (anomalies?.items ?? []) : []).filter(
    ({ day }) => day >= dayOf(query.from, query.offset_h) && day < query.to,
  );
  return (
    <UsageBody
      title="Usage"
      account={account}
      search={search}
      query={query}
      unusualDays={unusual.map(({ day }) => day)}
    >
      {({ from, to }) => (
        <>
          <Anomalies items={unusual} />
          <WhatIfPanel
            account={account}
            model={search.whatif}
            range={{ from, to, ...(search.key && { key: search.key }) }}
          />
        </>
      )}
    </UsageBody>
  );
}
