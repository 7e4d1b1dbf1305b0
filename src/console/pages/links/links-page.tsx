import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { capitalize } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { describeShown, NewLink, RevokeLink } from "../../parts/link-dialogs.tsx";
import { buttonColumn, ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { linksQuery, type SharedLink } from "../../queries/account.ts";
import { useMay } from "../../session.ts";

const route = getRouteApi("/shell/accounts/$account/links");

const COLUMNS: readonly Column<SharedLink>[] = [
  {
    id: "shows",
    order: titleOfShown,
    header: "Shows",
    cell: (link) => (
      <span className={styles.named}>
        {titleOfShown(link)}
        <small>{link.shows_names ? "names shown" : "names hidden"}</small>
      </span>
    ),
  },
  {
    id: "state",
    order: ({ state }) => state,
    header: "State",
    isNarrow: true,
    cell: ({ state }) => <Badge tone={state === "active" ? "good" : "neutral"}>{state}</Badge>,
  },
  {
    id: "created",
    order: ({ created_at }) => created_at,
    header: "Created",
    isNarrow: true,
    cell: ({ created_at, created_by }) => (
      <span className={styles.named}>
        <Time at={created_at} as="date" />
        <small>by {created_by}</small>
      </span>
    ),
  },
  {
    id: "expires",
    order: ({ expires_at }) => expires_at,
    header: "Expires",
    isNarrow: true,
    cell: ({ expires_at }) => <Time at={expires_at} />,
  },
];

function titleOfShown(link: SharedLink): string {
  return capitalize(link.key || link.project ? describeShown(link) : "whole account");
}

/** Read-only links to usage, for people without a session. */
export function LinksPage() {
  const { account } = route.useParams();
  const mayWrite = useMay("links.write");
  const [isCreating, setIsCreating] = useState(false);
  const [chosen, setChosen] = useState<SharedLink>();
  const list = useQuery(linksQuery(account));
  const revoke = buttonColumn<SharedLink>({
    text: "Revoke",
    label: (link) => `Revoke the link to ${describeShown(link)}`,
    isDanger: true,
    isShown: ({ state }) => state === "active",
    onPress: setChosen,
  });
  return (
    <div className={styles.page}>
      <PageHeader
        title="Shared links"
        note="Whoever has a link sees the usage of one key, one project or the account, and nothing else."
      >
        {mayWrite && (
          <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
            Create link
          </Button>
        )}
      </PageHeader>
      <Panel isFlush>
        <ListTable
          searchBy={(link) => [titleOfShown(link), link.created_by, link.state]}
          searchLabel="What it shows, state or person"
          caption="Shared links"
          columns={mayWrite ? [...COLUMNS, revoke] : COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <Empty icon="link" title="No link is shared">
              A link shows usage to somebody without an account, until it expires.
            </Empty>
          }
          query={list}
          skeletonRows={3}
        />
      </Panel>
      {isCreating && <NewLink account={account} onClose={() => setIsCreating(false)} />}
      {chosen && <RevokeLink account={account} link={chosen} onClose={() => setChosen(undefined)} />}
    </div>
  );
}
