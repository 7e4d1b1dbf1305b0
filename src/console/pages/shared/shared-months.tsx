import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { formatCount } from "../../format.ts";
import { DownloadLink } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { formatMonth } from "../../times.ts";

interface MonthsProps {
  readonly token: string;
  readonly months: readonly string[];
}

const fetchMonths = (token: string, months: readonly string[]) =>
  Promise.all(months.map((month) => call(() => api.shared({ token }).months({ month }).get())));

type MonthRow = Awaited<ReturnType<typeof fetchMonths>>[number];

/** What the project of a link owes: its line in the statement of each month. */
export function SharedMonths({ token, months }: MonthsProps) {
  const query = useQuery({
    queryKey: ["shared", token, "months", ...months],
    queryFn: () => fetchMonths(token, months),
  });
  const { data } = query;
  return (
    <Panel
      title="By month"
      note="UTC months, as in the account's statement: charges and refunds count in the month of their booking."
      isFlush
    >
      <DataTable
        caption="What the project owes by month"
        columns={[...COLUMNS, fileColumn(token)]}
        rowKey={({ month }) => month}
        query={{ ...query, data: data && { items: data } }}
        empty={null}
        skeletonRows={months.length}
      />
    </Panel>
  );
}

function describeState({ is_running, is_complete }: MonthRow): string | undefined {
  if (is_running) return "running";
  return is_complete ? undefined : "some receipts are no longer kept";
}

const COLUMNS: readonly Column<MonthRow>[] = [
  {
    id: "month",
    header: "Month",
    cell: (row) => (
      <span className={styles.named}>
        {formatMonth(row.month)}
        <small>{describeState(row)}</small>
      </span>
    ),
  },
  { id: "charged", header: "Charged", align: "end", cell: ({ charged_usd }) => <Money usd={charged_usd} /> },
  {
    id: "refunded",
    header: "Refunded",
    align: "end",
    cell: ({ refunded_usd }) => <Money usd={refunded_usd} />,
  },
  { id: "bookings", header: "Bookings", align: "end", cell: ({ transfers }) => formatCount(transfers) },
];

function fileColumn(token: string): Column<MonthRow> {
  return {
    id: "file",
    header: "",
    align: "end",
    cell: ({ month }) => (
      <DownloadLink
        size="small"
        label={`CSV of ${month}`}
        href={`/console/api/shared/${encodeURIComponent(token)}/statement.csv?month=${month}`}
      >
        CSV
      </DownloadLink>
    ),
  };
}
