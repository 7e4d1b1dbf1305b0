import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { type Column, Pager } from "../../parts/data-table.tsx";
import { ActionDialog } from "../../parts/dialog.tsx";
import { ChoiceFilter, SearchField } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { keysPageQuery, type ListedKey } from "../../queries/keys.ts";
import { projectsQuery } from "../../queries/projects.ts";
import { withSearch } from "../../search.ts";
import { useMay } from "../../session.ts";
import { useIdempotencyKey } from "../../use-action.ts";
import { KeyFields } from "./key-fields.tsx";
import { KeyState, NextRequest, Rates, SpendingLimit } from "./key-parts.tsx";
import { readKeyForm } from "./key-values.ts";
import styles from "./keys.module.css";
import { IssuedSecret } from "./snippet-tabs.tsx";

const route = getRouteApi("/shell/accounts/$account/keys");

const STATES = ["expired", "revoked", { value: "all", text: "any" }] as const;

const COLUMNS: readonly Column<ListedKey>[] = [
  { id: "name", order: "server", header: "Key", cell: (key) => <Named {...key} /> },
  { id: "next", header: "Next request", cell: (key) => <NextRequest {...key} /> },
  { id: "limit", header: "Spending limit", cell: (key) => <SpendingLimit {...key} /> },
  { id: "rates", header: "This minute", cell: (key) => <Rates {...key} /> },
  {
    id: "spent",
    order: "server",
    header: "Spent in 30 d",
    align: "end",
    cell: ({ spent_30d_usd }) => <Money usd={spent_30d_usd} />,
  },
  {
    id: "used",
    order: "server",
    first: "descending",
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
  const list = useQuery(keysPageQuery(account, search));
  const setCreate = (value: string | undefined) =>
    void navigate({ search: withSearch({ create: value, project: undefined }) });
  const create = mayCreate && (
    <Button icon="plus" look="primary" onClick={() => setCreate("1")}>
      Create key
    </Button>
  );
  const isFiltered = Boolean(search.q || search.state || search.page);
  const isEmpty = list.data?.items.length === 0 && !isFiltered;
  return (
    <div className={styles.page}>
      <PageHeader title="Keys" note="A key opens the models of this account, within its limits.">
        {!isEmpty && create}
      </PageHeader>
      <Panel isFlush>
        <ListTable
          caption="Keys"
          filters={
            <>
              <ChoiceFilter label="State" name="state" usual="active" options={STATES} />
              <SearchField name="q" value={search.q} label="Name or hint" />
            </>
          }
          columns={COLUMNS}
          rowKey={({ id }) => id}
          rowLink={({ id }) => ({ to: "/accounts/$account/keys/$key", params: { account, key: id } })}
          empty={
            isEmpty ? (
              <Empty icon="key" title="No active key" actions={create}>
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
          query={list}
          footer={<Pager next={list.data?.next ?? null} />}
        />
      </Panel>
      {mayCreate && search.create && (
        <CreateKey account={account} project={search.project} onClose={() => setCreate(undefined)} />
      )}
    </div>
  );
}

interface CreateKeyProps {
  readonly account: string;
  /** The project that the key is to be of. */
  readonly project: string | undefined;
  readonly onClose: () => void;
}

/** Creates a key, then shows its secret once. */
function CreateKey({ account, project, onClose }: CreateKeyProps) {
  const headersFor = useIdempotencyKey();
  return (
    <ActionDialog
      title="Create a key"
      action="Create key"
      isWide
      act={(_, data) => {
        const values = readKeyForm(data);
        const headers = headersFor(values);
        return call(() => api.accounts({ account }).keys.post(values, { headers }));
      }}
      renews={[["account", account, "keys"], projectsQuery(account).queryKey]}
      shows={(issued) => (
        <IssuedSecret
          account={account}
          title={`Key “${issued.key.name}” is ready`}
          issued={issued}
          onClose={onClose}
        />
      )}
      onClose={onClose}
    >
      <KeyFields account={account} project={project} />
    </ActionDialog>
  );
}
