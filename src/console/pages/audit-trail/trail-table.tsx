import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type Change, describeAction, listChanges } from "./changes.ts";

/** One recorded change. */
interface Entry extends Change {
  readonly id: string;
  readonly at: string;
  readonly account_name: string | null;
  readonly actor_kind: string;
  readonly actor_name: string;
  readonly is_acting: boolean;
  readonly action: string;
  readonly target: string;
  readonly target_name: string | null;
  readonly address: string | null;
}

interface TrailTableProps {
  /** `undefined` while loading. */
  readonly data: { readonly items: readonly Entry[]; readonly next: string | null } | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
  /** Whether a column names the account of each entry. */
  readonly hasAccounts?: boolean;
}

/** Who changed what, and when. */
export function TrailTable({ data, error, onRetry, hasAccounts = false }: TrailTableProps) {
  return (
    <Panel isFlush>
      <DataTable
        caption="Audit trail"
        columns={hasAccounts ? COLUMNS.toSpliced(2, 0, ACCOUNT) : COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="trail" title="No change matches">
            Widen the range, or clear the filters. Every change appears here with its author.
          </Empty>
        }
        error={data ? undefined : error}
        onRetry={onRetry}
        footer={<Pager next={data?.next ?? null} isNewestFirst />}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  { id: "at", header: "Time", isNarrow: true, cell: ({ at }) => <Time at={at} as="second" /> },
  {
    id: "actor",
    header: "Who",
    cell: ({ actor_name, actor_kind, is_acting, address }) => (
      <span className={styles.named}>
        <span className={styles.line}>
          {actor_name}
          {is_acting && <Badge tone="warn">acting</Badge>}
        </span>
        <small>{[KINDS[actor_kind], address].filter(Boolean).join(" · ")}</small>
      </span>
    ),
  },
  {
    id: "action",
    header: "What",
    cell: ({ action, target, target_name }) => (
      <span className={styles.named}>
        <span title={action}>{describeAction(action)}</span>
        <small title={target}>{target_name ?? target}</small>
      </span>
    ),
  },
  {
    id: "changes",
    header: "Before → after",
    cell: (entry) => (
      <span className={styles.named}>
        {listChanges(entry).map(({ name, before, after }) => (
          <span key={name}>
            <span className={styles.soft}>{name}</span>{" "}
            {before === undefined ? after : `${before} → ${after}`}
          </span>
        ))}
      </span>
    ),
  },
];

const ACCOUNT: Column<Entry> = {
  id: "account",
  header: "Account",
  cell: ({ account_name }) => account_name ?? <span className={styles.soft}>platform</span>,
};

/** The kind of author, shown below a name. The names of command line and system already contain the kind. */
const KINDS: Readonly<Record<string, string>> = { person: "person", management_key: "management key" };
