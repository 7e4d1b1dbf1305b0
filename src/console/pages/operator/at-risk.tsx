import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { formatCount, localise, plural } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { ChoiceFilter } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type AtRisk, atRiskQuery, isRiskKind, RISK_KINDS, type RiskKind } from "../../queries/figures.ts";

const route = getRouteApi("/shell/operator/figures");

const TONES: Readonly<Record<RiskKind, Tone>> = {
  below_zero: "bad",
  payment_failed: "bad",
  runs_out: "warn",
  cancelling: "warn",
  paused: "warn",
  silent: "neutral",
  unused_credit: "neutral",
};

/** Accounts with a subscription or an automatic top-up that may be lost, and every wallet below zero. */
export function AtRiskAccounts() {
  const { risk } = route.useSearch();
  const kind = isRiskKind(risk) ? risk : undefined;
  const list = useQuery(atRiskQuery(kind));
  const counts = new Map(list.data?.counts.map((each) => [each.kind, each.count]));
  const options = Object.entries(RISK_KINDS).map(([value, text]) => ({
    value,
    text: isRiskKind(value) && counts.has(value) ? `${text} (${formatCount(counts.get(value) ?? 0)})` : text,
  }));
  return (
    <Panel
      title="Accounts at risk"
      note={list.data && plural(list.data.total, "account")}
      actions={<ChoiceFilter label="Why" name="risk" usual="any reason" options={options} />}
      isFlush
    >
      <ListTable
        searchBy={({ account_name, account_id, plan, risks }) => [
          account_name,
          account_id,
          plan?.name,
          ...risks.map(({ kind }) => RISK_KINDS[kind]),
        ]}
        searchLabel="Account, plan or reason"
        caption="Accounts at risk"
        columns={RISK_COLUMNS}
        rowKey={({ account_id }) => account_id}
        empty={<Empty icon="check" title="No account is at risk" />}
        query={list}
      />
    </Panel>
  );
}

const RISK_COLUMNS: readonly Column<AtRisk>[] = [
  {
    id: "account",
    order: ({ account_name }) => account_name,
    header: "Account",
    cell: ({ account_id, account_name, plan }) => (
      <span className={styles.named}>
        <Link to="/accounts/$account/wallet" params={{ account: account_id }}>
          {account_name}
        </Link>
        {plan && <small>{plan.name}</small>}
      </span>
    ),
  },
  {
    id: "risks",
    header: "Why",
    cell: ({ risks }) => (
      <span className={styles.named}>
        {risks.map(({ kind, text }) => (
          <span key={kind}>
            <Badge tone={TONES[kind]}>{RISK_KINDS[kind]}</Badge> {localise(text)}
          </span>
        ))}
      </span>
    ),
  },
  {
    id: "next",
    order: ({ next_at }) => next_at,
    header: "Next period or end",
    isNarrow: true,
    cell: ({ next_at }) => <Time at={next_at} />,
  },
];
