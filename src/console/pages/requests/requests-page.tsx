import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { formatCount, formatMs, plural } from "../../format.ts";
import { Badge, OutcomeBadge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable, Pager, Pair } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Time } from "../../parts/time.tsx";
import {
  countQuery,
  FILTERS,
  hasFilter,
  hasRange,
  type RequestRow,
  type RequestsSearch,
} from "../../queries/requests.ts";
import { withSearch } from "../../search.ts";
import { Filters } from "./filters.tsx";
import styles from "./requests.module.css";
import { type LiveList, type LiveState, useLiveList } from "./use-live-list.ts";

const route = getRouteApi("/shell/accounts/$account/requests");

const COLUMNS: readonly Column<RequestRow>[] = [
  { id: "at", header: "Time", isNarrow: true, cell: ({ at }) => <Time at={at} as="moment" /> },
  {
    id: "model",
    header: "Model → upstream",
    isNarrow: true,
    card: "line",
    cell: ({ model, upstream }) =>
      upstream ? <Pair from={model} to={<span className={styles.soft}>{upstream}</span>} /> : model,
  },
  {
    id: "key",
    header: "Key",
    isNarrow: true,
    card: "bare",
    cell: ({ key_name, key_id }) => key_name ?? key_id,
  },
  {
    id: "outcome",
    header: "Outcome",
    isNarrow: true,
    card: "bare",
    cell: ({ state, outcome }) => <OutcomeBadge state={state} outcome={outcome} />,
  },
  {
    id: "tokens",
    header: "Tokens in → out",
    align: "end",
    cell: ({ input_tokens, cached_input_tokens, output_tokens }) => (
      <span title={`${formatCount(cached_input_tokens ?? 0)} of the input came from the cache`}>
        <Pair from={count(input_tokens)} to={count(output_tokens)} />
      </span>
    ),
  },
  {
    id: "times",
    header: "First → whole",
    align: "end",
    cell: ({ first_output_ms, total_ms }) => (
      <Pair from={formatMs(first_output_ms)} to={formatMs(total_ms)} />
    ),
  },
  {
    id: "charge",
    header: "Charge",
    align: "end",
    card: "corner",
    cell: ({ charged_usd }) => <Money usd={charged_usd} isAligned />,
  },
];

/** Every request that held money, newest first; live while no filter is set. */
export function RequestsPage() {
  const { account } = route.useParams();
  // Rows that came live are those of one account.
  return <Requests key={account} account={account} />;
}

function Requests({ account }: { readonly account: string }) {
  const search: RequestsSearch = route.useSearch();
  const list = useLiveList(account, search);
  const { data } = list.query;
  return (
    <div className={styles.page}>
      <PageHeader title="Requests" note="Every request that held money. Each leads to its receipt.">
        <LiveSwitch list={list} />
        <RangePicker usual={undefined} />
      </PageHeader>
      <Filters account={account} scope={search.scope} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: holds still what is pointed at or has the focus. */}
      <div onPointerEnter={list.hold} onPointerLeave={list.unhold} onFocus={list.hold} onBlur={list.unhold}>
        <Panel isFlush>
          <DataTable
            caption="Requests"
            columns={COLUMNS}
            rows={list.rows}
            rowKey={({ id }) => id}
            rowLink={({ id }) => ({
              to: "/accounts/$account/requests/$request",
              params: { account, request: id },
            })}
            empty={<Nothing account={account} search={search} />}
            query={list.query}
            skeletonRows={12}
            isDense
            footer={<Pager next={data?.next ?? null} isNewestFirst />}
          />
          {list.notShown > 0 && (
            <p className={styles.searched} role="status">
              {plural(list.notShown, "request")} not shown: newer ones took their place. Older pages have
              them.
            </p>
          )}
          {data?.ordered_from && (
            <p className={styles.searched} role="status">
              Of the newest requests that match, since <Time at={data.ordered_from} />. A shorter range or a
              filter leads to older ones.
            </p>
          )}
          {search.metadata && (
            <p className={styles.searched}>
              Metadata is that of services which hold money themselves; requests of keys have none.
              {data?.searched_to && (
                <>
                  {" "}
                  Searched back to <Time at={data.searched_to} />.
                </>
              )}
            </p>
          )}
        </Panel>
      </div>
    </div>
  );
}

function count(tokens: number | null): string {
  return tokens === null ? "–" : formatCount(tokens);
}

const STATES: Readonly<Record<Exclude<LiveState, "off">, { readonly text: string; readonly tone: Tone }>> = {
  paused: { text: "Paused", tone: "neutral" },
  connecting: { text: "Connecting…", tone: "info" },
  live: { text: "Live", tone: "good" },
  refused: { text: "Not connected", tone: "warn" },
};

/** The state of the live list; pauses and continues it. The URL holds the choice. */
function LiveSwitch({ list: { state, waiting, notShown } }: { readonly list: LiveList }) {
  const navigate = useNavigate();
  if (state === "off") return null;
  const isPaused = state === "paused";
  const turn = () =>
    void navigate({
      to: ".",
      search: withSearch({ live: isPaused ? undefined : "0" }),
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      {waiting > 0 && (
        <span title="Shown as soon as the pointer or the focus leaves the list">
          <Badge tone="info">{formatCount(waiting)} new</Badge>
        </span>
      )}
      {notShown > 0 && (
        <span title="They came while this list followed. Older pages have them.">
          <Badge tone="warn">{formatCount(notShown)} not shown</Badge>
        </span>
      )}
      <Badge tone={STATES[state].tone}>{STATES[state].text}</Badge>
      <Button onClick={turn}>{isPaused ? "Follow" : "Pause"}</Button>
    </>
  );
}

interface NothingProps {
  readonly account: string;
  readonly search: RequestsSearch;
}

/** Stands where requests would be when there are none: no traffic, or filters that exclude all of it. */
function Nothing({ account, search }: NothingProps) {
  if (!hasFilter(search) && !hasRange(search)) {
    return (
      <Empty icon="requests" title="No requests here yet">
        Requests appear by themselves as soon as a key of this account sends one.
      </Empty>
    );
  }
  return <Excluded account={account} search={search} />;
}

/** The count of requests that the filters excluded, and how to see them. */
function Excluded({ account, search }: NothingProps) {
  const navigate = useNavigate();
  const isFiltered = hasFilter(search);
  const { data } = useQuery(countQuery(account, isFiltered ? search : {}));
  const names = isFiltered ? FILTERS : (["range", "from", "to"] as const);
  const cleared = Object.fromEntries([...names, "page"].map((name) => [name, undefined]));
  const count = data?.total.requests;
  const place = isFiltered && hasRange(search) ? "in this range" : "in the last year";
  return (
    <Empty
      icon="search"
      title={isFiltered ? "No request matches these filters" : "No requests in this range"}
      actions={
        <Button onClick={() => void navigate({ to: ".", search: withSearch(cleared) })}>
          {isFiltered ? "Clear the filters" : "Show all times"}
        </Button>
      }
    >
      {count !== undefined && `Without them there are ${formatCount(count)} ${place}.`}
    </Empty>
  );
}
