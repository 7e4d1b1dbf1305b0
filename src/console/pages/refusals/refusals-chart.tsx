import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { formatCount } from "../../format.ts";
import { Chart } from "../../parts/chart.tsx";
import { printTimes } from "../../parts/chart-parts.ts";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { type RangeSearch, resolveRange } from "../../ranges.ts";
import { stackRows } from "../../series.ts";

/** The filters of the list, as the URL holds them. */
export interface RefusalsSearch extends RangeSearch {
  readonly key?: string;
  readonly code?: string;
  readonly page?: string;
}

const refusedQuery = (account: string, search: RefusalsSearch) => {
  const { from, to } = resolveRange(search, { usual: "7d" });
  const { key, code } = search;
  const asked = { from, to, by: "hour", group: "outcome" } as const;
  const query = { ...asked, ...(key && { key }), ...(code && { outcome: code }) };
  return queryOptions({
    queryKey: ["account", account, "usage", query],
    queryFn: () => call(() => api.accounts({ account }).usage.get({ query })),
    placeholderData: keepPreviousData,
  });
};

interface RefusalsChartProps {
  readonly account: string;
  readonly search: RefusalsSearch;
}

/** Refused requests per hour, stacked by what they were refused with. The list below has what a fault here hides. */
export function RefusalsChart({ account, search }: RefusalsChartProps) {
  const { data, error } = useQuery(refusedQuery(account, search));
  if ((error && !data) || data?.total.refused === 0) return null;
  const count = data && formatCount(data.total.refused);
  return (
    <Panel title="Refused requests per hour" note={count && `${count} in this range.`}>
      {data ? <Bars usage={data} /> : <Skeleton shape="block" />}
    </Panel>
  );
}

type Usage = Awaited<ReturnType<NonNullable<ReturnType<typeof refusedQuery>["queryFn"]>>>;

function Bars({ usage: { rows, from, to, total } }: { readonly usage: Usage }) {
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
      height={160}
    />
  );
}
