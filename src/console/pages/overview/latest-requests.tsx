import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { outcomeOf } from "../requests/outcomes.ts";
import { latestQuery } from "./queries.ts";

type Row = Awaited<ReturnType<NonNullable<ReturnType<typeof latestQuery>["queryFn"]>>>["items"][number];

const COLUMNS: readonly Column<Row>[] = [
  { id: "at", header: "Time", isNarrow: true, cell: ({ at }) => <Time at={at} as="relative" /> },
  { id: "model", header: "Model", isNarrow: true, card: "bare", cell: ({ model }) => model },
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
    cell: (row) => <Badge tone={outcomeOf(row).tone}>{outcomeOf(row).text}</Badge>,
  },
  {
    id: "cost",
    header: "Charge",
    align: "end",
    card: "corner",
    cell: ({ charged_usd }) => <Money usd={charged_usd} isAligned />,
  },
];

/** The 5 newest requests; each leads to its receipt. */
export function LatestRequests({ account }: { readonly account: string }) {
  const { data, error, refetch } = useQuery(latestQuery(account));
  return (
    <Panel
      title="Latest requests"
      note="Each leads to its receipt: what it cost, and why."
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
