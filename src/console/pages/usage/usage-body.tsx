import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { viewOutcome } from "../../parts/badge.tsx";
import { Button, ButtonLink, DownloadLink } from "../../parts/button.tsx";
import { FilterChip } from "../../parts/chip.tsx";
import { KeyFilter, ModelFilter, Select } from "../../parts/filters.tsx";
import { ViewLink } from "../../parts/list-table.tsx";
import { Empty, ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { ScopeFilter } from "../../parts/scope-filter.tsx";
import { attributionQuery } from "../../queries/account.ts";
import { csvAddress, type UsageAnswer, usageQuery } from "../../queries/usage.ts";
import { withSearch } from "../../search.ts";
import { FILTERS, GROUPS, groupsFor, type UsageQuery, type UsageSearch, unitsOf } from "../../usage-view.ts";
import { Charts, Latencies } from "./charts.tsx";
import { Figures } from "./figures.tsx";
import styles from "./usage.module.css";
import { UsageTable } from "./usage-table.tsx";

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
              <Charts account={account} usage={data} query={data.query} unusualDays={unusualDays} />
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
          <ButtonLink to="." search={withSearch(cleared)}>
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
          <ButtonLink to="." search={withSearch({ from: undefined, to: undefined, range: "90d" })}>
            Show 90 days
          </ButtonLink>
        )
      }
    >
      Usage appears here with the first request of a key.
    </Empty>
  );
}

interface ControlsProps {
  /** `undefined`: all accounts. */
  readonly account: string | undefined;
  readonly search: UsageSearch;
  readonly query: UsageQuery;
}

/** What the view is divided by, and its filters. The URL holds all of it. */
function Controls({ account, search, query }: ControlsProps) {
  const set = useSetSearch();
  const groups = useGroups(account);
  const units = unitsOf(query);
  const isCompared = search.compare !== "0";
  return (
    <div className={styles.controls}>
      <Select
        label="Divide by"
        value={query.group}
        options={[
          ...groups.names.map((value) => ({ value, text: GROUPS[value] })),
          { value: "none" as const, text: "nothing" },
        ]}
        onChange={(group) =>
          set({ group, table: undefined, tag: group === "tag" ? groups.tagKeys[0] : undefined })
        }
      />
      {units.length > 1 && (
        <Select
          label="Per"
          value={query.by}
          options={units.map((value) => ({ value, text: value }))}
          onChange={(by) => set({ by })}
        />
      )}
      {account !== undefined && query.group === "tag" && (
        <TagKeys account={account} chosen={search.tag} onChange={(tag) => set({ tag })} />
      )}
      {account !== undefined && <ScopeFilter account={account} scope={search.scope} />}
      {account !== undefined && <KeyFilter account={account} />}
      {account !== undefined && <ModelFilter account={account} usual="any model" />}
      {account === undefined && search.model && (
        <FilterChip filter="model" name="model" text={search.model} />
      )}
      {search.upstream && <FilterChip filter="upstream" name="upstream" text={search.upstream} />}
      {search.outcome && (
        <FilterChip filter="outcome" name="outcome" text={viewOutcome(search.outcome).text} />
      )}
      <ViewLink>
        <Button
          look="quiet"
          aria-pressed={isCompared}
          onClick={() => set({ compare: isCompared ? "0" : undefined })}
        >
          {isCompared ? "Hide the comparison" : "Compare with the period before"}
        </Button>
      </ViewLink>
    </div>
  );
}

/** What a view may be divided by: tags only where the account has declared keys of them. */
function useGroups(account: string | undefined) {
  const { data } = useQuery({ ...attributionQuery(account ?? ""), enabled: account !== undefined });
  const tagKeys = data?.tag_keys ?? [];
  const names = groupsFor({ isOperator: account === undefined });
  return { tagKeys, names: names.filter((name) => name !== "tag" || tagKeys.length > 0) };
}

interface TagKeysProps {
  readonly account: string;
  readonly chosen: string | undefined;
  readonly onChange: (key: string) => void;
}

/** The key of the tags that the view is divided by. */
function TagKeys({ account, chosen = "", onChange }: TagKeysProps) {
  const { tagKeys } = useGroups(account);
  const keys = chosen === "" || tagKeys.includes(chosen) ? tagKeys : [...tagKeys, chosen];
  return (
    <Select
      label="Tag"
      value={chosen}
      options={keys.map((value) => ({ value, text: value }))}
      onChange={onChange}
    />
  );
}

/** Changes members of the URL's search. */
function useSetSearch(): (changes: Partial<Record<keyof UsageSearch, string | undefined>>) => void {
  const navigate = useNavigate();
  return (changes) => void navigate({ to: ".", search: withSearch(changes) });
}
