import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatCount, readUsd } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { LimitCell, SPENDING_COLUMNS } from "../../parts/spending-limit.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import type { ListedKey } from "../../queries/keys.ts";
import {
  type MemberLimit,
  memberLimitsQuery,
  type Project,
  projectKeysQuery,
  projectUsageQuery,
} from "../../queries/projects.ts";

interface PartProps {
  readonly account: string;
  readonly project: Project;
}

const KEY_COLUMNS: readonly Column<ListedKey>[] = [
  {
    id: "name",
    order: ({ name }) => name,
    header: "Key",
    cell: ({ name, hint, created_by, next_refusal }) => (
      <span className={styles.named}>
        <span className={styles.line}>
          <span>{name}</span>
          {next_refusal && <Badge tone="bad">refused</Badge>}
        </span>
        <small>
          <code>{hint}</code>
          {created_by && ` · ${created_by.name}`}
        </small>
      </span>
    ),
  },
  ...SPENDING_COLUMNS,
  {
    id: "used",
    order: ({ last_used_at }) => last_used_at,
    header: "Last used",
    isNarrow: true,
    cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} as="relative" /> : "never"),
  },
];

/** The active keys of a project, without those that keys made. */
export function ProjectKeys({ account, project: { id } }: PartProps) {
  const list = useQuery(projectKeysQuery(account, id));
  return (
    <Panel
      title="Keys"
      note={list.data?.next ? "The first 100. All keys of the account are on their page." : undefined}
      isFlush
      actions={
        <Link to="/accounts/$account/keys" params={{ account }}>
          All keys
        </Link>
      }
    >
      <ListTable
        name="keys"
        searchBy={({ name, hint, created_by }) => [name, hint, created_by?.name]}
        searchLabel="Name, hint or person"
        caption="Keys of the project"
        columns={KEY_COLUMNS}
        rowKey={(key) => key.id}
        rowLink={(key) => ({ to: "/accounts/$account/keys/$key", params: { account, key: key.id } })}
        empty={
          <Empty icon="key" title="No active key">
            Create one for this project, or move one here: edit it, and choose the project.
          </Empty>
        }
        query={list}
        skeletonRows={2}
      />
    </Panel>
  );
}

/** One person who made keys of a project. */
interface ProjectMember {
  readonly id: string;
  readonly name: string;
  readonly keys: number;
  readonly spent: string | undefined;
  readonly limit: MemberLimit | undefined;
}

const MEMBER_COLUMNS: readonly Column<ProjectMember>[] = [
  { id: "name", order: ({ name }) => name, header: "Person", cell: ({ name }) => name },
  {
    id: "keys",
    order: ({ keys }) => keys,
    header: "Active keys",
    align: "end",
    cell: ({ keys }) => formatCount(keys),
  },
  {
    id: "spent",
    order: ({ spent }) => readUsd(spent ?? "0"),
    header: "Spent here in 30 d",
    align: "end",
    cell: ({ spent }) => <Money usd={spent ?? "0"} />,
  },
  {
    id: "limit",
    header: "Limit in all projects",
    cell: ({ name, limit }) => (
      <LimitCell limit={limit?.spending_limit ?? limit?.each_member} label={`Spending limit of ${name}`} />
    ),
  },
];

/** The people who made the keys of a project, or whose keys of before were used in it. */
export function ProjectMembers({ account, project: { id } }: PartProps) {
  const keys = useQuery(projectKeysQuery(account, id));
  const usage = useQuery(projectUsageQuery(account, id, "member"));
  const { data: limits } = useQuery(memberLimitsQuery(account));
  const rows =
    keys.data &&
    usage.data &&
    membersOf({ keys: keys.data.items, spent: usage.data.items, limits: limits?.items ?? [] });
  return (
    <Panel title="Members" note="Those who made keys of this project." isFlush>
      <ListTable
        name="members"
        caption="Members of the project"
        columns={MEMBER_COLUMNS}
        rows={rows}
        rowKey={(member) => member.id}
        empty={<Empty icon="team" title="Nobody has made a key of this project" />}
        query={usage.error ? usage : keys}
        skeletonRows={2}
      />
    </Panel>
  );
}

interface MemberFacts {
  readonly keys: readonly Pick<ListedKey, "created_by">[];
  readonly spent: readonly {
    readonly id: string | null;
    readonly name: string | null;
    readonly cost_usd: string;
  }[];
  readonly limits: readonly MemberLimit[];
}

/** Joins who made keys with who has spent, the latter first. */
function membersOf({ keys, spent, limits }: MemberFacts): readonly ProjectMember[] {
  const names = new Map<string, string>();
  const costs = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const { id, name, cost_usd } of spent) {
    if (id === null) continue;
    names.set(id, name ?? id);
    costs.set(id, cost_usd);
  }
  for (const { created_by } of keys) {
    if (!created_by) continue;
    names.set(created_by.id, created_by.name);
    counts.set(created_by.id, (counts.get(created_by.id) ?? 0) + 1);
  }
  return [...names].map(([id, name]) => ({
    id,
    name,
    keys: counts.get(id) ?? 0,
    spent: costs.get(id),
    limit: limits.find(({ person_id }) => person_id === id),
  }));
}
