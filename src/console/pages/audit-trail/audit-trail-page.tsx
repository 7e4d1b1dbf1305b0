import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import styles from "../../parts/stack.module.css";
import { TrailTable } from "./trail-table.tsx";

const route = getRouteApi("/shell/accounts/$account/audit-trail");

/** Every change inside the account. */
export function AuditTrailPage() {
  const { account } = route.useParams();
  const search = route.useSearch();
  const { data, error, refetch } = useQuery({
    queryKey: ["account", account, "audit-trail", search],
    queryFn: () => call(() => api.accounts({ account })["audit-trail"].get({ query: search })),
    placeholderData: keepPreviousData,
  });
  const { page, ...filter } = search;
  const csv = `/console/api/accounts/${encodeURIComponent(account)}/audit-trail.csv?${new URLSearchParams(filter)}`;
  return (
    <div className={styles.page}>
      <PageHeader title="Audit trail" note="Every change inside this account, with its author.">
        <SearchField name="actor" value={search.actor} label="Name or id of the author" />
        <SearchField name="action" value={search.action} label="Action" />
        <a href={csv} download>
          CSV
        </a>
      </PageHeader>
      <TrailTable data={data} error={error} onRetry={() => void refetch()} />
    </div>
  );
}
