import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Money } from "../../parts/money.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Time } from "../../parts/time.tsx";
import { type Transfer, transfersQuery, USUAL_RANGE, type WalletSearch } from "./queries.ts";
import styles from "./wallet.module.css";

const KINDS: Readonly<Record<Transfer["kind"], { readonly text: string; readonly tone: Tone }>> = {
  top_up: { text: "top-up", tone: "good" },
  correction: { text: "correction", tone: "bad" },
  refund: { text: "refund", tone: "info" },
  settlement: { text: "request", tone: "neutral" },
  expiry_capture: { text: "expired request", tone: "warn" },
  late_settlement: { text: "late request", tone: "warn" },
  charge: { text: "charge", tone: "neutral" },
};

interface TransfersProps {
  readonly account: string;
  readonly search: WalletSearch;
}

/** Every entry of the wallet, newest first, with the balance after it. */
export function Transfers({ account, search }: TransfersProps) {
  const { data, error, refetch } = useQuery(transfersQuery(account, search));
  return (
    <>
      <RangePicker usual={USUAL_RANGE} />
      <Panel isFlush>
        <DataTable
          caption="Entries of the wallet"
          columns={columnsOf(account)}
          rows={data?.items}
          rowKey={({ seq }) => String(seq)}
          empty={
            <Empty icon="wallet" title="No entry in this range">
              Choose a longer range. A top-up is the first entry of a wallet.
            </Empty>
          }
          error={data ? undefined : error}
          onRetry={() => void refetch()}
          skeletonRows={12}
          footer={<Pager next={data?.next ?? null} isNewestFirst />}
        />
      </Panel>
    </>
  );
}

function columnsOf(account: string): readonly Column<Transfer>[] {
  return [
    { id: "at", header: "Time", isNarrow: true, cell: ({ at }) => <Time at={at} as="second" /> },
    {
      id: "kind",
      header: "Kind",
      isNarrow: true,
      cell: ({ kind }) => <Badge tone={KINDS[kind].tone}>{KINDS[kind].text}</Badge>,
    },
    { id: "id", header: "For", cell: (transfer) => <Subject account={account} transfer={transfer} /> },
    {
      id: "amount",
      header: "Amount",
      align: "end",
      cell: ({ amount_usd }) => <Money usd={amount_usd} isAligned isSigned />,
    },
    {
      id: "after",
      header: "Balance after",
      align: "end",
      cell: ({ balance_after_usd }) => <Money usd={balance_after_usd} />,
    },
  ];
}

function Subject({ account, transfer }: { readonly account: string; readonly transfer: Transfer }) {
  const { request_id, id, reason } = transfer;
  if (request_id === null)
    return (
      <span className={styles.who}>
        <code>{id}</code> {reason}
      </span>
    );
  return (
    <Link
      to="/accounts/$account/requests/$request"
      params={{ account, request: request_id }}
      className={styles.who}
    >
      <code>{request_id}</code>
    </Link>
  );
}
