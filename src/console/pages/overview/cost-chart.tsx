import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatCents, readUsd } from "../../format.ts";
import { Chart } from "../../parts/chart.tsx";
import { printTimes } from "../../parts/chart-parts.ts";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { RANGES, type RangeSearch } from "../../ranges.ts";
import { stackRows } from "../../series.ts";
import { costQuery } from "./queries.ts";

const NANOS_PER_USD = 1e9;

interface CostChartProps {
  readonly account: string;
  readonly search: RangeSearch;
  /** Only the requests of this key. */
  readonly apiKey?: string;
}

type Usage = Awaited<ReturnType<NonNullable<ReturnType<typeof costQuery>["queryFn"]>>>;

/** Cost over time, stacked by model. */
export function CostChart({ account, search, apiKey }: CostChartProps) {
  const { data, error, refetch } = useQuery(costQuery(account, search, apiKey));
  const by = search.range === "24h" ? "hour" : "day";
  return (
    <Panel
      title={`Cost by ${by} and model`}
      note={
        data && (
          <>
            <Money usd={data.total.cost_usd} /> for {data.total.requests.toLocaleString("en-US")} requests
          </>
        )
      }
      actions={
        <Link
          to="/accounts/$account/usage"
          params={{ account }}
          search={{ ...search, ...(apiKey && { key: apiKey }) }}
        >
          All usage
        </Link>
      }
    >
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton shape="block" />}
      {data && <Bars usage={data} by={by} range={RANGES[search.range ?? "30d"].title} />}
    </Panel>
  );
}

function Bars({ usage, by, range }: { usage: Usage; by: "hour" | "day"; range: string }) {
  if (usage.total.requests === 0) {
    return (
      <Empty icon="usage" title="No requests in this range">
        Choose a longer range to see earlier ones.
      </Empty>
    );
  }
  const { from, to, rows, total } = usage;
  const { times, series } = stackRows(rows, {
    from,
    to,
    resolution: by,
    name: "All models",
    value: ({ cost_usd }) => toNumber(cost_usd),
  });
  const names = series.map(({ name }) => name).join(", ");
  return (
    <Chart
      kind="bars"
      label={`Cost by ${by} over ${range}, stacked by model (${names}): ${formatCents(readUsd(total.cost_usd))} in total.`}
      places={printTimes(times, by)}
      series={series}
      format={formatNumber}
    />
  );
}

/** Drawing needs a number; the exact amounts are in the table of the usage page. */
function toNumber(usd: string): number {
  return Number(readUsd(usd)) / NANOS_PER_USD;
}

function formatNumber(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.01) return `$${value.toPrecision(2)}`;
  return formatCents(BigInt(Math.round(value * NANOS_PER_USD)));
}
