import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ActionDialog, Confirm } from "../../parts/dialog.tsx";
import { Failure, Field } from "../../parts/field.tsx";
import { buttonColumn, ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { registerPasskey } from "../../passkeys.ts";
import { describeProblem, signInWaysQuery, type SignInWays as Ways } from "../../queries/sign-in-ways.ts";
import { useAction } from "../../use-action.ts";
import styles from "./profile.module.css";
import { SecondFactor } from "./second-factor.tsx";

const route = getRouteApi("/shell/profile");
const KEY = signInWaysQuery().queryKey;

/** Passkeys, identities at providers, and the second factor of the password. */
export function SignInWays() {
  const { data: ways } = useQuery(signInWaysQuery());
  if (!ways) return null;
  return (
    <>
      {(ways.passkeys_available || ways.passkeys.length > 0) && <Passkeys ways={ways} />}
      {(ways.providers.length > 0 || ways.identities.length > 0) && <Providers ways={ways} />}
      {ways.password && <SecondFactor ways={ways} />}
    </>
  );
}

type Passkey = Ways["passkeys"][number];

function Passkeys({ ways }: { readonly ways: Ways }) {
  const [isAdding, setIsAdding] = useState(false);
  const [removed, setRemoved] = useState<Passkey>();
  const columns: readonly Column<Passkey>[] = [
    {
      id: "name",
      order: ({ name }) => name,
      header: "Passkey",
      cell: ({ name, synced }) => (
        <span className={styles.agent}>
          {name}
          <small>{synced ? "On several devices" : "On one device"}</small>
        </span>
      ),
    },
    {
      id: "created",
      order: ({ created_at }) => created_at,
      header: "Added",
      cell: ({ created_at }) => <Time at={created_at} as="date" />,
    },
    {
      id: "used",
      order: ({ last_used_at }) => last_used_at,
      header: "Last used",
      cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} as="relative" /> : "Never"),
    },
    buttonColumn<Passkey>({ text: "Remove", label: ({ name }) => `Remove ${name}`, onPress: setRemoved }),
  ];
  return (
    <Panel
      title="Passkeys"
      note="Sign in with the fingerprint, face or PIN of a device, or with a security key."
      isFlush
      actions={
        ways.passkeys_available && (
          <Button icon="plus" onClick={() => setIsAdding(true)}>
            Add a passkey
          </Button>
        )
      }
    >
      <ListTable
        name="passkeys"
        caption="Passkeys"
        columns={columns}
        rows={ways.passkeys}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="key" title="No passkeys">
            A passkey cannot be guessed, or typed into a false page.
          </Empty>
        }
      />
      {isAdding && <NewPasskey onClose={() => setIsAdding(false)} />}
      {removed && <RemovePasskey passkey={removed} onClose={() => setRemoved(undefined)} />}
    </Panel>
  );
}

function NewPasskey({ onClose }: { readonly onClose: () => void }) {
  return (
    <ActionDialog
      title="Add a passkey"
      note="Your browser asks where to keep it."
      action="Go on"
      act={({ name = "" }) => registerPasskey(name)}
      renews={[KEY]}
      done="Passkey added"
      onClose={onClose}
    >
      <Field label="Name" name="name" hint="Such as the device." maxLength={100} required />
    </ActionDialog>
  );
}

function RemovePasskey({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) {
  return (
    <Confirm
      title={`Remove ${passkey.name}?`}
      note="It signs you in no more. Delete it on the device as well."
      action="Remove"
      isDanger
      act={() => call(() => api.me.passkeys({ passkey: passkey.id }).delete())}
      renews={[KEY]}
      done="Passkey removed"
      onClose={onClose}
    />
  );
}

type Identity = Ways["identities"][number];

function Providers({ ways }: { readonly ways: Ways }) {
  const { problem } = route.useSearch();
  const [unlinked, setUnlinked] = useState<Identity>();
  const link = useAction({
    act: (provider: string) => call(() => api.me.identities.post({ provider })),
    onDone: ({ location: address }) => location.assign(address),
  });
  const failure = describeProblem(problem);
  const columns: readonly Column<Identity>[] = [
    {
      id: "name",
      header: "Provider",
      cell: ({ name, email }) => (
        <span className={styles.agent}>
          {name}
          <small>{email ?? "No address"}</small>
        </span>
      ),
    },
    { id: "created", header: "Linked", cell: ({ created_at }) => <Time at={created_at} as="date" /> },
    { id: "used", header: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} as="relative" /> },
    buttonColumn<Identity>({ text: "Unlink", label: ({ name }) => `Unlink ${name}`, onPress: setUnlinked }),
  ];
  return (
    <Panel
      title="Providers"
      note="Sign in with an account that you have elsewhere."
      isFlush
      actions={ways.providers.map(({ id, name }) => (
        <Button
          key={id}
          icon="link"
          isBusy={link.isPending && link.variables === id}
          onClick={() => link.mutate(id)}
        >{`Link ${name}`}</Button>
      ))}
    >
      {failure && <Failure error={new Error(failure)} />}
      <DataTable
        caption="Providers"
        columns={columns}
        rows={ways.identities}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="link" title="Nothing is linked">
            {null}
          </Empty>
        }
      />
      {unlinked && <Unlink identity={unlinked} onClose={() => setUnlinked(undefined)} />}
    </Panel>
  );
}

function Unlink({ identity, onClose }: { readonly identity: Identity; readonly onClose: () => void }) {
  return (
    <Confirm
      title={`Unlink ${identity.name}?`}
      note="Sessions that it opened end, with the roles that its groups gave."
      action="Unlink"
      isDanger
      act={() => call(() => api.me.identities({ identity: identity.id }).delete())}
      renews={[KEY]}
      done="Provider unlinked"
      onClose={onClose}
    />
  );
}
