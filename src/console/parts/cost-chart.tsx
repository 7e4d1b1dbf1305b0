import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatCents, formatUsdNumber, plural, readUsd } from "../format.ts";
import { MOVING_MS } from "../queries/overview.ts";
import { type UsageAnswer, usageQuery } from "../queries/usage.ts";
import { RANGES, type RangeSearch } from "../ranges.ts";
import { costSeries, printBuckets } from "../series.ts";
import { linksOfChart } from "../usage-links.ts";
import { resolveUsage, type UsageQuery } from "../usage-view.ts";
import { Chart } from "./chart.tsx";
import { Empty, Loaded } from "./loaded.tsx";
import { Money } from "./money.tsx";
import { Panel } from "./panel.tsx";

interface CostChartProps {
  readonly account: string;
  readonly search: RangeSearch;
  /** Only the requests of this key. */
  readonly apiKey?: string;
}

/** Cost over time, stacked by model: the view that the usage page begins with. */
export function CostChart({ account, search: { range, from, to }, apiKey }: CostChartProps) {
  const search = { ...(range && { range }), ...(from && to && { from, to }), ...(apiKey && { key: apiKey }) };
  const query = resolveUsage(search, { isOperator: false });
  const usage = useQuery({ ...usageQuery(account, query), refetchInterval: MOVING_MS });
  const { data } = usage;
  return (
    <Panel
      title={`Cost by ${query.by} and model`}
      note={
        data && (
          <>
            <Money usd={data.total.cost_usd} /> for {plural(data.total.requests, "request")}
          </>
        )
      }
      actions={
        <Link to="/accounts/$account/usage" params={{ account }} search={search}>
          All usage
        </Link>
      }
    >
      <Loaded query={usage}>
        {(data) => (
          <Bars
            account={account}
            usage={data}
            query={query}
            range={from ? "the range" : RANGES[range ?? "30d"].title}
          />
        )}
      </Loaded>
    </Panel>
  );
}

interface BarsProps {
  readonly account: string;
  readonly usage: UsageAnswer;
  readonly query: UsageQuery;
  readonly range: string;
}

function Bars({ account, usage, query, range }: BarsProps) {
  if (usage.total.requests === 0) {
    return (
      <Empty icon="usage" title="No requests in this range">
        Choose a longer range to see earlier ones.
      </Empty>
    );
  }
  const { times, series } = costSeries(usage, query);
  const names = series.map(({ name }) => name).join(", ");
  return (
    <Chart
      kind="bars"
      label={`Cost by ${query.by} over ${range}, stacked by model (${names}): ${formatCents(readUsd(usage.total.cost_usd))} in total.`}
      places={printBuckets(times, query)}
      series={series}
      format={formatUsdNumber}
      {...linksOfChart({ account, query, times })}
    />
  );
}
