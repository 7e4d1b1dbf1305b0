import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatDuration } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable, Pager } from "../../parts/data-table.tsx";
import { ChoiceFilter } from "../../parts/filters.tsx";
import { ViewLink } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import stack from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toast.tsx";
import {
  fetchPayment,
  type Hold,
  holdsQuery,
  isTransferKind,
  TRANSFER_KINDS,
  type Transfer,
  transfersQuery,
  USUAL_RANGE,
  type WalletSearch,
} from "../../queries/wallet.ts";
import { useAction } from "../../use-action.ts";
import styles from "./wallet.module.css";

const TONES: Readonly<Record<Transfer["kind"], Tone>> = {
  top_up: "good",
  correction: "bad",
  refund: "info",
  settlement: "neutral",
  expiry_capture: "warn",
  late_settlement: "warn",
  charge: "neutral",
  credit_expiry: "warn",
};
const KIND_OPTIONS = Object.entries(TRANSFER_KINDS).map(([value, text]) => ({ value, text }));

interface TransfersProps {
  readonly account: string;
  readonly search: WalletSearch;
}

/** Every entry of the wallet, newest first, with the balance after it. */
export function Transfers({ account, search }: TransfersProps) {
  const list = useQuery(transfersQuery(account, search));
  const { kind, page } = search;
  return (
    <>
      <div className={stack.filters}>
        <RangePicker usual={USUAL_RANGE} />
        <ChoiceFilter label="Kind" name="kind" usual="any" options={KIND_OPTIONS} />
        <ViewLink />
      </div>
      <Panel isFlush>
        <DataTable
          caption="Entries of the wallet"
          columns={columnsOf(account)}
          rowKey={({ seq }) => String(seq)}
          empty={
            list.data?.next || page ? (
              <Empty icon="wallet" title="None among the entries that were searched">
                <Pager next={list.data?.next ?? null} isNewestFirst />
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
          query={list}
          skeletonRows={12}
          footer={<Pager next={list.data?.next ?? null} isNewestFirst />}
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
  const { request_id, id, kind, reason } = transfer;
  if (kind === "credit_expiry" && reason)
    return (
      <span className={styles.who}>
        what was left of <code>{reason}</code>
      </span>
    );
  if (request_id === null)
    return (
      <span className={styles.who}>
        <code>{id}</code> {reason}
        {transfer.has_receipt && <Receipt account={account} payment={id} />}
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

/** Opens Stripe's invoice of a payment, or its receipt where it has no invoice. */
function Receipt({ account, payment }: { readonly account: string; readonly payment: string }) {
  const open = useAction({
    act: () => fetchPayment(account, payment),
    onDone: ({ invoice_url, receipt_url }) => {
      const url = invoice_url ?? receipt_url;
      if (url === null) showToast("Stripe has no receipt of this payment yet.", "bad");
      else location.assign(url);
    },
  });
  return (
    <Button size="small" look="quiet" isBusy={open.isPending} onClick={() => open.mutate()}>
      Receipt
    </Button>
  );
}

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
  const list = useQuery(holdsQuery(account, page));
  return (
    <Panel isFlush>
      <DataTable
        caption="Running requests that hold money"
        columns={COLUMNS}
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
        query={list}
        footer={<Pager next={list.data?.next ?? null} isNewestFirst />}
      />
    </Panel>
  );
}
