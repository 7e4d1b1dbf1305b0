import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { shareOf } from "../../compare.ts";
import { capitalize, formatCompact, formatCount, plural, readUsd } from "../../format.ts";
import type { Column } from "../../parts/data-table.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { LimitCell } from "../../parts/spending-limit.tsx";
import stack from "../../parts/stack.module.css";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import {
  type Project,
  type ProjectGroup,
  type ProjectSpender,
  type ProjectUsage,
  projectUsageQuery,
} from "../../queries/projects.ts";
import { withSearch } from "../../search.ts";
import styles from "./project.module.css";

const route = getRouteApi("/shell/accounts/$account/projects/$project");

const GROUPS = [
  { id: "end_user", title: "End users", one: "end user", none: "without an end user" },
  { id: "member", title: "Members", one: "member", none: "by keys of no person" },
  { id: "key", title: "Keys", one: "key", none: "without a key" },
  { id: "model", title: "Models", one: "model", none: "without a model" },
] as const;
type Group = (typeof GROUPS)[number];

interface SpendersProps {
  readonly account: string;
  readonly project: Project;
}

/** Who used a project in the last 30 days. The URL holds what it is divided by. */
export function ProjectSpenders({ account, project }: SpendersProps) {
  const { by } = route.useSearch();
  const navigate = route.useNavigate();
  const group = GROUPS.find(({ id }) => id === by) ?? GROUPS[0];
  const { data } = useQuery(projectUsageQuery(account, project.id, group.id));
  return (
    <Panel
      title="Who used it"
      note={data ? <Total usage={data} isDefault={project.is_default} /> : "The last 30 days."}
    >
      <div className={styles.bleed}>
        <Tabs
          label="Usage by"
          value={group.id}
          onChange={(id) =>
            void navigate({
              search: withSearch({ by: id === GROUPS[0].id ? undefined : id }),
              replace: true,
              resetScroll: false,
            })
          }
          tabs={GROUPS.map((each) => ({
            id: each.id,
            title: each.title,
            content: <Spenders account={account} project={project} group={each} />,
          }))}
        />
      </div>
    </Panel>
  );
}

function Total({
  usage: { total, from },
  isDefault,
}: {
  readonly usage: ProjectUsage;
  readonly isDefault: boolean;
}) {
  return (
    <>
      <Money usd={total.cost_usd} /> for {plural(total.requests, "request")} since{" "}
      <Time at={from} as="date" />.
      {isDefault &&
        " Requests count for a project since the account made its first project or limit of members."}
    </>
  );
}

function Spenders({ account, project, group }: SpendersProps & { readonly group: Group }) {
  const query = useQuery(projectUsageQuery(account, project.id, group.id));
  const others = query.data?.others;
  return (
    <ListTable
      name="spenders"
      searchBy={({ id, name }) => [name, id]}
      searchLabel="Name or id"
      caption={`Usage of the project by ${group.one}`}
      columns={columnsOf(group, {
        total: query.data?.total.cost_usd ?? "0",
        hasLimit: project.end_user_limit !== null,
      })}
      rowKey={({ id }) => id ?? ""}
      rowLink={(row) => linkOf(group.id, account, row)}
      empty={
        <Empty icon="usage" title="No request in this time">
          {group.id === "end_user"
            ? "Requests name their end user by the field user, by metadata.user_id, or by the header x-tollgate-user."
            : "The first request of one of its keys shows here."}
        </Empty>
      }
      query={query}
      skeletonRows={3}
      footer={
        others !== undefined &&
        others.requests > 0 && (
          <span className={stack.soft}>
            All others: <Money usd={others.cost_usd} /> for {plural(others.requests, "request")}
          </span>
        )
      }
    />
  );
}

interface Shown {
  readonly total: string;
  /** Whether each end user has a limit. */
  readonly hasLimit: boolean;
}

function columnsOf(group: Group, { total, hasLimit }: Shown): readonly Column<ProjectSpender>[] {
  const limit: Column<ProjectSpender> = {
    id: "limit",
    header: "Left of the limit",
    card: "line",
    cell: ({ id, spending_limit }) => (
      <LimitCell limit={spending_limit} label={`Limit of end user ${id ?? ""}`} none="not counted yet" />
    ),
  };
  return [
    {
      id: "name",
      order: ({ name, id }) => name ?? id,
      header: capitalize(group.one),
      cell: ({ id, name }) =>
        id === null ? (
          <span className={stack.soft}>{group.none}</span>
        ) : (
          <span className={styles.id}>{name ?? id}</span>
        ),
    },
    {
      id: "cost",
      order: ({ cost_usd }) => readUsd(cost_usd),
      header: "Cost",
      align: "end",
      cell: ({ cost_usd }) => <Money usd={cost_usd} />,
    },
    { id: "share", header: "Share", align: "end", cell: ({ cost_usd }) => shareOf(cost_usd, total) },
    {
      id: "requests",
      order: ({ requests }) => requests,
      header: "Requests",
      align: "end",
      cell: ({ requests }) => formatCount(requests),
    },
    {
      id: "tokens",
      order: ({ input_tokens, output_tokens }) => input_tokens + output_tokens,
      header: "Tokens in / out",
      align: "end",
      cell: ({ input_tokens, output_tokens }) => (
        <span title={`${formatCount(input_tokens)} / ${formatCount(output_tokens)}`}>
          {formatCompact(input_tokens)} / {formatCompact(output_tokens)}
        </span>
      ),
    },
    ...(group.id === "end_user" && hasLimit ? [limit] : []),
  ];
}

/** A key leads to its page, an end user to all its usage. */
function linkOf(group: ProjectGroup, account: string, { id, name }: ProjectSpender) {
  if (id === null) return undefined;
  if (group === "end_user") {
    const search = { scope: `end_user:${id}` };
    return { to: "/accounts/$account/usage", params: { account }, search } as const;
  }
  if (group !== "key" || name === null) return undefined;
  return { to: "/accounts/$account/keys/$key", params: { account, key: id } } as const;
}
