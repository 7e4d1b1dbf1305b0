import { formatCents, formatCompact, formatCount, formatMs, formatUsdNumber, readUsd } from "../../format.ts";
import { Chart } from "../../parts/chart.tsx";
import { Panel } from "../../parts/panel.tsx";
import type { UsageAnswer, UsageTotal } from "../../queries/usage.ts";
import { costSeries, dayOf, printBuckets } from "../../series.ts";
import { linksOfChart } from "../../usage-links.ts";
import { histogramSeries, requestSeries, tokenSeries } from "../../usage-series.ts";
import { GROUPS, type UsageQuery } from "../../usage-view.ts";
import styles from "./usage.module.css";

interface ChartsProps {
  /** `undefined`: all accounts. */
  readonly account: string | undefined;
  readonly usage: UsageAnswer;
  readonly query: UsageQuery;
  /** Days that cost more than usual: "2026-11-22". */
  readonly unusualDays: readonly string[];
}

/** Cost, requests and tokens over time. */
export function Charts({ account, usage, query, unusualDays }: ChartsProps) {
  const { total } = usage;
  const divided = query.group === "none" ? "" : ` and ${GROUPS[query.group]}`;
  const cost = costSeries(usage, query);
  const marks = query.by === "hour" ? [] : placesOf(cost.times, unusualDays, query);
  const requests = requestSeries(usage, query);
  const tokens = tokenSeries(usage, query);
  const links = linksOfChart({ account, query, times: cost.times });
  const linksOfAll = linksOfChart({ account, query: { ...query, group: "none" }, times: cost.times });
  return (
    <>
      <Panel title={`Cost per ${query.by}${divided}`} note={describeDays(usage, query)}>
        <Chart
          kind="bars"
          label={`Cost per ${query.by}${divided}: ${formatCents(readUsd(total.cost_usd))} in total.`}
          places={printBuckets(cost.times, query)}
          series={cost.series}
          marks={marks}
          format={formatUsdNumber}
          {...links}
        />
      </Panel>
      <div className={styles.pair}>
        <Panel title={`Requests per ${query.by}`} note="Refused requests are outlined; they cost nothing.">
          <Chart
            kind="bars"
            label={`Requests per ${query.by}${divided}: ${formatCount(total.requests)}, and ${formatCount(total.refused)} refused.`}
            places={printBuckets(requests.times, query)}
            series={requests.series}
            format={printCount}
            unit="requests"
            {...links}
            height={190}
          />
        </Panel>
        <Panel title={`Tokens per ${query.by}`} note="Each token is in one class.">
          <Chart
            kind="bars"
            label={`Tokens per ${query.by} by class: ${formatCount(total.output_tokens)} of output in total.`}
            places={printBuckets(tokens.times, query)}
            series={tokens.series}
            format={printCount}
            unit="tokens"
            {...linksOfAll}
            height={190}
          />
        </Panel>
      </div>
    </>
  );
}

/** How long requests took, by the buckets that the roll-ups count. */
export function Latencies({ total }: { readonly total: UsageTotal }) {
  return (
    <div className={styles.pair}>
      <Distribution
        title="Time to the first output"
        times={total.first_output}
        total={total}
        counts={total.histograms.first_output}
      />
      <Distribution
        title="Time of the whole answer"
        times={total.total_time}
        total={total}
        counts={total.histograms.total_time}
      />
    </div>
  );
}

interface DistributionProps {
  readonly title: string;
  readonly times: UsageTotal["first_output"];
  readonly total: UsageTotal;
  readonly counts: readonly number[];
}

function Distribution({ title, times, total, counts }: DistributionProps) {
  if (!times) return null;
  const { places: buckets, series } = histogramSeries(total.histograms.bounds_ms, counts);
  const text = `p50 ${formatMs(times.p50)} · p95 ${formatMs(times.p95)} · p99 ${formatMs(times.p99)}`;
  return (
    <Panel title={title} note={text}>
      <Chart
        kind="bars"
        label={`${title}: ${text}.`}
        places={buckets}
        series={series}
        format={printCount}
        unit="requests"
        height={160}
      />
    </Panel>
  );
}

/** Which zone the days are counted in. */
function describeDays({ resolution }: UsageAnswer, { by, offset_h }: UsageQuery): string {
  if (by === "hour") return "Hours are shown in your zone.";
  const sign = offset_h < 0 ? "−" : "+";
  const zone = offset_h === 0 || resolution === "day" ? "UTC" : `UTC${sign}${Math.abs(offset_h)}`;
  return `Days begin at midnight of ${zone}.`;
}

function placesOf(times: readonly string[], days: readonly string[], query: UsageQuery): readonly number[] {
  return times.flatMap((time, place) => (days.includes(dayOf(time, query.offset_h)) ? [place] : []));
}

function printCount(count: number): string {
  return count < 10_000 ? formatCount(count) : formatCompact(count);
}
