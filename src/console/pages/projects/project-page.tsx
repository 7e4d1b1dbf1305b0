import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Badge } from "../../parts/badge.tsx";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Menu } from "../../parts/menu.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type Project, projectQuery } from "../../queries/projects.ts";
import { useMay } from "../../session.ts";
import { Budget } from "./budget.tsx";
import { Finance } from "./finance.tsx";
import { ArchiveProject, EditProject } from "./project-forms.tsx";
import { ProjectKeys, ProjectMembers } from "./project-keys.tsx";
import { ProjectLinks } from "./project-links.tsx";
import { ProjectSpenders } from "./project-spenders.tsx";

const route = getRouteApi("/shell/accounts/$account/projects/$project");

type OpenDialog = "edit" | "archive";

/** One project: its budget, its keys, the people who made them, and who used it. */
export function ProjectPage() {
  const { account, project } = route.useParams();
  const query = useQuery(projectQuery(account, project));
  const { data } = query;
  const mayReadLinks = useMay("links.read");
  const [open, setOpen] = useState<OpenDialog>();
  const close = () => setOpen(undefined);
  return (
    <div className={styles.page}>
      <PageHeader
        title={data?.name ?? "Project"}
        badges={data && <States shown={data} />}
        note={
          data && (
            <>
              made on <Time at={data.created_at} as="date" />
            </>
          )
        }
        back={{ to: "/accounts/$account/projects", params: { account }, text: "Projects" }}
      >
        {data && <Actions account={account} shown={data} onOpen={setOpen} />}
      </PageHeader>
      <Loaded query={query}>
        {(shown) => (
          <>
            <div className={styles.columns}>
              <Budget account={account} project={shown} onEdit={() => setOpen("edit")} />
              <Finance account={account} project={shown} />
            </div>
            <ProjectKeys account={account} project={shown} />
            <ProjectMembers account={account} project={shown} />
            <ProjectSpenders account={account} project={shown} />
            {mayReadLinks && <ProjectLinks account={account} project={shown} />}
          </>
        )}
      </Loaded>
      {data && open === "edit" && <EditProject account={account} opened={data} onClose={close} />}
      {data && open === "archive" && <ArchiveProject account={account} opened={data} onClose={close} />}
    </div>
  );
}

function States({ shown: { is_default, archived_at } }: { readonly shown: Project }) {
  return (
    <>
      {is_default && <Badge>default</Badge>}
      {archived_at && <Badge tone="warn">archived</Badge>}
    </>
  );
}

interface ActionsProps {
  readonly account: string;
  readonly shown: Project;
  readonly onOpen: (dialog: OpenDialog) => void;
}

function Actions({ account, shown: { id, name, is_default, archived_at }, onOpen }: ActionsProps) {
  const mayWrite = useMay("projects.write");
  const mayCreate = useMay("keys.create") && archived_at === null;
  return (
    <>
      {mayCreate && (
        <ButtonLink
          icon="plus"
          look="primary"
          to="/accounts/$account/keys"
          params={{ account }}
          search={{ create: "1", project: id }}
        >
          Create key
        </ButtonLink>
      )}
      {mayWrite && <Button onClick={() => onOpen("edit")}>Edit</Button>}
      {mayWrite && !is_default && (
        <Menu
          label={`More for project ${name}`}
          items={[
            {
              text: archived_at ? "Restore" : "Archive",
              icon: archived_at ? "refresh" : "close",
              onSelect: () => onOpen("archive"),
            },
          ]}
        />
      )}
    </>
  );
}
