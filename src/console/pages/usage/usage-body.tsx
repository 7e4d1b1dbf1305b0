import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ButtonLink, DownloadLink } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Charts, Latencies } from "./charts.tsx";
import { Controls } from "./controls.tsx";
import { Figures } from "./figures.tsx";
import { csvAddress, type UsageAnswer, usageQuery } from "./queries.ts";
import styles from "./usage.module.css";
import { UsageTable } from "./usage-table.tsx";
import { FILTERS, type UsageQuery, type UsageSearch } from "./view.ts";

interface UsageBodyProps {
  readonly title: string;
  /** `undefined`: all accounts. */
  readonly account: string | undefined;
  readonly search: UsageSearch;
  readonly query: UsageQuery;
  readonly unusualDays?: readonly string[];
  /** Below the charts and the table. */
  readonly children?: (usage: UsageAnswer) => ReactNode;
}

/** A usage view: figures, charts and the table of its groups. Serves one account and all of them. */
export function UsageBody({ title, account, search, query, unusualDays = [], children }: UsageBodyProps) {
  const { data, error, refetch, isPlaceholderData } = useQuery(usageQuery(account, query));
  return (
    <div className={styles.page}>
      <PageHeader title={title}>
        <RangePicker names={["24h", "7d", "30d", "90d", "month"]} />
        <DownloadLink href={csvAddress(account, query)}>CSV</DownloadLink>
      </PageHeader>
      <Controls account={account} search={search} query={query} />
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!(error && !data) && <Figures usage={data} isCompared={search.compare !== "0"} />}
      {!error && !data && (
        <Panel title={`Cost per ${query.by}`}>
          <Skeleton shape="block" />
        </Panel>
      )}
      {data && (
        <div className={styles.page} aria-busy={isPlaceholderData}>
          {data.total.requests + data.total.refused === 0 ? (
            <Panel>
              <Nothing search={search} />
            </Panel>
          ) : (
            <>
              <Charts usage={data} query={data.query} unusualDays={unusualDays} />
              <UsageTable usage={data} query={data.query} table={search.table} />
              <Latencies total={data.total} />
              {children?.(data)}
            </>
          )}
        </div>
      )}
    </div>
  );
}

function Nothing({ search }: { readonly search: UsageSearch }) {
  const hasFilter = FILTERS.some((name) => search[name] !== undefined);
  if (hasFilter) {
    const cleared = Object.fromEntries(FILTERS.map((name) => [name, undefined]));
    return (
      <Empty
        icon="filter"
        title="No request matches these filters in this range"
        actions={
          <ButtonLink to="." search={(all: object) => ({ ...all, ...cleared }) as never}>
            Clear the filters
          </ButtonLink>
        }
      />
    );
  }
  const isLongest = search.range === "90d";
  return (
    <Empty
      icon="usage"
      title="No requests in this range"
      actions={
        isLongest ? undefined : (
          <ButtonLink
            to="."
            search={(all: object) => ({ ...all, from: undefined, to: undefined, range: "90d" }) as never}
          >
            Show 90 days
          </ButtonLink>
        )
      }
    >
      Usage appears here with the first request of a key.
    </Empty>
  );
}
