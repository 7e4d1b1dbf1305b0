import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatCompact, formatCount } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { useMe } from "../../session.ts";
import { type ModelRow, modelsQuery } from "../keys/queries.ts";
import { Estimator } from "./estimator.tsx";
import styles from "./models.module.css";
import { WhatIf } from "./what-if.tsx";

const route = getRouteApi("/shell/accounts/$account/models");

/** The catalog with its prices, and what requests would cost. */
export function ModelsPage() {
  const { account } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { person } = useMe();
  const { data, error, refetch } = useQuery(modelsQuery(account));
  const set = (name: "q" | "model", value: string) =>
    void navigate({ search: (all) => ({ ...all, [name]: value || undefined }), replace: true });
  const models = data?.items ?? [];
  const text = (search.q ?? "").toLowerCase();
  const isDemo = models.length > 0 && models.every(({ is_demo }) => is_demo);
  return (
    <div className={styles.page}>
      <PageHeader
        title="Models"
        note={
          isDemo
            ? "Only the demo model is there. An operator adds upstreams and models in tollgate.yaml."
            : "Prices are USD per million tokens; context and output are in tokens."
        }
      />
      {models.length > 8 && (
        <input
          type="search"
          className={styles.search}
          placeholder="Name of a model"
          aria-label="Find a model by its name"
          defaultValue={search.q}
          onChange={({ currentTarget }) => set("q", currentTarget.value)}
        />
      )}
      <Panel isFlush>
        <DataTable
          caption="Models with context, output limit and prices"
          columns={columnsOf(person.is_operator)}
          rows={data?.items.filter(({ id }) => id.toLowerCase().includes(text))}
          rowKey={({ id }) => id}
          empty={<Empty icon="model" title={text === "" ? "No model yet" : "No model matches"} />}
          error={data ? undefined : error}
          onRetry={() => void refetch()}
        />
      </Panel>
      {models.length > 0 && (
        <>
          <Estimator
            account={account}
            models={models}
            chosen={models.find(({ id }) => id === search.model)?.id ?? models[0]?.id ?? ""}
            onChoose={(model) => set("model", model)}
          />
          <WhatIf account={account} models={models} search={search} />
        </>
      )}
    </div>
  );
}

function columnsOf(showsRoutes: boolean): readonly Column<ModelRow>[] {
  const price = (id: keyof ModelRow["price"], header: string): Column<ModelRow> => ({
    id,
    header,
    align: "end",
    cell: (model) => `$${model.price[id]}`,
  });
  const count = (id: "context_window" | "max_output_tokens", header: string): Column<ModelRow> => ({
    id,
    header,
    align: "end",
    cell: (model) => <span title={formatCount(model[id])}>{formatCompact(model[id])}</span>,
  });
  const routes: Column<ModelRow> = {
    id: "routes",
    header: "Routes",
    cell: (model) => (
      <span className={styles.small}>
        {model.routes?.map((each) => `${each.upstream} · ${each.model}`).join(", ")}
      </span>
    ),
  };
  return [
    {
      id: "model",
      header: "Model",
      cell: ({ id, is_demo }) => (
        <span className={styles.named}>
          <strong>{id}</strong>
          {is_demo && <Badge tone="info">demo</Badge>}
        </span>
      ),
    },
    count("context_window", "Context"),
    count("max_output_tokens", "Max output"),
    price("input", "Input"),
    price("cached_input", "Cached input"),
    price("cache_write", "Cache write"),
    price("output", "Output"),
    {
      id: "surfaces",
      header: "APIs",
      cell: ({ surfaces }) => <span className={styles.small}>{surfaces.join(", ")}</span>,
    },
    ...(showsRoutes ? [routes] : []),
  ];
}
