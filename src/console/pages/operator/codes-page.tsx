import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { plural } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, Pager } from "../../parts/data-table.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { ChoiceFilter, SearchField } from "../../parts/filters.tsx";
import { buttonColumn, ListTable } from "../../parts/list-table.tsx";
import { Empty, NoMatch } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { CODE_STATES, CODES_KEY, type Code, codesQuery } from "../../queries/operator.ts";
import { NewCodes } from "./new-codes.tsx";

const route = getRouteApi("/shell/operator/codes");

const STATES = {
  open: "good",
  redeemed: "info",
  expired: "neutral",
  revoked: "neutral",
} as const satisfies Record<Code["state"], Tone>;

/** Codes that people redeem for credit. */
export function OperatorCodesPage() {
  const search = route.useSearch();
  const [isCreating, setIsCreating] = useState(false);
  const [revoked, setRevoked] = useState<Code>();
  const list = useQuery(codesQuery(search));
  const create = (
    <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
      Create codes
    </Button>
  );
  const revoke = buttonColumn<Code>({
    text: "Revoke",
    label: ({ hint }) => `Revoke code ${hint}`,
    isDanger: true,
    isShown: ({ state }) => state === "open",
    onPress: setRevoked,
  });
  const isFiltered = Boolean(search.q || search.state || search.page);
  const isEmpty = list.data?.items.length === 0 && !isFiltered;
  return (
    <div className={styles.page}>
      <PageHeader title="Redeem codes" note="A code credits one account, once. Only its digest is stored.">
        {!isEmpty && create}
      </PageHeader>
      <Panel isFlush>
        <ListTable
          caption="Redeem codes"
          filters={
            <>
              <ChoiceFilter label="State" name="state" usual="any" options={CODE_STATES} />
              <SearchField name="q" value={search.q} label="Code, note or account" />
            </>
          }
          columns={[...COLUMNS, revoke]}
          rowKey={({ id }) => id}
          empty={
            isFiltered ? (
              <NoMatch filters={["state"]} />
            ) : (
              <Empty icon="code" title="No code yet" actions={create}>
                An owner redeems a code on the page of the wallet.
              </Empty>
            )
          }
          query={list}
          footer={<Pager next={list.data?.next ?? null} />}
        />
      </Panel>
      {isCreating && <NewCodes onClose={() => setIsCreating(false)} />}
      {revoked && <Revoke code={revoked} onClose={() => setRevoked(undefined)} />}
    </div>
  );
}

const COLUMNS: readonly Column<Code>[] = [
  {
    id: "hint",
    header: "Code",
    cell: ({ hint, note, source, credit_days }) => (
      <span className={styles.named}>
        <code>{hint}…</code>
        <small>
          {[note, credit_days === null ? source : `${source} for ${plural(credit_days, "day")}`]
            .filter(Boolean)
            .join(" · ")}
        </small>
      </span>
    ),
  },
  {
    id: "amount",
    order: "server",
    header: "Amount",
    align: "end",
    cell: ({ amount_usd }) => <Money usd={amount_usd} />,
  },
  { id: "state", header: "State", cell: ({ state }) => <Badge tone={STATES[state]}>{state}</Badge> },
  {
    id: "redeemed",
    order: "server",
    first: "descending",
    header: "Redeemed by",
    cell: ({ account_id, account_name, redeemed_at }) =>
      account_id === null ? (
        "–"
      ) : (
        <span className={styles.named}>
          {account_name ?? account_id}
          <small>
            <Time at={redeemed_at} />
          </small>
        </span>
      ),
  },
  {
    id: "created",
    order: "server",
    first: "descending",
    header: "Created",
    isNarrow: true,
    cell: ({ created_at }) => <Time at={created_at} as="date" />,
  },
  {
    id: "expires",
    order: "server",
    header: "Expires",
    isNarrow: true,
    cell: ({ expires_at }) =>
      expires_at ? <Time at={expires_at} as="date" /> : <span className={styles.soft}>never</span>,
  },
];

function Revoke({ code, onClose }: { readonly code: Code; readonly onClose: () => void }) {
  return (
    <Confirm
      title={`Revoke code ${code.hint}…`}
      note="Nobody can redeem it any more. This cannot be undone."
      action="Revoke"
      isDanger
      act={() => call(() => api.operator.codes({ code: code.id }).delete())}
      renews={[CODES_KEY]}
      done="Code revoked"
      onClose={onClose}
    />
  );
}
