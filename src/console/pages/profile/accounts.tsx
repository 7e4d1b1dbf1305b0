import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Me, meQuery, setupQuery, useMe } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { titleOf } from "../team/queries.ts";

type Membership = Me["accounts"][number];

const COLUMNS: readonly Column<Membership>[] = [
  { id: "name", header: "Account", cell: ({ name }) => name },
  { id: "role", header: "Your role", cell: ({ role }) => titleOf(role) },
  {
    id: "state",
    header: "State",
    cell: ({ state }) => <Badge tone={state === "active" ? "good" : "bad"}>{state}</Badge>,
  },
];

/** The accounts that the person belongs to, and a new one. */
export function Accounts() {
  const { accounts, person } = useMe();
  const { data: setup } = useQuery(setupQuery);
  const [isOpen, setIsOpen] = useState(false);
  const mayCreate = person.is_operator || setup?.sign_up === "open";
  return (
    <Panel
      title="Accounts"
      isFlush
      actions={
        mayCreate && (
          <Button icon="plus" onClick={() => setIsOpen(true)}>
            New account
          </Button>
        )
      }
    >
      <DataTable
        caption="Accounts"
        columns={COLUMNS}
        rows={accounts}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: "/accounts/$account", params: { account: id } })}
        empty={
          <Empty icon="accounts" title="You belong to no account">
            Ask an owner of one for an invitation.
          </Empty>
        }
      />
      {isOpen && <NewAccount onClose={() => setIsOpen(false)} />}
    </Panel>
  );
}

function NewAccount({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  // One key for each opening of the dialog: a repeated press makes one account.
  const [key] = useState(() => crypto.randomUUID());
  const create = useAction({
    act: (name: string) => call(() => api.accounts.post({ name }, { headers: { "idempotency-key": key } })),
    renews: [meQuery.queryKey],
    isForm: true,
    onDone: ({ id }) => navigate({ to: "/accounts/$account", params: { account: id } }),
  });
  return (
    <FormDialog
      title="New account"
      note="It has a wallet, keys and members of its own."
      action="Create"
      call={create}
      onSubmit={({ name = "" }) => create.mutate(name)}
      onClose={onClose}
    >
      <Field label="Name" name="name" maxLength={100} required />
    </FormDialog>
  );
}
