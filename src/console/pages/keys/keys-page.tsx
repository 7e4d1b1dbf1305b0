import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Select } from "../../parts/select.tsx";
import { Time } from "../../parts/time.tsx";
import { useMay } from "../../session.ts";
import { CreateKey } from "./create-key.tsx";
import { KeyState, NextRequest, Rates, SpendingLimit } from "./key-parts.tsx";
import styles from "./keys.module.css";
import { keysQuery, type ListedKey } from "./queries.ts";

const route = getRouteApi("/shell/accounts/$account/keys");

const STATES = [
  { value: "active", text: "active" },
  { value: "expired", text: "expired" },
  { value: "revoked", text: "revoked" },
  { value: "all", text: "any" },
] as const;

const COLUMNS: readonly Column<ListedKey>[] = [
  { id: "name", header: "Key", cell: (key) => <Named {...key} /> },
  { id: "next", header: "Next request", cell: (key) => <NextRequest {...key} /> },
  { id: "limit", header: "Spending limit", cell: (key) => <SpendingLimit {...key} /> },
  { id: "rates", header: "This minute", cell: (key) => <Rates {...key} /> },
  {
    id: "spent",
    header: "Spent in 30 d",
    align: "end",
    cell: ({ spent_30d_usd }) => <Money usd={spent_30d_usd} />,
  },
  {
    id: "used",
    header: "Last used",
    isNarrow: true,
    cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} as="relative" /> : "never"),
  },
];

/** The name of a key with its hint, who made it, its models and when it expires. */
function Named({ name, hint, state, created_by, expires_at, models }: ListedKey) {
  return (
    <span className={styles.name}>
      <span className={styles.named}>
        {name}
        {state !== "active" && <KeyState state={state} />}
      </span>
      <span className={styles.hint}>
        <code>{hint}</code>
        {created_by && ` · ${created_by.name}`}
      </span>
      {models && (
        <span className={styles.hint} title={models.join(", ")}>
          {models.length === 1 ? `only ${models[0]}` : `${models.length} models`}
        </span>
      )}
      {expires_at && state !== "revoked" && (
        <span className={styles.hint}>
          {state === "expired" ? "expired" : "expires"} <Time at={expires_at} as="date" />
        </span>
      )}
    </span>
  );
}

/** The keys of an account, and what each may still spend. */
export function KeysPage() {
  const { account } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayCreate = useMay("keys.create");
  const { data, error, refetch } = useQuery(keysQuery(account));
  const set = (name: "state" | "q" | "create", value: string) =>
    void navigate({ search: (all) => ({ ...all, [name]: value || undefined }), replace: name === "q" });
  const create = mayCreate && (
    <Button icon="plus" look="primary" onClick={() => set("create", "1")}>
      Create key
    </Button>
  );
  const isEmpty = data?.items.length === 0;
  return (
    <div className={styles.page}>
      <PageHeader title="Keys" note="A key opens the models of this account, within its limits.">
        {!isEmpty && create}
      </PageHeader>
      {!isEmpty && (
        <div className={styles.filters}>
          <Select
            label="State"
            value={STATES.find(({ value }) => value === search.state)?.value ?? "active"}
            options={STATES}
            onChange={(value) => set("state", value === "active" ? "" : value)}
          />
          <input
            type="search"
            className={styles.search}
            placeholder="Name or hint"
            aria-label="Find a key by its name or hint"
            defaultValue={search.q}
            onChange={({ currentTarget }) => set("q", currentTarget.value)}
          />
        </div>
      )}
      <Panel isFlush>
        <DataTable
          caption="Keys"
          columns={COLUMNS}
          rows={data && filterKeys(data.items, search)}
          rowKey={({ id }) => id}
          rowLink={({ id }) => ({ to: "/accounts/$account/keys/$key", params: { account, key: id } })}
          empty={
            isEmpty ? (
              <Empty icon="key" title="No key yet" actions={create}>
                Requests need a key. Its secret is shown once.
              </Empty>
            ) : (
              <Empty
                icon="search"
                title="No key matches"
                actions={<Button onClick={() => void navigate({ search: {} })}>Clear the filters</Button>}
              />
            )
          }
          error={data ? undefined : error}
          onRetry={() => void refetch()}
        />
      </Panel>
      {mayCreate && search.create && <CreateKey account={account} onClose={() => set("create", "")} />}
    </div>
  );
}

interface KeyFilter {
  readonly state?: string;
  readonly q?: string;
}

/** Keys of a state, active ones by default, whose name or hint has the text. */
function filterKeys(
  keys: readonly ListedKey[],
  { state = "active", q = "" }: KeyFilter,
): readonly ListedKey[] {
  const text = q.toLowerCase();
  return keys.filter(
    (key) =>
      (state === "all" || key.state === state) &&
      (key.name.toLowerCase().includes(text) || key.hint.toLowerCase().includes(text)),
  );
}
