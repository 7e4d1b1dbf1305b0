import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatCount, formatMs } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Time } from "../../parts/time.tsx";
import { Filters } from "./filters.tsx";
import { LiveSwitch } from "./live-switch.tsx";
import { outcomeOf } from "./outcomes.ts";
import { Pages } from "./pages.tsx";
import { hasFilter, type RequestRow, type RequestsSearch, requestsQuery } from "./queries.ts";
import styles from "./requests.module.css";
import { mergeRows, useLiveRows } from "./use-live-rows.ts";

const route = getRouteApi("/shell/accounts/$account/requests");

const COLUMNS: readonly Column<RequestRow>[] = [
  { id: "at", header: "Time", isNarrow: true, cell: ({ at }) => <Time at={at} as="second" /> },
  {
    id: "model",
    header: "Model",
    cell: ({ model, upstream }) => (
      <>
        {model}
        {upstream && <span className={styles.soft}> → {upstream}</span>}
      </>
    ),
  },
  { id: "key", header: "Key", cell: ({ key_name, key_id }) => key_name ?? key_id },
  {
    id: "outcome",
    header: "Outcome",
    cell: (row) => <Badge tone={outcomeOf(row).tone}>{outcomeOf(row).text}</Badge>,
  },
  {
    id: "tokens",
    header: "Tokens in → out",
    align: "end",
    cell: ({ input_tokens, cached_input_tokens, output_tokens }) => (
      <>
        {count(input_tokens)} → {count(output_tokens)}
        {cached_input_tokens ? (
          <span className={styles.soft}> · {formatCount(cached_input_tokens)} cached</span>
        ) : null}
      </>
    ),
  },
  {
    id: "first",
    header: "First output",
    align: "end",
    cell: ({ first_output_ms }) => formatMs(first_output_ms),
  },
  { id: "total", header: "Total", align: "end", cell: ({ total_ms }) => formatMs(total_ms) },
  {
    id: "charge",
    header: "Charge",
    align: "end",
    cell: ({ charged_usd }) => <Money usd={charged_usd} isExact />,
  },
];

/** Every request that held money, newest first; live while no filter is set. */
export function RequestsPage() {
  const { account } = route.useParams();
  const search: RequestsSearch = route.useSearch();
  const { data, error, refetch } = useQuery(requestsQuery(account, search));
  const hasRange = search.range !== undefined || search.from !== undefined;
  const mayFollow = !hasFilter(search) && !hasRange && search.page === undefined;
  const live = useLiveRows(account, mayFollow && search.live !== "0");
  const rows = data && mergeRows(live.rows, data.items);
  return (
    <div className={styles.page}>
      <PageHeader title="Requests" note="Every request that held money. Each leads to its receipt.">
        {mayFollow && <LiveSwitch state={live.state} />}
        <RangePicker />
      </PageHeader>
      <Filters account={account} search={search} />
      <Panel isFlush>
        <DataTable
          caption="Requests"
          columns={COLUMNS}
          rows={rows}
          rowKey={({ id }) => id}
          rowLink={({ id }) => ({
            to: "/accounts/$account/requests/$request",
            params: { account, request: id },
          })}
          empty={<Nothing search={search} />}
          error={data ? undefined : error}
          onRetry={() => void refetch()}
          skeletonRows={12}
          footer={<Pages next={data?.next ?? null} />}
        />
        {data?.searched_to && (
          <p className={styles.searched}>
            Searched back to <Time at={data.searched_to} />.
          </p>
        )}
      </Panel>
    </div>
  );
}

function Nothing({ search }: { readonly search: RequestsSearch }) {
  const navigate = route.useNavigate();
  if (!hasFilter(search)) {
    return (
      <Empty icon="requests" title="No requests here yet">
        Requests appear by themselves as soon as a key of this account sends one.
      </Empty>
    );
  }
  return (
    <Empty
      icon="search"
      title="No request matches these filters"
      actions={<Button onClick={() => void navigate({ search: {} as never })}>Clear the filters</Button>}
    />
  );
}

function count(tokens: number | null): string {
  return tokens === null ? "–" : formatCount(tokens);
}
