import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { capitalize } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Menu } from "../../parts/menu.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type Member, membersQuery } from "../../queries/account.ts";
import { withSearch } from "../../search.ts";
import { useAccount, useMay, useMe } from "../../session.ts";
import { Invitations, Invite } from "./invitations.tsx";
import { MemberDialog, type MemberTask } from "./member-dialogs.tsx";
import { MemberLimits } from "./member-limits.tsx";

const route = getRouteApi("/shell/accounts/$account/team");

/** Who belongs to the account, and who is invited. */
export function TeamPage() {
  const { account } = route.useParams();
  const { person: me } = useMe();
  const mayWrite = useMay("members.write");
  const { role: ownRole } = useAccount();
  const [task, setTask] = useState<MemberTask>();
  const { invite: isInviting } = route.useSearch();
  const navigate = route.useNavigate();
  const setIsInviting = (isOpen: boolean) =>
    void navigate({ search: withSearch({ invite: isOpen ? "1" : undefined }), replace: true });
  const list = useQuery(membersQuery(account));
  const owners = list.data?.items.filter(({ role }) => role === "owner") ?? [];
  // The server gives an operator who acts inside an account with an owner the same answer.
  const mayGive = mayWrite && (ownRole !== "acting" || (list.data !== undefined && owners.length === 0));
  const lastOwnerId = owners.length === 1 ? owners[0]?.person_id : undefined;
  return (
    <div className={styles.page}>
      <PageHeader title="Team" note="Owners do everything, developers use keys of their own, viewers read.">
        {mayGive && (
          <Button icon="plus" look="primary" onClick={() => setIsInviting(true)}>
            Invite a person
          </Button>
        )}
      </PageHeader>
      <Panel
        title="Members"
        note={
          list.data && mayWrite && !mayGive
            ? "You act inside this account: its owners invite and give more rights. You can take rights."
            : lastOwnerId &&
              "The account keeps an owner: make another member owner before the only one leaves."
        }
        isFlush
      >
        <ListTable
          searchBy={({ name, email, role }) => [name, email, role]}
          searchLabel="Name, e-mail or role"
          caption="Members"
          columns={[...columnsFor(me.id), ...(mayWrite ? [actionsColumn(lastOwnerId, setTask)] : [])]}
          rowKey={({ person_id }) => person_id}
          empty={
            <Empty icon="team" title="Nobody belongs to this account yet">
              Invite its first owner.
            </Empty>
          }
          query={list}
          skeletonRows={3}
        />
      </Panel>
      <MemberLimits account={account} />
      <Invitations account={account} mayGive={mayGive} mayTake={mayWrite} />
      {task && (
        <MemberDialog account={account} task={task} mayGive={mayGive} onClose={() => setTask(undefined)} />
      )}
      {isInviting && mayGive && <Invite account={account} onClose={() => setIsInviting(false)} />}
    </div>
  );
}

function columnsFor(myId: string): readonly Column<Member>[] {
  return [
    {
      id: "name",
      order: ({ name }) => name,
      header: "Person",
      cell: ({ name, email, person_id }) => (
        <span className={styles.named}>
          <span className={styles.line}>
            <span>{name}</span>
            {person_id === myId && <Badge>you</Badge>}
          </span>
          <small>{email}</small>
        </span>
      ),
    },
    {
      id: "role",
      order: ({ role }) => role,
      header: "Role",
      cell: ({ role }) => <Badge tone={role === "owner" ? "accent" : "neutral"}>{capitalize(role)}</Badge>,
    },
    {
      id: "joined",
      order: ({ joined_at }) => joined_at,
      header: "Joined",
      cell: ({ joined_at }) => <Time at={joined_at} as="date" />,
    },
    {
      id: "seen",
      order: ({ last_seen_at }) => last_seen_at,
      header: "Last seen",
      cell: ({ last_seen_at }) =>
        last_seen_at ? (
          <Time at={last_seen_at} as="relative" />
        ) : (
          <span className={styles.soft}>signed out</span>
        ),
    },
  ];
}

function actionsColumn(lastOwnerId: string | undefined, start: (task: MemberTask) => void): Column<Member> {
  return {
    id: "actions",
    header: "",
    align: "end",
    cell: (member) => {
      const isDisabled = member.person_id === lastOwnerId;
      return (
        <Menu
          label={`Actions of ${member.name}`}
          items={[
            {
              text: "Change the role…",
              icon: "person",
              isDisabled,
              onSelect: () => start({ kind: "role", member }),
            },
            {
              text: "Remove…",
              icon: "close",
              isDanger: true,
              isDisabled,
              onSelect: () => start({ kind: "remove", member }),
            },
          ]}
        />
      );
    },
  };
}
