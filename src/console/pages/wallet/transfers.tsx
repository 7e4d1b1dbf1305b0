import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Money } from "../../parts/money.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Select } from "../../parts/select.tsx";
import stack from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import {
  isTransferKind,
  TRANSFER_KINDS,
  type Transfer,
  transfersQuery,
  USUAL_RANGE,
  type WalletSearch,
} from "./queries.ts";
import styles from "./wallet.module.css";

const TONES: Readonly<Record<Transfer["kind"], Tone>> = {
  top_up: "good",
  correction: "bad",
  refund: "info",
  settlement: "neutral",
  expiry_capture: "warn",
  late_settlement: "warn",
  charge: "neutral",
};
const KIND_OPTIONS = [
  { value: "any", text: "any" },
  ...Object.entries(TRANSFER_KINDS).map(([value, text]) => ({ value, text })),
];

interface TransfersProps {
  readonly account: string;
  readonly search: WalletSearch;
}

/** Every entry of the wallet, newest first, with the balance after it. */
export function Transfers({ account, search }: TransfersProps) {
  const { data, error, refetch } = useQuery(transfersQuery(account, search));
  const navigate = useNavigate();
  const { kind, page } = search;
  const choose = (next: string) =>
    void navigate({
      to: ".",
      search: (all) => ({ ...all, kind: next === "any" ? undefined : next, page: undefined }) as never,
    });
  return (
    <>
      <div className={stack.filters}>
        <RangePicker usual={USUAL_RANGE} />
        <Select
          label="Kind"
          value={isTransferKind(kind) ? kind : "any"}
          options={KIND_OPTIONS}
          onChange={choose}
        />
      </div>
      <Panel isFlush>
        <DataTable
          caption="Entries of the wallet"
          columns={columnsOf(account)}
          rows={data?.items}
          rowKey={({ seq }) => String(seq)}
          empty={
            data?.next || page ? (
              <Empty icon="wallet" title="None among the entries that were searched">
                <Pager next={data?.next ?? null} isNewestFirst />
              </Empty>
            ) : (
              <Empty
                icon="wallet"
                title={isTransferKind(kind) ? "No such entry in this range" : "No entry in this range"}
              >
                Choose a longer range. A top-up is the first entry of a wallet.
              </Empty>
            )
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
      cell: ({ kind }) => <Badge tone={TONES[kind]}>{TRANSFER_KINDS[kind]}</Badge>,
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
