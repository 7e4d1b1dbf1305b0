import { useQuery } from "@tanstack/react-query";
import { formatDuration } from "../../format.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Money } from "../../parts/money.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { type Hold, holdsQuery } from "./queries.ts";

const COLUMNS: readonly Column<Hold>[] = [
  { id: "request", header: "Request", cell: ({ request_id }) => <code>{request_id}</code> },
  { id: "model", header: "Model", cell: ({ model }) => model },
  { id: "key", header: "Key", cell: ({ key_name, key_id }) => key_name ?? key_id },
  {
    id: "age",
    header: "Age",
    align: "end",
    cell: ({ created_at }) => formatDuration(Date.now() - Date.parse(created_at)),
  },
  {
    id: "expires",
    header: "Expires",
    isNarrow: true,
    cell: ({ expires_at }) => <Time at={expires_at} as="second" />,
  },
  {
    id: "granted",
    header: "Held",
    align: "end",
    cell: ({ granted_usd }) => <Money usd={granted_usd} isAligned />,
  },
  {
    id: "accrued",
    header: "Spent so far",
    align: "end",
    cell: ({ accrued_usd }) => <Money usd={accrued_usd} isAligned />,
  },
];

/** The requests that hold money now. */
export function Holds({ account, page }: { readonly account: string; readonly page: string | undefined }) {
  const { data, error, refetch } = useQuery(holdsQuery(account, page));
  return (
    <Panel isFlush>
      <DataTable
        caption="Running requests that hold money"
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ request_id }) => request_id}
        rowLink={({ request_id }) => ({
          to: "/accounts/$account/requests/$request",
          params: { account, request: request_id },
        })}
        empty={
          <Empty icon="wallet" title="No request holds money now">
            Each request holds the most that it can cost. What it does not spend is released at its end.
          </Empty>
        }
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        footer={<Pager next={data?.next ?? null} isNewestFirst />}
      />
    </Panel>
  );
}
