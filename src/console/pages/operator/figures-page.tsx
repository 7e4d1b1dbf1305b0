import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../format.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty, ErrorPanel } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { type Figures, figuresQuery } from "../../queries/figures.ts";
import { formatMonth } from "../../times.ts";
import { AtRiskAccounts } from "./at-risk.tsx";

/** Recurring revenue, granted and expired credit, margins of plans, and the accounts at risk. */
export function FiguresPage() {
  const figures = useQuery(figuresQuery());
  const { data, error, refetch } = figures;
  const note = data ? (
    <>
      As of <Time at={data.at} />, renewed every minute. Months are in UTC.
    </>
  ) : (
    "Months are in UTC."
  );
  return (
    <div className={styles.page}>
      <PageHeader title="Figures" note={note} />
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      <Totals figures={data} />
      <Panel
        title="Plans"
        note="Revenue of active subscriptions as of a month; the rest is of this month. A margin is of what was charged at a known upstream cost."
        isFlush
      >
        <DataTable
          caption="Plans"
          columns={PLAN_COLUMNS}
          rowKey={({ plan }) => plan ?? ""}
          empty={<Empty icon="wallet" title="No plan yet" />}
          query={{ ...figures, data: data && { items: planRows(data) } }}
        />
      </Panel>
      <Panel
        title="Credit by month"
        note="What top-ups granted, and what credits lost at their ends."
        isFlush
      >
        <DataTable
          caption="Credit by month"
          columns={MONTH_COLUMNS}
          rowKey={({ month }) => month}
          empty={null}
          query={{ ...figures, data: data && { items: monthRows(data) } }}
        />
      </Panel>
      <AtRiskAccounts />
    </div>
  );
}

function Totals({ figures }: { readonly figures: Figures | undefined }) {
  const [month] = figures?.credit ?? [];
  const before = figures?.revenue.months[0];
  return (
    <Stats label="Figures of the platform">
      <Stat
        name="Recurring revenue"
        value={figures && <Money usd={figures.revenue.monthly_usd} />}
        note={
          before && (
            <>
              a month; <Money usd={before.monthly_usd} /> when this month began
            </>
          )
        }
      />
      <Stat
        name="Subscriptions"
        value={figures && formatCount(figures.revenue.plans.reduce((sum, { active }) => sum + active, 0))}
        note="active"
      />
      <Stat name="Granted this month" value={month && <Money usd={month.granted_usd} />} note="UTC month" />
      <Stat name="Expired this month" value={month && <Money usd={month.expired_usd} />} note="UTC month" />
    </Stats>
  );
}

type Margin = Figures["margins"][number];
interface PlanRow extends Margin {
  readonly revenue: Figures["revenue"]["plans"][number] | undefined;
}

function planRows({ margins, revenue }: Figures): readonly PlanRow[] {
  return margins.map((margin) => ({
    ...margin,
    revenue: revenue.plans.find(({ plan }) => plan === margin.plan),
  }));
}

const PLAN_COLUMNS: readonly Column<PlanRow>[] = [
  {
    id: "plan",
    header: "Plan",
    cell: ({ plan, revenue }) => revenue?.name ?? plan ?? <span className={styles.soft}>without a plan</span>,
  },
  {
    id: "active",
    header: "Active",
    align: "end",
    cell: ({ revenue }) => (
      <span className={styles.named}>
        {revenue ? formatCount(revenue.active) : "–"}
        {revenue && revenue.paused + revenue.cancelling > 0 && (
          <small>
            {revenue.paused} paused, {revenue.cancelling} ending
          </small>
        )}
      </span>
    ),
  },
  {
    id: "revenue",
    header: "A month",
    align: "end",
    cell: ({ revenue }) => <Money usd={revenue?.monthly_usd} />,
  },
  {
    id: "charged",
    header: "Charged",
    align: "end",
    cell: ({ charged_usd, costed_usd }) => (
      <span className={styles.named}>
        <Money usd={charged_usd} />
        <small>
          <Money usd={costed_usd} /> at known cost
        </small>
      </span>
    ),
  },
  {
    id: "cost",
    header: "Upstream cost",
    align: "end",
    cell: ({ upstream_cost_usd }) => <Money usd={upstream_cost_usd} />,
  },
  { id: "margin", header: "Margin", align: "end", cell: ({ margin_usd }) => <Money usd={margin_usd} /> },
];

type CreditMonth = Figures["credit"][number];
interface MonthRow extends CreditMonth {
  readonly revenue: string | undefined;
}

function monthRows({ credit, revenue }: Figures): readonly MonthRow[] {
  return credit.map((each) => ({
    ...each,
    revenue: revenue.months.find(({ month }) => month === each.month)?.monthly_usd,
  }));
}

const MONTH_COLUMNS: readonly Column<MonthRow>[] = [
  { id: "month", header: "Month", isNarrow: true, cell: ({ month }) => formatMonth(month) },
  {
    id: "revenue",
    header: "Revenue as it began",
    align: "end",
    cell: ({ revenue }) => <Money usd={revenue} />,
  },
  { id: "granted", header: "Granted", align: "end", cell: ({ granted_usd }) => <Money usd={granted_usd} /> },
  { id: "expired", header: "Expired", align: "end", cell: ({ expired_usd }) => <Money usd={expired_usd} /> },
  {
    id: "sources",
    header: "By source",
    cell: ({ sources }) =>
      sources.length > 0 && (
        <span className={styles.named}>
          {sources.map(({ source, granted_usd, expired_usd }) => (
            <small key={source}>
              {source}: <Money usd={granted_usd} /> granted, <Money usd={expired_usd} /> expired
            </small>
          ))}
        </span>
      ),
  },
];
