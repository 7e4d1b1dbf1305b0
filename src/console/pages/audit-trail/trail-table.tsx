import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type Change, listChanges } from "./changes.ts";

/** One recorded change. */
interface Entry extends Change {
  readonly id: string;
  readonly at: string;
  readonly actor_kind: string;
  readonly actor_name: string;
  readonly is_acting: boolean;
  readonly action: string;
  readonly target: string;
  readonly address: string | null;
}

interface TrailTableProps {
  /** `undefined` while loading. */
  readonly data: { readonly items: readonly Entry[]; readonly next: string | null } | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
}

/** Who changed what, and when. */
export function TrailTable({ data, error, onRetry }: TrailTableProps) {
  return (
    <Panel isFlush>
      <DataTable
        caption="Audit trail"
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="trail" title="No change matches">
            Changes appear here with their author.
          </Empty>
        }
        error={data ? undefined : error}
        onRetry={onRetry}
        footer={<Pager next={data?.next ?? null} />}
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
        <small>{[actor_kind.replaceAll("_", " "), address].filter(Boolean).join(" · ")}</small>
      </span>
    ),
  },
  {
    id: "action",
    header: "What",
    cell: ({ action, target }) => (
      <span className={styles.named}>
        <code>{action}</code>
        <small>{target}</small>
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
            <span className={styles.soft}>{name}:</span>{" "}
            {before === undefined ? after : `${before} → ${after}`}
          </span>
        ))}
      </span>
    ),
  },
];
