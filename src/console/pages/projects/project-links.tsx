import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { NewLink, RevokeLink } from "../../parts/link-dialogs.tsx";
import { buttonColumn, ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { linksQuery, type SharedLink } from "../../queries/account.ts";
import type { Project } from "../../queries/projects.ts";
import { useMay } from "../../session.ts";

interface LinksProps {
  readonly account: string;
  readonly project: Project;
}

/** The links that show this project to finance, without a session. */
export function ProjectLinks({ account, project }: LinksProps) {
  const mayWrite = useMay("links.write");
  const { data, ...query } = useQuery(linksQuery(account));
  const [isCreating, setIsCreating] = useState(false);
  const [chosen, setChosen] = useState<SharedLink>();
  const isOwn = (link: SharedLink) => link.project?.id === project.id && link.state === "active";
  const share = (
    <Button icon="link" onClick={() => setIsCreating(true)}>
      Share
    </Button>
  );
  const revoke = buttonColumn<SharedLink>({
    text: "Revoke",
    label: () => "Revoke the link",
    isDanger: true,
    onPress: setChosen,
  });
  return (
    <Panel
      title="Links for finance"
      note="Each shows this project's usage, budget and months, and nothing else."
      isFlush
      actions={mayWrite && share}
    >
      <ListTable
        name="links"
        caption="Links to this project"
        columns={mayWrite ? [...COLUMNS, revoke] : COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="link" title="No link is shared">
            A link needs no session, and ends when it expires or is revoked.
          </Empty>
        }
        query={{ ...query, data: data && { ...data, items: data.items.filter(isOwn) } }}
        skeletonRows={1}
      />
      {isCreating && <NewLink account={account} project={project} onClose={() => setIsCreating(false)} />}
      {chosen && <RevokeLink account={account} link={chosen} onClose={() => setChosen(undefined)} />}
    </Panel>
  );
}

const COLUMNS: readonly Column<SharedLink>[] = [
  {
    id: "created",
    order: ({ created_at }) => created_at,
    header: "Made",
    cell: ({ created_at, created_by, shows_names }) => (
      <span className={styles.named}>
        <Time at={created_at} as="date" />
        <small>
          by {created_by}, {shows_names ? "names shown" : "names hidden"}
        </small>
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
