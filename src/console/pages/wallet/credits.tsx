import { useQuery } from "@tanstack/react-query";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { type Column, Pager, wholeName } from "../../parts/data-table.tsx";
import { ChoiceFilter, SearchField } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty, NoMatch } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type Credit, creditsQuery, type WalletSearch } from "../../queries/wallet.ts";

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
  const isAll = search.credits === "all";
  const usual = isAll ? "Newest first" : "In the order of spending: what ends first is spent first";
  return (
    <Panel isFlush>
      <ListTable
        caption="Credits of the wallet"
        filters={
          <>
            <SearchField name="q" value={search.q} label="Id or source" />
            <ChoiceFilter label="Credits" name="credits" usual="with money left" options={["all"]} />
            {!search.sort && <span className={stack.soft}>{usual}</span>}
          </>
        }
        columns={isAll ? [...COLUMNS, STATE] : COLUMNS}
        rowKey={({ seq }) => String(seq)}
        empty={
          search.q ? (
            <NoMatch />
          ) : (
            <Empty icon="wallet" title={isAll ? "No credit yet" : "No credit has money left"}>
              A top-up, a redeemed code or a late refund grants one.
            </Empty>
          )
        }
        query={list}
        footer={<Pager next={list.data?.next ?? null} isNewestFirst />}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<Credit>[] = [
  { id: "source", header: "Source", isNarrow: true, cell: ({ source }) => source },
  {
    id: "created",
    order: "server",
    first: "descending",
    header: "Credit",
    cell: ({ id, created_at }) => (
      <span className={stack.named}>
        <code>{wholeName(id)}</code>
        <small>
          granted <Time at={created_at} as="date" />
        </small>
      </span>
    ),
  },
  {
    id: "left",
    order: "server",
    header: "Left",
    align: "end",
    cell: ({ left_usd }) => <Money usd={left_usd} isAligned />,
  },
  {
    id: "amount",
    order: "server",
    header: "Of",
    align: "end",
    cell: ({ amount_usd }) => <Money usd={amount_usd} />,
  },
  {
    id: "expired",
    order: "server",
    header: "Expired",
    align: "end",
    cell: ({ expired_usd }) => <Money usd={expired_usd} />,
  },
  {
    id: "ends",
    order: "server",
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
