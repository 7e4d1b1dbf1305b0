import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatCount } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { useMay } from "../../session.ts";
import { type ModelRow, modelsQuery } from "../keys/queries.ts";
import { Estimator } from "./estimator.tsx";
import styles from "./models.module.css";

const route = getRouteApi("/shell/accounts/$account/models");

const price = (id: keyof ModelRow["price"], header: string): Column<ModelRow> => ({
  id,
  header,
  align: "end",
  cell: (row) => `$${row.price[id]}`,
});

const COLUMNS: readonly Column<ModelRow>[] = [
  {
    id: "id",
    header: "Model",
    cell: ({ id, is_demo }) => (
      <span className={styles.name}>
        {id} {is_demo && <Badge tone="info">demo</Badge>}
      </span>
    ),
  },
  {
    id: "context",
    header: "Context",
    align: "end",
    cell: ({ context_window }) => formatCount(context_window),
  },
  {
    id: "output",
    header: "Output limit",
    align: "end",
    cell: ({ max_output_tokens }) => formatCount(max_output_tokens),
  },
  price("input", "Input"),
  price("cached_input", "Cached input"),
  price("cache_write", "Cache write"),
  price("output", "Output"),
  { id: "surfaces", header: "Through", cell: ({ surfaces }) => surfaces.join(", ") },
];

const ROUTES: Column<ModelRow> = {
  id: "routes",
  header: "Routes",
  cell: ({ routes }) => (routes ?? []).map(({ upstream, model }) => `${upstream} · ${model}`).join(", "),
};

/** The models that the account's keys can name, with their prices, and what a request would cost. */
export function ModelsPage() {
  const { account } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayChat = useMay("playground");
  const { data, error, refetch } = useQuery(modelsQuery(account));
  const text = (search.q ?? "").toLowerCase();
  const rows = data?.items.filter(({ id }) => id.toLowerCase().includes(text));
  const hasRoutes = data?.items.some(({ routes }) => routes !== null) ?? false;
  const isDemoOnly = data?.items.every(({ is_demo }) => is_demo) ?? false;
  return (
    <div className={styles.page}>
      <PageHeader title="Models" note="Prices in USD per million tokens.">
        <input
          type="search"
          className={styles.search}
          placeholder="Find a model"
          aria-label="Find a model"
          defaultValue={search.q}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: (all) => ({ ...all, q: value || undefined }) as never, replace: true })
          }
        />
        {mayChat && (
          <ButtonLink icon="playground" to="/accounts/$account/playground" params={{ account }}>
            Try one
          </ButtonLink>
        )}
      </PageHeader>
      {isDemoOnly && (
        <p className={styles.hint}>
          Only the built-in demo model answers. Real ones come with <code>upstreams</code> and{" "}
          <code>models</code> in the operator's <code>tollgate.yaml</code>.
        </p>
      )}
      <Panel isFlush>
        <DataTable
          caption="Models"
          columns={hasRoutes ? [...COLUMNS, ROUTES] : COLUMNS}
          rows={rows}
          rowKey={({ id }) => id}
          empty={<Empty icon="model" title="No model has this name" />}
          error={data ? undefined : error}
          onRetry={() => void refetch()}
        />
      </Panel>
      {data && <Estimator account={account} models={data.items} chosen={search.model} />}
    </div>
  );
}
