import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { type Column, DataTable, Pager } from "../../parts/data-table.tsx";
import { Select } from "../../parts/filters.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type Credit, creditsQuery, type WalletSearch } from "../../queries/wallet.ts";
import { withSearch } from "../../search.ts";

const SHOWN = [
  { value: "live", text: "with money left" },
  { value: "all", text: "all" },
];

const STATES = {
  live: "good",
  ended: "warn",
  spent: "neutral",
} as const satisfies Record<Credit["state"], Tone>;

interface CreditsProps {
  readonly account: string;
  readonly search: WalletSearch;
}

/** What the money of the wallet is made of: what is left of which credit, until when. */
export function Credits({ account, search }: CreditsProps) {
  const list = useQuery(creditsQuery(account, search));
  const navigate = useNavigate();
  const isAll = search.credits === "all";
  const choose = (next: string) =>
    void navigate({
      to: ".",
      search: withSearch({ credits: next === "all" ? next : undefined, page: undefined }),
    });
  return (
    <>
      <div className={stack.filters}>
        <Select label="Credits" value={isAll ? "all" : "live"} options={SHOWN} onChange={choose} />
        <span className={stack.soft}>
          {isAll ? "Newest first" : "In the order of spending: what ends first is spent first"}
        </span>
      </div>
      <Panel isFlush>
        <DataTable
          caption="Credits of the wallet"
          columns={isAll ? [...COLUMNS, STATE] : COLUMNS}
          rowKey={({ seq }) => String(seq)}
          empty={
            <Empty icon="wallet" title={isAll ? "No credit yet" : "No credit has money left"}>
              A top-up, a redeemed code or a late refund grants one.
            </Empty>
          }
          query={list}
          footer={<Pager next={list.data?.next ?? null} isNewestFirst />}
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Credit>[] = [
  { id: "source", header: "Source", isNarrow: true, cell: ({ source }) => source },
  {
    id: "id",
    header: "Credit",
    cell: ({ id, created_at }) => (
      <span className={stack.named}>
        <code>{id}</code>
        <small>
          granted <Time at={created_at} as="date" />
        </small>
      </span>
    ),
  },
  { id: "left", header: "Left", align: "end", cell: ({ left_usd }) => <Money usd={left_usd} isAligned /> },
  { id: "amount", header: "Of", align: "end", cell: ({ amount_usd }) => <Money usd={amount_usd} /> },
  { id: "expired", header: "Expired", align: "end", cell: ({ expired_usd }) => <Money usd={expired_usd} /> },
  {
    id: "ends",
    header: "Ends",
    isNarrow: true,
    cell: ({ expires_at }) =>
      expires_at ? <Time at={expires_at} /> : <span className={stack.soft}>never</span>,
  },
];

const STATE: Column<Credit> = {
  id: "state",
  header: "State",
  isNarrow: true,
  cell: ({ state }) => <Badge tone={STATES[state]}>{state}</Badge>,
};
