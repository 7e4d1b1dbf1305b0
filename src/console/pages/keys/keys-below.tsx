import { useQuery } from "@tanstack/react-query";
import type { Column } from "../../parts/data-table.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import { SPENDING_COLUMNS } from "../../parts/spending-limit.tsx";
import stack from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { childKeysQuery, type KeyPageData, type ListedKey } from "../../queries/keys.ts";
import { KeyState } from "./key-parts.tsx";

const COLUMNS: readonly Column<ListedKey>[] = [
  {
    id: "name",
    order: ({ name }) => name,
    header: "Key",
    cell: ({ name, hint, state }) => (
      <span className={stack.named}>
        <span className={stack.line}>
          <span>{name}</span>
          {state !== "active" && <KeyState state={state} />}
        </span>
        <small>
          <code>{hint}</code>
        </small>
      </span>
    ),
  },
  ...SPENDING_COLUMNS,
  {
    id: "ends",
    order: ({ expires_at, revoked_at }) => revoked_at ?? expires_at,
    header: "Ends",
    isNarrow: true,
    cell: ({ expires_at, revoked_at }) => {
      const end = revoked_at ?? expires_at;
      return end ? <Time at={end} as="moment" /> : "with this key";
    },
  },
];

/** The keys that a key made, with what they spent and when they end. Shown where there are or may be any. */
export function KeysBelow({ account, shown }: { readonly account: string; readonly shown: KeyPageData }) {
  const list = useQuery(childKeysQuery(account, shown.id));
  if (!shown.allows_children && !list.data?.items.length) return null;
  return (
    <Panel
      title="Keys below this key"
      note={
        list.data?.next
          ? "The first 50 that it made. What they spend counts for its limit, and they end with it."
          : "It made them for runs of their own. What they spend counts for its limit, and they end with it."
      }
      isFlush
    >
      <ListTable
        name="below"
        searchBy={({ name, hint }) => [name, hint]}
        searchLabel="Name or hint"
        caption="Keys below this key"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: "/accounts/$account/keys/$key", params: { account, key: id } })}
        empty={
          <Empty icon="key" title="No key yet">
            The key makes one by POST /v1/key/children, with a limit and a life.
          </Empty>
        }
        query={list}
        skeletonRows={1}
      />
    </Panel>
  );
}
