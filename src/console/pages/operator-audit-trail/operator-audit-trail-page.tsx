import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import styles from "../../parts/stack.module.css";
import { TrailTable } from "../audit-trail/trail-table.tsx";

const route = getRouteApi("/shell/operator/audit-trail");

/** Every change of the platform, in all accounts. */
export function OperatorAuditTrailPage() {
  const search = route.useSearch();
  const { data, error, refetch } = useQuery({
    queryKey: ["operator", "audit-trail", search],
    queryFn: () => call(() => api.operator["audit-trail"].get({ query: search })),
    placeholderData: keepPreviousData,
  });
  return (
    <div className={styles.page}>
      <PageHeader title="Audit trail of the platform" note="Every change in all accounts, with its author.">
        <SearchField name="actor" value={search.actor} label="Name or id of the author" />
        <SearchField name="action" value={search.action} label="Action" />
      </PageHeader>
      <TrailTable data={data} error={error} onRetry={() => void refetch()} />
    </div>
  );
}
