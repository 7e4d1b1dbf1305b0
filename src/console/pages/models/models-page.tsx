import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { printUsdChange } from "../../compare.ts";
import { Select } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { WHAT_IF_COLUMNS } from "../../parts/what-if-columns.tsx";
import { catalogQuery, isChat, type ModelRow } from "../../queries/overview.ts";
import { type RangeSearch, resolveRange } from "../../ranges.ts";
import { Catalog } from "./catalog.tsx";
import { Estimator } from "./estimator.tsx";
import styles from "./models.module.css";

const route = getRouteApi("/shell/accounts/$account/models");

/** The catalog with its prices, and what requests would cost. */
export function ModelsPage() {
  const { account } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useQuery(catalogQuery(account));
  const choose = (model: string) => void navigate({ search: (all) => ({ ...all, model }), replace: true });
  const models = list.data?.items ?? [];
  const isDemo = models.length > 0 && models.every(({ is_demo }) => is_demo);
  return (
    <div className={styles.page}>
      <PageHeader
        title="Models"
        note={
          isDemo
            ? "Only the demo model is there. An operator adds others under Set up, or in tollgate.yaml."
            : "Prices are USD per million tokens. First output (median) and success are of the last 24 hours, rounded."
        }
      />
      <Catalog account={account} search={search} query={list} />
      {models.length > 0 && (
        <>
          <Estimator
            account={account}
            models={models}
            chosen={models.find(({ id }) => id === search.model)?.id ?? models[0]?.id ?? ""}
            onChoose={choose}
          />
          <WhatIf account={account} models={models} search={search} />
        </>
      )}
    </div>
  );
}

interface WhatIfProps {
  readonly account: string;
  readonly models: readonly ModelRow[];
  readonly search: RangeSearch;
}

/** The tokens of a range at the prices of another model, in total and per key. */
function WhatIf({ account, models, search }: WhatIfProps) {
  const chats = models.filter(isChat);
  const [chosen, setChosen] = useState(chats[0]?.id ?? "");
  const { from, to } = resolveRange(search);
  const list = useQuery({
    queryKey: ["account", account, "what-if", { from, to, model: chosen }],
    queryFn: () => call(() => api.accounts({ account })["what-if"].post({ from, to, model: chosen })),
    enabled: chosen !== "",
  });
  return (
    <Panel
      title="What if every request had used one model?"
      note="The tokens of this range at that model's prices, with the same share of cached input."
      isFlush
      actions={
        <>
          <Select
            label="Model"
            value={chosen}
            options={chats.map(({ id }) => ({ value: id, text: id }))}
            onChange={setChosen}
          />
          <RangePicker />
        </>
      }
    >
      <ListTable
        name="keys"
        caption="Charges by key, and at the prices of another model"
        columns={WHAT_IF_COLUMNS}
        rows={list.data?.by_key}
        rowKey={({ key_id }) => key_id}
        empty={<Empty icon="usage" title="No request in this range" />}
        query={list}
        footer={
          list.data && (
            <>
              <span>
                <Money usd={list.data.actual_usd} /> charged, <Money usd={list.data.what_if_usd} /> with{" "}
                {chosen}
              </span>
              <strong className={styles.quiet}>
                {printUsdChange(list.data.what_if_usd, list.data.actual_usd) ?? "–"}
              </strong>
            </>
          )
        }
      />
    </Panel>
  );
}
