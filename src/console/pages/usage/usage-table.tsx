import { useNavigate } from "@tanstack/react-router";
import { printShare, shareOf } from "../../compare.ts";
import { capitalize, formatCount, formatMs, formatUsdNumber, readUsd, usdNumber } from "../../format.ts";
import { viewOutcome } from "../../parts/badge.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Compact } from "../../parts/facts.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { hasMargin, inputOf, type Margin, type UsageAnswer, type UsageGroup } from "../../queries/usage.ts";
import { withSearch } from "../../search.ts";
import { addScope, FILTERS, GROUPS, isScopeGroup, nameOfNone, type UsageQuery } from "../../usage-view.ts";
import styles from "./usage.module.css";

interface UsageTableProps {
  readonly usage: UsageAnswer;
  readonly query: UsageQuery;
  /** The chosen tab of the URL. */
  readonly table: string | undefined;
}

/** The groups of a view with all their figures, the dearest first. A row leads to the view of its group alone. */
export function UsageTable({ usage, query, table }: UsageTableProps) {
  const navigate = useNavigate();
  if (query.group === "none" || usage.groups.length === 0) return null;
  const { group } = query;
  const first: Column<UsageGroup> = {
    id: "group",
    header: capitalize(GROUPS[group]),
    order: (row) => nameOf(row, query),
    cell: (row) => nameOf(row, query),
  };
  const rows = (title: string, columns: readonly Column<UsageGroup>[]) => (
    <ListTable
      name="groups"
      searchBy={(row) => [nameOf(row, query)]}
      searchLabel={capitalize(GROUPS[group])}
      caption={`${title} by ${GROUPS[group]}`}
      columns={[first, ...columns]}
      rows={usage.groups}
      rowKey={(row) => row.group ?? ""}
      rowLink={(row) => linkOf(row, query)}
      empty={null}
      isDense
    />
  );
  const tabs = [
    { id: "cost", title: "Cost and tokens", content: rows("Cost and tokens", costColumns(usage)) },
    { id: "times", title: "Errors and times", content: rows("Errors and times", TIME_COLUMNS) },
  ];
  return (
    <Panel title={`By ${GROUPS[group]}`} note={describeRows(query)}>
      <div className={styles.table}>
        <Tabs
          label={`Figures by ${GROUPS[group]}`}
          tabs={tabs}
          value={table === "times" ? "times" : "cost"}
          onChange={(id) =>
            void navigate({
              to: ".",
              search: withSearch({ table: id === "times" ? id : undefined }),
              resetScroll: false,
            })
          }
        />
      </div>
    </Panel>
  );
}

function describeRows({ group }: UsageQuery): string {
  if (group === "account") return "The dearest first. A row leads to its account.";
  if (isScopeGroup(group))
    return "The dearest first. Of a day, the first 10,000 have rows of their own, and all later ones are in Others.";
  return `The dearest first. A row shows its ${group} alone.`;
}

function costColumns({ total }: UsageAnswer): readonly Column<UsageGroup>[] {
  return [
    number("cost", "Cost", ({ cost_usd }) => <Money usd={cost_usd} />, costOf),
    ...marginColumns(total),
    number("share", "Share", ({ cost_usd }) => shareOf(cost_usd, total.cost_usd)),
    number("requests", "Requests", ({ requests }) => formatCount(requests), requestsOf),
    number(
      "each",
      "Each",
      (row) => <MoneyEach row={row} />,
      (row) => usdNumber(row.cost_usd) / row.requests || null,
    ),
    number("input", "Tokens in", (row) => <Compact count={inputOf(row)} />, inputOf),
    number("cached", "From the cache", (row) => printShare(row.cached_input_tokens, inputOf(row))),
    number("written", "To the cache", ({ cache_write_tokens }) => <Compact count={cache_write_tokens} />),
    number(
      "output",
      "Tokens out",
      ({ output_tokens }) => <Compact count={output_tokens} />,
      (row) => row.output_tokens,
    ),
  ];
}

/** Only the answers for operators have a margin. */
function marginColumns(total: UsageAnswer["total"]): readonly Column<UsageGroup>[] {
  if (!hasMargin(total)) return [];
  const money = (id: string, header: string, name: keyof Margin) =>
    number(id, header, (row) => (hasMargin(row) ? <Money usd={row[name]} /> : "–"));
  return [
    money("upstream-cost", "Upstream cost", "upstream_cost_usd"),
    money("margin", "Margin", "margin_usd"),
    number("unknown", "Cost unknown", (row) =>
      hasMargin(row) ? shareOf(row.unknown_cost_usd, row.cost_usd) : "–",
    ),
  ];
}

const costOf = ({ cost_usd }: UsageGroup) => readUsd(cost_usd);
const requestsOf = ({ requests }: UsageGroup) => requests;

const TIME_COLUMNS: readonly Column<UsageGroup>[] = [
  number("requests", "Requests", ({ requests }) => formatCount(requests), requestsOf),
  number(
    "errors",
    "Errors",
    ({ errors, requests }) =>
      errors === 0 ? "0" : `${formatCount(errors)} · ${printShare(errors, requests)}`,
    ({ errors }) => errors,
  ),
  number(
    "refused",
    "Refused",
    ({ refused }) => formatCount(refused),
    (row) => row.refused,
  ),
  ...(["p50", "p95", "p99"] as const).map((rank) =>
    number(
      `first_${rank}`,
      `First ${rank}`,
      ({ first_output }) => formatMs(first_output?.[rank] ?? null),
      (row) => row.first_output?.[rank],
    ),
  ),
  ...(["p50", "p95", "p99"] as const).map((rank) =>
    number(
      `total_${rank}`,
      `Whole ${rank}`,
      ({ total_time }) => formatMs(total_time?.[rank] ?? null),
      (row) => row.total_time?.[rank],
    ),
  ),
];

function number(
  id: string,
  header: string,
  cell: Column<UsageGroup>["cell"],
  order?: (row: UsageGroup) => number | bigint | null | undefined,
): Column<UsageGroup> {
  return { id, header, align: "end", cell, ...(order && { order }) };
}

/** Mean cost of a request. */
function MoneyEach({ row: { cost_usd, requests } }: { readonly row: UsageGroup }) {
  if (requests === 0) return <>–</>;
  return <>{formatUsdNumber(usdNumber(cost_usd) / requests)}</>;
}

/** The name of a group; refused requests have no upstream, and rarely no model. */
function nameOf({ group, group_name }: UsageGroup, query: UsageQuery): string {
  if (group === null) return nameOfNone(query.group);
  return query.group === "outcome" ? viewOutcome(group).text : (group_name ?? group);
}

function linkOf({ group, group_name }: UsageGroup, query: UsageQuery) {
  if (group === null || group === "(other)") return undefined;
  if (query.group === "account")
    return { to: "/operator/accounts", search: { q: group_name ?? group } } as const;
  if (isScopeGroup(query.group)) {
    const id = query.group === "tag" ? `${query.tag_key}=${group}` : group;
    const scope = addScope(query.scope, `${query.group}:${id}`);
    return { to: ".", search: withSearch({ scope, group: "model" }) } as const;
  }
  const name = FILTERS.find((each) => each === query.group);
  if (!name) return undefined;
  // What is shown alone is divided by something else.
  const divided = name === "model" ? "upstream" : "model";
  return { to: ".", search: withSearch({ [name]: group, group: divided }) } as const;
}
