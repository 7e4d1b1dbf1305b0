import { useState } from "react";
import { capitalize } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { buttonColumn, ListTable } from "../../parts/list-table.tsx";
import { type Asked, Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";

/** A key that opens the console's API to programs. */
export interface ManagementKey {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly role: string;
  readonly state: "active" | "revoked" | "expired";
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

interface KeysTableProps {
  readonly list: Asked<{ readonly items: readonly ManagementKey[] }>;
  readonly queryKey: readonly string[];
  /** `undefined` when the caller may not revoke. */
  readonly revoke: ((id: string) => Promise<unknown>) | undefined;
}

/** Management keys with their role and last use. */
export function KeysTable({ list, queryKey, revoke }: KeysTableProps) {
  const [chosen, setChosen] = useState<ManagementKey>();
  const revokeOne = buttonColumn<ManagementKey>({
    text: "Revoke",
    label: ({ name }) => `Revoke ${name}`,
    isDanger: true,
    isShown: ({ state }) => state === "active",
    onPress: setChosen,
  });
  return (
    <Panel isFlush>
      <ListTable
        searchBy={({ name, hint, role, state }) => [name, hint, role, state]}
        searchLabel="Name, role or state"
        caption="Management keys"
        columns={revoke ? [...COLUMNS, revokeOne] : COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="key" title="No management key yet">
            With one, a program can make accounts, keys and top-ups.
          </Empty>
        }
        query={list}
        skeletonRows={3}
      />
      {chosen && (
        <Confirm
          title={`Revoke “${chosen.name}”?`}
          note="Programs that use it are refused at once. This cannot be undone."
          action="Revoke"
          isDanger
          act={async () => revoke?.(chosen.id)}
          renews={[queryKey]}
          done="Management key revoked"
          onClose={() => setChosen(undefined)}
        />
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column<ManagementKey>[] = [
  {
    id: "name",
    order: ({ name }) => name,
    header: "Key",
    cell: ({ name, hint, state }) => (
      <span className={styles.named}>
        <span className={styles.line}>
          <span>{name}</span>
          {state !== "active" && <Badge>{state}</Badge>}
        </span>
        <small>{hint}…</small>
      </span>
    ),
  },
  { id: "role", order: ({ role }) => role, header: "Role", cell: ({ role }) => capitalize(role) },
  {
    id: "created",
    order: ({ created_at }) => created_at,
    header: "Created",
    cell: ({ created_at }) => <Time at={created_at} as="date" />,
  },
  {
    id: "used",
    order: ({ last_used_at }) => last_used_at,
    header: "Last used",
    cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} as="relative" /> : "never"),
  },
  {
    id: "expires",
    order: ({ expires_at }) => expires_at,
    header: "Expires",
    cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} as="date" /> : "never"),
  },
];
