import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Menu } from "../../parts/menu.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { useMay, useMe } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { Invite } from "./invite.tsx";
import { MemberDialog, type MemberTask } from "./member-dialogs.tsx";
import { type Invitation, invitationsQuery, type Member, membersQuery } from "./queries.ts";

const route = getRouteApi("/shell/accounts/$account/team");

/** Who belongs to the account, and who is invited. */
export function TeamPage() {
  const { account } = route.useParams();
  const { person: me } = useMe();
  const mayWrite = useMay("members.write");
  const [task, setTask] = useState<MemberTask>();
  const [isInviting, setIsInviting] = useState(false);
  const { data, error, refetch } = useQuery(membersQuery(account));
  return (
    <div className={styles.page}>
      <PageHeader title="Team" note="Owners do everything, developers use keys of their own, viewers read.">
        {mayWrite && (
          <Button icon="plus" look="primary" onClick={() => setIsInviting(true)}>
            Invite a person
          </Button>
        )}
      </PageHeader>
      <Panel title="Members" isFlush>
        <DataTable
          caption="Members"
          columns={[...columnsFor(me.id), ...(mayWrite ? [actionsColumn(setTask)] : [])]}
          rows={data?.items}
          rowKey={({ person_id }) => person_id}
          empty={<Empty icon="team" title="Nobody belongs to this account yet" />}
          error={data ? undefined : error}
          onRetry={() => void refetch()}
          skeletonRows={3}
        />
      </Panel>
      <Invitations account={account} mayWrite={mayWrite} />
      {task && <MemberDialog account={account} task={task} onClose={() => setTask(undefined)} />}
      {isInviting && <Invite account={account} onClose={() => setIsInviting(false)} />}
    </div>
  );
}

function columnsFor(myId: string): readonly Column<Member>[] {
  return [
    {
      id: "name",
      header: "Person",
      cell: ({ name, email, person_id }) => (
        <span className={styles.named}>
          <span className={styles.line}>
            {name}
            {person_id === myId && <Badge>you</Badge>}
          </span>
          <small>{email}</small>
        </span>
      ),
    },
    { id: "role", header: "Role", cell: ({ role }) => role },
    { id: "joined", header: "Joined", cell: ({ joined_at }) => <Time at={joined_at} as="date" /> },
    {
      id: "seen",
      header: "Last seen",
      cell: ({ last_seen_at }) => (last_seen_at ? <Time at={last_seen_at} as="relative" /> : "never"),
    },
  ];
}

function actionsColumn(start: (task: MemberTask) => void): Column<Member> {
  return {
    id: "actions",
    header: "",
    align: "end",
    cell: (member) => (
      <Menu
        label={`Actions of ${member.name}`}
        items={[
          { text: "Change the role…", icon: "person", onSelect: () => start({ kind: "role", member }) },
          {
            text: "Remove…",
            icon: "close",
            isDanger: true,
            onSelect: () => start({ kind: "remove", member }),
          },
        ]}
      />
    ),
  };
}

function Invitations({ account, mayWrite }: { readonly account: string; readonly mayWrite: boolean }) {
  const { data, error, refetch } = useQuery(invitationsQuery(account));
  const revoke = useAction({
    act: (invitation: string) => call(() => api.accounts({ account }).invitations({ invitation }).delete()),
    renews: [invitationsQuery(account).queryKey],
    done: "Invitation revoked",
  });
  const actions: Column<Invitation> = {
    id: "actions",
    header: "",
    align: "end",
    cell: ({ id, email, state }) =>
      state === "open" && (
        <Button
          size="small"
          look="danger"
          aria-label={`Revoke the invitation of ${email}`}
          onClick={() => revoke.mutate(id)}
        >
          Revoke
        </Button>
      ),
  };
  return (
    <Panel title="Invitations" isFlush>
      <DataTable
        caption="Invitations"
        columns={mayWrite ? [...INVITATIONS, actions] : INVITATIONS}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={<Empty icon="team" title="Nobody is invited" />}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        skeletonRows={1}
      />
    </Panel>
  );
}

const INVITATIONS: readonly Column<Invitation>[] = [
  { id: "email", header: "E-mail", cell: ({ email }) => email },
  { id: "role", header: "Role", cell: ({ role }) => role },
  {
    id: "state",
    header: "State",
    cell: ({ state }) => <Badge tone={state === "open" ? "info" : "neutral"}>{state}</Badge>,
  },
  { id: "sent", header: "Sent", cell: ({ created_at }) => <Time at={created_at} as="date" /> },
  { id: "expires", header: "Expires", cell: ({ expires_at }) => <Time at={expires_at} as="date" /> },
];
