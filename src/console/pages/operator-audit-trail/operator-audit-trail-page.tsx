import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import styles from "../../parts/stack.module.css";
import { queryOf, TrailFilters } from "../audit-trail/trail-filters.tsx";
import { TrailTable } from "../audit-trail/trail-table.tsx";

const route = getRouteApi("/shell/operator/audit-trail");

/** Every change of the platform, in all accounts. */
export function OperatorAuditTrailPage() {
  const search = route.useSearch();
  const query = queryOf(search);
  const { data, error, refetch } = useQuery({
    queryKey: ["operator", "audit-trail", query],
    queryFn: () => call(() => api.operator["audit-trail"].get({ query })),
    placeholderData: keepPreviousData,
  });
  return (
    <div className={styles.page}>
      <PageHeader
        title="Audit trail of the platform"
        note="Every change in all accounts: who, what and when."
      >
        <RangePicker usual={undefined} />
      </PageHeader>
      <TrailFilters search={search} isPlatform />
      <TrailTable data={data} error={error} onRetry={() => void refetch()} hasAccounts />
    </div>
  );
}
