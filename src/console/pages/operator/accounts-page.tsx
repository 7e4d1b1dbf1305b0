import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCount, readUsd, withPoint } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, Pager, Whole } from "../../parts/data-table.tsx";
import { ActionDialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { SearchField } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Menu } from "../../parts/menu.tsx";
import { Available, Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { ACCOUNTS_KEY, accountsQuery, type ListedAccount } from "../../queries/operator.ts";
import { meQuery } from "../../session.ts";
import { useIdempotencyKey } from "../../use-action.ts";
import { AccountDialog, type AccountTask } from "./account-dialogs.tsx";

const route = getRouteApi("/shell/operator/accounts");

/** Every account of the platform: its money, its use, and what an operator may do with it. */
export function OperatorAccountsPage() {
  const search = route.useSearch();
  const [task, setTask] = useState<AccountTask>();
  const [isCreating, setIsCreating] = useState(false);
  const list = useQuery(accountsQuery(search));
  return (
    <div className={styles.page}>
      <PageHeader title="Accounts" note="Every account of this platform.">
        <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
          New account
        </Button>
      </PageHeader>
      <Panel isFlush>
        <ListTable
          caption="Accounts"
          filters={<SearchField name="q" value={search.q} label="Name, id or e-mail" />}
          columns={columnsWith(setTask)}
          rowKey={({ id }) => id}
          empty={
            <Empty
              icon={search.q ? "search" : "accounts"}
              title={search.q ? "No account matches" : "No account yet"}
            >
              {search.q ? "Names, ids and e-mail addresses are searched." : "Create the first one."}
            </Empty>
          }
          query={list}
          footer={<Pager next={list.data?.next ?? null} />}
        />
      </Panel>
      {task && <AccountDialog task={task} onClose={() => setTask(undefined)} />}
      {isCreating && <NewAccount onClose={() => setIsCreating(false)} />}
    </div>
  );
}

function columnsWith(start: (task: AccountTask) => void): readonly Column<ListedAccount>[] {
  return [
    {
      id: "name",
      order: "server",
      header: "Account",
      cell: ({ name, id, email, state, markup }) => (
        <span className={styles.named} title={id}>
          <span className={styles.line}>
            <span>{name}</span>
            {markup !== null && <Badge>× {withPoint(markup)}</Badge>}
            {state === "suspended" && <Badge tone="bad">suspended</Badge>}
          </span>
          <small>{email ?? <Whole>{id}</Whole>}</small>
        </span>
      ),
    },
    ...MONEY,
    {
      id: "actions",
      header: "",
      align: "end",
      cell: (account) => (
        <Menu
          label={`Actions of account ${account.name}`}
          items={[
            { text: "Add credit…", icon: "plus", onSelect: () => start({ kind: "credit", account }) },
            {
              text: "Correct the balance…",
              icon: "wallet",
              onSelect: () => start({ kind: "correct", account }),
            },
            { text: "Refund a request…", icon: "wallet", onSelect: () => start({ kind: "refund", account }) },
            { text: "Set the markup…", icon: "usage", onSelect: () => start({ kind: "markup", account }) },
            {
              text: "Subscribe to a plan…",
              icon: "code",
              onSelect: () => start({ kind: "subscribe", account }),
            },
            { text: "Act inside…", icon: "person", onSelect: () => start({ kind: "act", account }) },
            null,
            account.state === "suspended"
              ? { text: "Resume…", icon: "play", onSelect: () => start({ kind: "resume", account }) }
              : {
                  text: "Suspend…",
                  icon: "pause",
                  isDanger: true,
                  onSelect: () => start({ kind: "suspend", account }),
                },
          ]}
        />
      ),
    },
  ];
}

const MONEY: readonly Column<ListedAccount>[] = [
  {
    id: "available",
    order: "server",
    header: "Available",
    align: "end",
    cell: ({ available_usd, held_usd }) => (
      <span className={styles.named}>
        <span>
          <Available usd={available_usd} />
        </span>
        {readUsd(held_usd) > 0n && (
          <small>
            <Money usd={held_usd} /> held
          </small>
        )}
      </span>
    ),
  },
  {
    id: "spent",
    order: "server",
    header: "Spent in 30 d",
    align: "end",
    cell: ({ spent_30d_usd }) => <Money usd={spent_30d_usd} />,
  },
  {
    id: "requests",
    order: "server",
    header: "Requests in 30 d",
    align: "end",
    cell: ({ requests_30d }) => formatCount(requests_30d),
  },
  { id: "keys", header: "Keys", align: "end", cell: ({ keys }) => formatCount(keys) },
  {
    id: "used",
    header: "Last request",
    isNarrow: true,
    cell: ({ last_request_at }) =>
      last_request_at ? (
        <Time at={last_request_at} as="relative" />
      ) : (
        <span className={styles.soft}>never</span>
      ),
  },
];

/** Creates an account whose first owner is the operator. */
function NewAccount({ onClose }: { readonly onClose: () => void }) {
  const headersFor = useIdempotencyKey();
  return (
    <ActionDialog
      title="New account"
      note="You become its first owner, and can invite others. Its wallet is empty."
      action="Create account"
      act={({ name = "", email = "" }) => {
        const body = { name: name.trim(), ...(email && { email }) };
        return call(() => api.accounts.post(body, { headers: headersFor(body) }));
      }}
      renews={[ACCOUNTS_KEY, meQuery.queryKey]}
      done="Account created"
      onClose={onClose}
    >
      <Field label="Name" name="name" maxLength={100} autoComplete="off" required />
      <Field
        label="E-mail of the account"
        name="email"
        type="email"
        hint="Where to reach its owners. Statements show it."
        maxLength={254}
        autoComplete="off"
        isOptional
      />
    </ActionDialog>
  );
}
