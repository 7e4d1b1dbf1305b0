import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatCount, readUsd } from "../../format.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Icon } from "../../parts/icons.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Statement, statementsQuery } from "../../queries/wallet.ts";
import { formatMonth } from "../../times.ts";
import styles from "./wallet.module.css";

/** One statement per UTC month. Its lines sum to the change of balance. */
export function Statements({ account }: { readonly account: string }) {
  const list = useQuery(statementsQuery(account));
  return (
    <Panel isFlush>
      <ListTable
        name="statements"
        caption="Statements by month"
        columns={statementColumns(account)}
        rowKey={({ month }) => month}
        empty={<Empty icon="wallet" title="No statement yet" />}
        query={list}
      />
    </Panel>
  );
}

function statementColumns(account: string): readonly Column<Statement>[] {
  return [
    {
      id: "month",
      order: ({ month }) => month,
      header: "Month (UTC)",
      cell: ({ month }) => (
        <Link to="/accounts/$account/statements/$month" params={{ account, month }}>
          {formatMonth(month)}
        </Link>
      ),
    },
    {
      id: "opening",
      order: (row) => readUsd(row.opening_usd),
      header: "Opening",
      align: "end",
      cell: (row) => <Money usd={row.opening_usd} />,
    },
    {
      id: "closing",
      order: (row) => readUsd(row.closing_usd),
      header: "Closing",
      align: "end",
      cell: (row) => <Money usd={row.closing_usd} />,
    },
    {
      id: "lines",
      order: ({ lines }) => lines,
      header: "Lines",
      align: "end",
      cell: ({ lines }) => formatCount(lines),
    },
    {
      id: "file",
      header: "Files",
      isNarrow: true,
      cell: ({ month }) => (
        <span className={styles.files}>
          <StatementFile account={account} query={{ month }} text="CSV" />
          <StatementFile account={account} query={{ month, by: "project" }} text="by project" />
          <StatementFile account={account} query={{ month, by: "member" }} text="by member" />
        </span>
      ),
    },
  ];
}

interface StatementFileProps {
  readonly account: string;
  /** The lines of a split statement sum to the whole one. */
  readonly query: { readonly month: string; readonly by?: "project" | "member" };
  readonly text: string;
}

function StatementFile({ account, query, text }: StatementFileProps) {
  const path = `/console/api/accounts/${encodeURIComponent(account)}/wallet/statement.csv`;
  return (
    <a
      className={styles.file}
      href={`${path}?${new URLSearchParams(query)}`}
      download
      aria-label={`${text} of ${query.month}`}
    >
      <Icon name="download" /> {text}
    </a>
  );
}
