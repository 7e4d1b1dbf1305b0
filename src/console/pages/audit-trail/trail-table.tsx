import { capitalize } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable, Pager } from "../../parts/data-table.tsx";
import { type Asked, Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { formatTime } from "../../times.ts";

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
  readonly list: Asked<{ readonly items: readonly Entry[]; readonly next: string | null }>;
  /** Whether a column names the account of each entry. */
  readonly hasAccounts?: boolean;
}

/** Who changed what, and when. */
export function TrailTable({ list, hasAccounts = false }: TrailTableProps) {
  return (
    <Panel isFlush>
      <DataTable
        caption="Audit trail"
        columns={hasAccounts ? COLUMNS.toSpliced(2, 0, ACCOUNT) : COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <>
            <Empty icon="trail" title={list.data?.next ? "No change of these matches" : "No change matches"}>
              Widen the range, or clear the filters. Every change appears here with its author.
            </Empty>
            {list.data?.next && <Pager next={list.data.next} isNewestFirst />}
          </>
        }
        query={list}
        footer={<Pager next={list.data?.next ?? null} isNewestFirst />}
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
          <span>{actor_name}</span>
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
    card: "line",
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
  cell: ({ account_name }) =>
    account_name ? (
      <span className={styles.named}>{account_name}</span>
    ) : (
      <span className={styles.soft}>platform</span>
    ),
};

/** The kind of author, shown below a name. The names of command line and system already contain the kind. */
const KINDS: Readonly<Record<string, string>> = {
  person: "person",
  management_key: "management key",
  api_key: "API key",
  payment_caller: "payment caller",
};

type Values = Readonly<Record<string, unknown>> | null;

/** What a change was from and to. `null` for what did not exist. */
interface Change {
  readonly before: Values;
  readonly after: Values;
}

interface MemberChange {
  /** In words: "spending limit". */
  readonly name: string;
  /** `undefined` for a member that was not there. */
  readonly before: string | undefined;
  readonly after: string;
}

const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
const MILLISECONDS = /_at_ms$/;

/** Prints an action as words: "Member role changed" for "member.role_changed". */
export function describeAction(action: string): string {
  return capitalize(action.replaceAll(/[._]/g, " "));
}

/** Lists the members that differ, in the order of the names. Empty members of a new thing are left out. */
function listChanges({ before, after }: Change): readonly MemberChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort();
  return names.flatMap((name) => {
    const [from, to] = [before?.[name], after?.[name]];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    if (from === undefined && (to === null || to === false)) return [];
    const print = (value: unknown) => printValue(readTime(name, value));
    return [
      { name: describeName(name), before: from === undefined ? undefined : print(from), after: print(to) },
    ];
  });
}

function describeName(name: string): string {
  const words = name
    .replace(MILLISECONDS, "_at")
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return words.replaceAll("_", " ").replace(/ usd$/, " (USD)");
}

/** Times are recorded as texts, and by some changes as milliseconds. */
function readTime(name: string, value: unknown): unknown {
  return MILLISECONDS.test(name) && typeof value === "number" ? new Date(value).toISOString() : value;
}

function printValue(value: unknown): string {
  if (value === undefined || value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return TIME.test(value) ? formatTime(value, "minute") : value;
  if (Array.isArray(value)) return value.map(printValue).join(", ");
  if (typeof value !== "object") return String(value);
  return Object.entries(value)
    .filter(([, each]) => each !== null)
    .map(([name, each]) => `${describeName(name)} ${printValue(each)}`)
    .join(", ");
}
