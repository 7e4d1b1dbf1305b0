import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { ApiError, api, call } from "../../api.ts";
import { capitalize } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { ActionDialog } from "../../parts/dialog.tsx";
import { Failure, Field, Form, readForm } from "../../parts/field.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { NewPasswordField } from "../../parts/typed-fields.tsx";
import { signInWaysQuery } from "../../queries/sign-in-ways.ts";
import { type Me, meQuery, setupQuery, useMayCreateAccount, useMe } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import styles from "./profile.module.css";
import { Sessions } from "./sessions.tsx";
import { SignInWays } from "./sign-in-ways.tsx";

/** The person's own name, password, sessions and accounts. */
export function ProfilePage() {
  const { person } = useMe();
  const { data: ways } = useQuery(signInWaysQuery());
  return (
    <div className={stack.page}>
      <PageHeader title="Profile" note={person.email} />
      <div className={stack.columns}>
        <Details />
        {ways?.password !== false && <Password />}
      </div>
      <SignInWays />
      <Sessions />
      <div id="accounts">
        <Accounts />
      </div>
    </div>
  );
}

/** Name, and whether the e-mail address is proven. */
function Details() {
  const { person } = useMe();
  const { data: setup } = useQuery(setupQuery);
  const rename = useAction({
    act: (name: string) => call(() => api.me.patch({ name })),
    renews: [meQuery.queryKey],
    done: "Name changed",
    isForm: true,
  });
  const verify = useAction({
    act: () => call(() => api.me["email-verification"].post()),
    done: setup?.has_mail === false ? "A link is in the server's log" : `A link was sent to ${person.email}`,
  });
  return (
    <Panel
      title="Details"
      actions={
        person.email_verified ? (
          <Badge tone="good">Address verified</Badge>
        ) : (
          <Button isBusy={verify.isPending} onClick={() => verify.mutate()}>
            Verify the address
          </Button>
        )
      }
    >
      <div className={styles.form}>
        <Form error={rename.error} onSubmit={(event) => rename.mutate(readForm(event).name ?? "")}>
          <Failure error={rename.error} />
          <Field
            label="Name"
            name="name"
            autoComplete="name"
            defaultValue={person.name}
            maxLength={100}
            required
          />
          <Field label="E-mail" value={person.email} readOnly disabled />
          <Button type="submit" className={styles.submit} isBusy={rename.isPending}>
            Save
          </Button>
        </Form>
      </div>
    </Panel>
  );
}

interface Passwords {
  readonly current: string;
  readonly password: string;
}

/** Changes the password; every other session ends with it. */
function Password() {
  const { person } = useMe();
  const form = useRef<HTMLDivElement>(null);
  const change = useAction({
    act: (passwords: Passwords) => call(() => api.me.password.post(passwords)),
    renews: [meQuery.queryKey, ["me", "sessions"]],
    done: "Password changed. Other sessions have ended.",
    isForm: true,
    onDone: () => form.current?.querySelector("form")?.reset(),
  });
  const isWrong = change.error instanceof ApiError && change.error.code === "invalid_credentials";
  return (
    <Panel title="Password" note="All of your other sessions end with a change.">
      <div ref={form} className={styles.form}>
        <Form
          error={change.error}
          onSubmit={(event) => {
            const { current = "", password = "" } = readForm(event);
            change.mutate({ current, password });
          }}
        >
          {!isWrong && <Failure error={change.error} />}
          <input type="hidden" name="username" autoComplete="username" value={person.email} readOnly />
          <Field
            label="Present password"
            name="current"
            type="password"
            autoComplete="current-password"
            error={isWrong ? "This is not your present password." : undefined}
            required
          />
          <NewPasswordField />
          <Button type="submit" className={styles.submit} isBusy={change.isPending}>
            Change the password
          </Button>
        </Form>
      </div>
    </Panel>
  );
}

type Membership = Me["accounts"][number];

const COLUMNS: readonly Column<Membership>[] = [
  { id: "name", order: ({ name }) => name, header: "Account", cell: ({ name }) => name },
  { id: "role", order: ({ role }) => role, header: "Your role", cell: ({ role }) => capitalize(role) },
  {
    id: "state",
    header: "State",
    cell: ({ state }) => <Badge tone={state === "active" ? "good" : "bad"}>{state}</Badge>,
  },
];

/** The accounts that the person belongs to, and a new one. */
function Accounts() {
  const { accounts } = useMe();
  const [isOpen, setIsOpen] = useState(false);
  const mayCreate = useMayCreateAccount();
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
      <ListTable
        name="accounts"
        searchBy={({ name, role }) => [name, role]}
        searchLabel="Account"
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
  return (
    <ActionDialog
      title="New account"
      note="It has a wallet, keys and members of its own."
      action="Create account"
      act={({ name = "" }) =>
        call(() => api.accounts.post({ name }, { headers: { "idempotency-key": key } }))
      }
      renews={[meQuery.queryKey]}
      onDone={({ id }) => navigate({ to: "/accounts/$account", params: { account: id } })}
      onClose={onClose}
    >
      <Field label="Name" name="name" maxLength={100} required />
    </ActionDialog>
  );
}
