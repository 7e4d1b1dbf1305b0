import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCount } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, Pager } from "../../parts/data-table.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { SearchField } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Menu } from "../../parts/menu.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type ListSearch, PEOPLE_KEY, type Person, peopleQuery } from "../../queries/operator.ts";
import { useMe } from "../../session.ts";
import { WaysDialog } from "./ways-dialog.tsx";

const route = getRouteApi("/shell/operator/people");

interface Task {
  readonly kind: "operator" | "sessions" | "ways";
  readonly person: Person;
}

/** Everybody who can sign in. */
export function OperatorPeoplePage() {
  const search: ListSearch = route.useSearch();
  const { person: me } = useMe();
  const [task, setTask] = useState<Task>();
  const list = useQuery(peopleQuery(search));
  return (
    <div className={styles.page}>
      <PageHeader title="People" note="Everybody who can sign in to this console." />
      <Panel isFlush>
        <ListTable
          caption="People"
          filters={<SearchField name="q" value={search.q} label="Name or e-mail" />}
          columns={[...columnsFor(me.id), actionsColumn(me.id, setTask)]}
          rowKey={({ id }) => id}
          empty={<Empty icon="search" title="Nobody matches" />}
          query={list}
          footer={<Pager next={list.data?.next ?? null} />}
        />
      </Panel>
      {task?.kind === "operator" && (
        <OperatorDialog person={task.person} onClose={() => setTask(undefined)} />
      )}
      {task?.kind === "ways" && <WaysDialog person={task.person} onClose={() => setTask(undefined)} />}
      {task?.kind === "sessions" && (
        <SessionsDialog person={task.person} onClose={() => setTask(undefined)} />
      )}
    </div>
  );
}

const columnsFor = (myId: string): readonly Column<Person>[] => [
  {
    id: "name",
    order: "server",
    header: "Person",
    cell: ({ id, name, email, is_operator }) => (
      <span className={styles.named}>
        <span className={styles.line}>
          <span>{name}</span>
          {is_operator && <Badge tone="accent">operator</Badge>}
          {id === myId && <Badge>you</Badge>}
        </span>
        <small>{email}</small>
      </span>
    ),
  },
  {
    id: "verified",
    header: "Address",
    cell: ({ email_verified }) =>
      email_verified ? <Badge tone="good">verified</Badge> : <Badge>not verified</Badge>,
  },
  { id: "accounts", header: "Accounts", align: "end", cell: ({ accounts }) => formatCount(accounts) },
  { id: "sessions", header: "Sessions", align: "end", cell: ({ sessions }) => formatCount(sessions) },
  {
    id: "seen",
    header: "Last seen",
    isNarrow: true,
    cell: ({ last_seen_at }) =>
      last_seen_at ? (
        <Time at={last_seen_at} as="relative" />
      ) : (
        <span className={styles.soft}>signed out</span>
      ),
  },
  {
    id: "joined",
    header: "Joined",
    isNarrow: true,
    cell: ({ created_at }) => <Time at={created_at} as="date" />,
  },
];

function actionsColumn(myId: string, start: (task: Task) => void): Column<Person> {
  return {
    id: "actions",
    header: "",
    align: "end",
    cell: (person) => (
      <Menu
        label={`Actions of ${person.name}`}
        items={[
          {
            text: "End sessions…",
            icon: "leave",
            isDisabled: person.sessions === 0,
            onSelect: () => start({ kind: "sessions", person }),
          },
          {
            text: "Ways to sign in…",
            icon: "key",
            isDisabled: person.id === myId,
            onSelect: () => start({ kind: "ways", person }),
          },
          {
            text: person.is_operator ? "Withdraw operator…" : "Make operator…",
            icon: "person",
            isDanger: person.is_operator,
            isDisabled: person.id === myId,
            onSelect: () => start({ kind: "operator", person }),
          },
        ]}
      />
    ),
  };
}

interface DialogProps {
  readonly person: Person;
  readonly onClose: () => void;
}

function OperatorDialog({ person, onClose }: DialogProps) {
  const wanted = !person.is_operator;
  return (
    <Confirm
      title={wanted ? `Make ${person.name} an operator` : `Withdraw operator from ${person.name}`}
      note={
        wanted
          ? "Operators see every account, add credit, suspend accounts and act inside them. The person is signed out, and signs in again as an operator."
          : "The person is signed out, and keeps the accounts that they are a member of. Management keys of the platform that they made are revoked, with those made by them."
      }
      action={wanted ? "Make operator" : "Withdraw"}
      isDanger={!wanted}
      act={() =>
        call(() => api.operator.people({ person: person.id }).operator.post({ is_operator: wanted }))
      }
      renews={[PEOPLE_KEY]}
      done={wanted ? `${person.name} is an operator` : `${person.name} is no longer an operator`}
      onClose={onClose}
    />
  );
}

function SessionsDialog({ person, onClose }: DialogProps) {
  return (
    <Confirm
      title={`End the sessions of ${person.name}`}
      note="The person is signed out of every browser, and can sign in again."
      action="End sessions"
      isDanger
      act={() => call(() => api.operator.people({ person: person.id })["end-sessions"].post())}
      renews={[PEOPLE_KEY]}
      done={`${person.name} is signed out everywhere`}
      onClose={onClose}
    />
  );
}
