import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatCount } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { ChoiceFilter } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { LimitCell } from "../../parts/spending-limit.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type Project, projectsQuery } from "../../queries/projects.ts";
import { withSearch } from "../../search.ts";
import { useMay } from "../../session.ts";
import { describeLimit, limitValuesOf } from "../../spending-limits.ts";
import { CreateProject } from "./project-forms.tsx";

const route = getRouteApi("/shell/accounts/$account/projects");

const STATES = [
  { value: "archived", text: "archived" },
  { value: "all", text: "any" },
] as const;

const COLUMNS: readonly Column<Project>[] = [
  {
    id: "name",
    order: ({ name }) => name,
    header: "Project",
    cell: ({ name, is_default, archived_at }) => (
      <span className={styles.line}>
        <span>{name}</span>
        {is_default && <Badge>default</Badge>}
        {archived_at && <Badge>archived</Badge>}
      </span>
    ),
  },
  {
    id: "keys",
    order: ({ keys }) => keys,
    header: "Keys",
    align: "end",
    cell: ({ keys }) => formatCount(keys),
  },
  {
    id: "budget",
    header: "Budget",
    card: "line",
    cell: ({ name, spending_limit }) => (
      <LimitCell limit={spending_limit} label={`Budget of ${name}`} none="no budget" />
    ),
  },
  {
    id: "users",
    header: "Each end user",
    cell: ({ end_user_limit }) => (
      <span className={end_user_limit ? undefined : styles.soft}>
        {describeLimit(limitValuesOf(end_user_limit))}
      </span>
    ),
  },
  {
    id: "created",
    order: ({ created_at }) => created_at,
    header: "Created",
    isNarrow: true,
    cell: ({ created_at }) => <Time at={created_at} as="date" />,
  },
];

/** The projects of an account, with their budgets. */
export function ProjectsPage() {
  const { account } = route.useParams();
  const { state = "active", create } = route.useSearch();
  const navigate = route.useNavigate();
  const mayWrite = useMay("projects.write");
  const list = useQuery(projectsQuery(account));
  const setCreate = (value: string | undefined) =>
    void navigate({ search: withSearch({ create: value }), replace: true });
  const isShown = ({ archived_at }: Project) =>
    state === "all" || (archived_at !== null) === (state === "archived");
  const hasArchived = list.data?.items.some(({ archived_at }) => archived_at !== null);
  return (
    <div className={styles.page}>
      <PageHeader
        title="Projects"
        note="A project owns keys, and has a budget that all of them share. A key of no other is in the default one."
      >
        {mayWrite && (
          <Button icon="plus" look="primary" onClick={() => setCreate("1")}>
            Create project
          </Button>
        )}
      </PageHeader>
      <Panel isFlush>
        <ListTable
          searchBy={({ name }) => [name]}
          searchLabel="Name"
          caption="Projects"
          filters={hasArchived && <ChoiceFilter label="State" name="state" usual="active" options={STATES} />}
          columns={COLUMNS}
          rows={list.data?.items.filter(isShown)}
          rowKey={({ id }) => id}
          rowLink={({ id }) => ({
            to: "/accounts/$account/projects/$project",
            params: { account, project: id },
          })}
          empty={<Empty icon="project" title="No archived project" />}
          query={list}
          skeletonRows={3}
        />
      </Panel>
      {mayWrite && create && (
        <CreateProject
          account={account}
          onDone={({ id }) =>
            void navigate({ to: "/accounts/$account/projects/$project", params: { account, project: id } })
          }
          onClose={() => setCreate(undefined)}
        />
      )}
    </div>
  );
}
