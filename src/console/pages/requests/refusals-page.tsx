import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatCount, localise } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { Chart } from "../../parts/chart.tsx";
import { printTimes } from "../../parts/chart-parts.ts";
import { type Column, DataTable, Pager, wholeName } from "../../parts/data-table.tsx";
import { ChoiceFilter, KeyFilter } from "../../parts/filters.tsx";
import { ViewLink } from "../../parts/list-table.tsx";
import { Empty, Skeleton } from "../../parts/loaded.tsx";
import { Amount } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import stack from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import {
  type RefusalRow,
  type RefusalsSearch,
  type RefusedUsage,
  refusalsQuery,
  refusedQuery,
} from "../../queries/requests.ts";
import { withSearch } from "../../search.ts";
import { stackRows } from "../../series.ts";
import { linkOfRange, rangeOfBuckets } from "../../usage-links.ts";
import styles from "./requests.module.css";

const route = getRouteApi("/shell/accounts/$account/refusals");
const CODES = [
  "insufficient_balance",
  "spending_limit_exceeded",
  "rate_limit_exceeded",
  "concurrency_exceeded",
  "model_not_found",
  "forbidden",
  "invalid_request",
  "invalid_api_key",
] as const;

const COLUMNS: readonly Column<RefusalRow>[] = [
  { id: "minute", header: "Minute", isNarrow: true, cell: ({ minute }) => <Time at={minute} as="moment" /> },
  {
    id: "code",
    header: "Refused with",
    card: "line",
    cell: ({ code, text }) => (
      <>
        <Badge tone="bad">{code.replaceAll("_", " ")}</Badge>
        <p>{localise(text)}</p>
      </>
    ),
  },
  {
    id: "key",
    header: "Key and model",
    card: "line",
    cell: ({ key_name, key_id, model }) => (
      <span className={stack.named}>
        {key_name ?? key_id}
        {model && <small>{wholeName(model)}</small>}
      </span>
    ),
  },
  { id: "needed", header: "Needed", align: "end", cell: ({ needed }) => <Amount quantity={needed} /> },
  { id: "available", header: "Available", align: "end", cell: ({ had }) => <Amount quantity={had} /> },
  {
    id: "count",
    header: "Times",
    align: "end",
    card: "corner",
    cell: ({ count }) => `${formatCount(count)}×`,
  },
];

/** Requests that were refused before they cost anything, by minute, key and cause. */
export function RefusalsPage() {
  const { account } = route.useParams();
  const search: RefusalsSearch = route.useSearch();
  const list = useQuery(refusalsQuery(account, search));
  return (
    <div className={styles.page}>
      <PageHeader title="Refusals" note="Refused requests cost nothing. They are kept for 7 days.">
        <RangePicker names={["24h", "7d"]} usual="7d" />
      </PageHeader>
      <div className={styles.filters}>
        <ChoiceFilter
          label="Refused with"
          name="code"
          usual="any code"
          options={CODES.map((value) => ({ value, text: value.replaceAll("_", " ") }))}
          isOpen
        />
        <ViewLink>
          <KeyFilter account={account} />
        </ViewLink>
      </div>
      <RefusalsChart account={account} search={search} />
      <Panel isFlush>
        <DataTable
          caption="Refused requests"
          columns={COLUMNS}
          rowKey={({ minute, key_id, cause, model }) => `${minute} ${key_id} ${cause} ${model}`}
          rowLink={({ last_request_id }) => ({
            to: "/accounts/$account/refusals/$request",
            params: { account, request: last_request_id },
          })}
          empty={<Nothing isFiltered={search.key !== undefined || search.code !== undefined} />}
          query={list}
          footer={<Pager next={list.data?.next ?? null} isNewestFirst />}
        />
      </Panel>
    </div>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  const cleared = { key: undefined, code: undefined, page: undefined };
  if (!isFiltered) {
    return (
      <Empty icon="check" title="Nothing was refused in this range">
        Every request with a key of this account was let through.
      </Empty>
    );
  }
  return (
    <Empty
      icon="filter"
      title="No refusal matches these filters"
      actions={
        <ButtonLink to="." search={withSearch(cleared)}>
          Clear the filters
        </ButtonLink>
      }
    />
  );
}

interface RefusalsChartProps {
  readonly account: string;
  readonly search: RefusalsSearch;
}

/** Refused requests per hour, stacked by what they were refused with. The list below has what a fault here hides. */
function RefusalsChart({ account, search }: RefusalsChartProps) {
  const { data, error } = useQuery(refusedQuery(account, search));
  if ((error && !data) || data?.total.refused === 0) return null;
  const count = data && formatCount(data.total.refused);
  return (
    <Panel title="Refused requests per hour" note={count && `${count} in this range.`}>
      {data ? <Bars account={account} usage={data} search={search} /> : <Skeleton shape="block" />}
    </Panel>
  );
}

interface BarsProps extends RefusalsChartProps {
  readonly usage: RefusedUsage;
}

function Bars({ account, search: { key }, usage: { rows, from, to, total } }: BarsProps) {
  const { times, series } = stackRows(
    rows
      .filter(({ refused }) => refused > 0)
      .map((row) => ({ ...row, group_name: row.group?.replaceAll("_", " ") ?? "unknown" })),
    { from, to, resolution: "hour", name: "Refused", value: ({ refused }) => refused },
  );
  const names = series.map(({ name }) => name).join(", ");
  return (
    <Chart
      kind="bars"
      label={`Refused requests per hour by reason (${names}): ${formatCount(total.refused)} in total.`}
      places={printTimes(times, "hour")}
      series={series}
      format={formatCount}
      unit="refused"
      height={160}
      placeLink={(place, code) => ({
        to: "/accounts/$account/refusals",
        params: { account },
        search: { ...rangeOfBuckets(times, "hour", place), ...(key && { key }), ...(code && { code }) },
      })}
      rangeLink={(first, last) => linkOfRange(rangeOfBuckets(times, "hour", first, last))}
    />
  );
}
