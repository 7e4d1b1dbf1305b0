import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../format.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Statement, statementsQuery } from "./queries.ts";
import styles from "./wallet.module.css";

const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });

/** One statement per UTC month. Its lines sum to the change of balance. */
export function Statements({ account }: { readonly account: string }) {
  const { data, error, refetch } = useQuery(statementsQuery(account));
  return (
    <Panel isFlush>
      <DataTable
        caption="Statements by month"
        columns={columnsOf(account)}
        rows={data?.items}
        rowKey={({ month }) => month}
        empty={<Empty icon="wallet" title="No statement yet" />}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
      />
    </Panel>
  );
}

function columnsOf(account: string): readonly Column<Statement>[] {
  return [
    {
      id: "month",
      header: "Month (UTC)",
      cell: ({ month }) => MONTH.format(new Date(`${month}-01T00:00:00Z`)),
    },
    { id: "opening", header: "Opening", align: "end", cell: (row) => <Money usd={row.opening_usd} /> },
    { id: "closing", header: "Closing", align: "end", cell: (row) => <Money usd={row.closing_usd} /> },
    { id: "lines", header: "Lines", align: "end", cell: ({ lines }) => formatCount(lines) },
    {
      id: "file",
      header: "File",
      isNarrow: true,
      cell: ({ month }) => (
        <a className={styles.file} href={csvPath(account, month)} download={`statement-${month}.csv`}>
          <Icon name="download" /> CSV<span hidden> of {month}</span>
        </a>
      ),
    },
  ];
}

function csvPath(account: string, month: string): string {
  const query = new URLSearchParams({ month });
  return `/console/api/accounts/${encodeURIComponent(account)}/wallet/statement.csv?${query}`;
}
