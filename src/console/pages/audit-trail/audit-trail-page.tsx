import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { DownloadLink } from "../../parts/button.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import styles from "../../parts/stack.module.css";
import { queryOf, TrailFilters } from "./trail-filters.tsx";
import { TrailTable } from "./trail-table.tsx";

const route = getRouteApi("/shell/accounts/$account/audit-trail");

/** Every change inside the account. */
export function AuditTrailPage() {
  const { account } = route.useParams();
  const search = route.useSearch();
  const query = queryOf(search);
  const { data, error, refetch } = useQuery({
    queryKey: ["account", account, "audit-trail", query],
    queryFn: () => call(() => api.accounts({ account })["audit-trail"].get({ query })),
    placeholderData: keepPreviousData,
  });
  const { page: _, ...filter } = query;
  const csv = `/console/api/accounts/${encodeURIComponent(account)}/audit-trail.csv?${new URLSearchParams(filter)}`;
  return (
    <div className={styles.page}>
      <PageHeader title="Audit trail" note="Every change inside this account: who, what and when.">
        <RangePicker usual={undefined} />
        <DownloadLink href={csv}>CSV</DownloadLink>
      </PageHeader>
      <TrailFilters search={search} isPlatform={false} />
      <TrailTable data={data} error={error} onRetry={() => void refetch()} />
    </div>
  );
}
