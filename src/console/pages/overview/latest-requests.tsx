import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatMs } from "../../format.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { latestQuery } from "./queries.ts";

type Row = Awaited<ReturnType<NonNullable<ReturnType<typeof latestQuery>["queryFn"]>>>["items"][number];

const COLUMNS: readonly Column<Row>[] = [
  { id: "at", header: "Time", isNarrow: true, cell: ({ at }) => <Time at={at} as="relative" /> },
  { id: "model", header: "Model", cell: ({ model }) => model },
  { id: "key", header: "Key", cell: ({ key_name, key_id }) => key_name ?? key_id },
  { id: "total", header: "Duration", align: "end", cell: ({ total_ms }) => formatMs(total_ms) },
  {
    id: "cost",
    header: "Charge",
    align: "end",
    cell: ({ charged_usd }) => <Money usd={charged_usd} isExact />,
  },
];

/** The 5 newest requests; each leads to its receipt. */
export function LatestRequests({ account }: { readonly account: string }) {
  const { data, error, refetch } = useQuery(latestQuery(account));
  return (
    <Panel
      title="Latest requests"
      isFlush
      actions={
        <Link to="/accounts/$account/requests" params={{ account }}>
          All requests
        </Link>
      }
    >
      <DataTable
        caption="Latest requests"
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({
          to: "/accounts/$account/requests/$request",
          params: { account, request: id },
        })}
        empty={<Empty icon="requests" title="No requests yet" />}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
      />
    </Panel>
  );
}
