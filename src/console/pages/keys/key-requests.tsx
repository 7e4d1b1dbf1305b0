import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatMs } from "../../format.ts";
import { outcomeOf } from "../../outcomes.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { MOVING_MS } from "../../queries/overview.ts";
import { type RequestRow, requestsQuery } from "../../queries/requests.ts";

const SHOWN_MAX = 8;

const COLUMNS: readonly Column<RequestRow>[] = [
  { id: "at", header: "Time", isNarrow: true, cell: ({ at }) => <Time at={at} as="relative" /> },
  { id: "model", header: "Model", cell: ({ model }) => model },
  {
    id: "outcome",
    header: "Outcome",
    cell: (row) => <Badge tone={outcomeOf(row).tone}>{outcomeOf(row).text}</Badge>,
  },
  { id: "total", header: "Total", align: "end", cell: ({ total_ms }) => formatMs(total_ms) },
  {
    id: "charge",
    header: "Charge",
    align: "end",
    cell: ({ charged_usd }) => <Money usd={charged_usd} isAligned />,
  },
];

/** The newest requests of a key. */
export function KeyRequests({ account, apiKey }: { readonly account: string; readonly apiKey: string }) {
  const list = useQuery({
    ...requestsQuery(account, { key: apiKey }),
    refetchInterval: MOVING_MS,
  });
  return (
    <Panel
      title="Latest requests"
      isFlush
      actions={
        <>
          <Link to="/accounts/$account/refusals" params={{ account }} search={{ key: apiKey }}>
            Refusals
          </Link>
          <Link to="/accounts/$account/requests" params={{ account }} search={{ key: apiKey }}>
            All requests
          </Link>
        </>
      }
    >
      <DataTable
        caption="Latest requests of this key"
        columns={COLUMNS}
        rows={list.data?.items.slice(0, SHOWN_MAX)}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({
          to: "/accounts/$account/requests/$request",
          params: { account, request: id },
        })}
        empty={
          <Empty icon="requests" title="No request yet">
            Take a snippet: the first request shows here.
          </Empty>
        }
        query={list}
      />
    </Panel>
  );
}
