import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { printUsdChange } from "../../compare.ts";
import { plural, readUsd } from "../../format.ts";
import { Select } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { WHAT_IF_COLUMNS } from "../../parts/what-if-columns.tsx";
import { modelsQuery } from "../../queries/overview.ts";
import {
  type Anomaly,
  anomaliesQuery,
  type WhatIf,
  type WhatIfAnswer,
  whatIfQuery,
} from "../../queries/usage.ts";
import { withSearch } from "../../search.ts";
import { dayOf } from "../../series.ts";
import { formatTime } from "../../times.ts";
import { FILTERS, resolveUsage, type UsageSearch } from "../../usage-view.ts";
import styles from "./usage.module.css";
import { UsageBody } from "./usage-body.tsx";

const route = getRouteApi("/shell/accounts/$account/usage");

/** Cost, requests, tokens and times of one account. */
export function UsagePage() {
  const { account } = route.useParams();
  const search: UsageSearch = route.useSearch();
  const query = resolveUsage(search, { isOperator: false });
  const { data: anomalies } = useQuery(anomaliesQuery(account));
  const isWhole = FILTERS.every((name) => search[name] === undefined);
  // Anomalies are those of the whole account.
  const unusual = (isWhole ? (anomalies?.items ?? []) : []).filter(
    ({ day }) => day >= dayOf(query.from, query.offset_h) && day < query.to,
  );
  return (
    <UsageBody
      title="Usage"
      account={account}
      search={search}
      query={query}
      unusualDays={unusual.map(({ day }) => day)}
    >
      {({ from, to }) => (
        <>
          <Anomalies items={unusual} />
          <WhatIfPanel
            account={account}
            model={search.whatif}
            range={{ from, to, ...(search.key && { key: search.key }) }}
            isOfAll={FILTERS.every((name) => name === "key" || search[name] === undefined)}
          />
        </>
      )}
    </UsageBody>
  );
}

const operatorRoute = getRouteApi("/shell/operator/usage");

/** Cost, requests, tokens and times of all accounts, by account and otherwise. */
export function OperatorUsagePage() {
  const search: UsageSearch = operatorRoute.useSearch();
  const query = resolveUsage(search, { isOperator: true });
  return <UsageBody title="Usage of all accounts" account={undefined} search={search} query={query} />;
}

/** Days that cost more than three times what is usual for their weekday. */
function Anomalies({ items }: { readonly items: readonly Anomaly[] }) {
  if (items.length === 0) return null;
  return (
    <Panel
      title={`${plural(items.length, "day")} cost more than usual`}
      note="More than three times the median of the same weekday in the 8 weeks before. UTC days."
    >
      <ul className={styles.anomalies}>
        {items.map(({ day, cost_usd, usual_usd, key_id, key_name }) => (
          <li key={day}>
            <Link to="." search={withSearch({ range: undefined, from: day, to: day })}>
              {formatTime(`${day}T12:00:00Z`, "date")}
            </Link>
            <span>
              <Money usd={cost_usd} />, usually <Money usd={usual_usd} />
              {key_id && `. Most by ${key_name ?? key_id}`}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface WhatIfProps {
  readonly account: string;
  /** The model whose prices are applied, as the URL holds it. */
  readonly model: string | undefined;
  readonly range: Omit<WhatIf, "model">;
  /** Whether the page shows all that is compared here: no filter but that of a key. */
  readonly isOfAll: boolean;
}

/** What the tokens of the range would have cost at the prices of another model. */
function WhatIfPanel({ account, model, range, isOfAll }: WhatIfProps) {
  const { data } = useQuery(modelsQuery(account));
  const navigate = useNavigate();
  const options = data?.items.map(({ id }) => ({ value: id, text: id })) ?? [];
  const choose = (whatif: string) =>
    void navigate({
      to: ".",
      search: withSearch({ whatif: whatif === "" ? undefined : whatif }),
      resetScroll: false,
    });
  return (
    <Panel
      title="What if another model had answered?"
      note={`The tokens of all models in this range, at one model's prices. Cached tokens stay cached.${
        isOfAll ? "" : " Of the filters, that of the key alone counts here."
      }`}
      actions={
        <Select
          label="Prices of"
          value={model ?? ""}
          options={[{ value: "", text: "choose a model" }, ...options]}
          onChange={choose}
        />
      }
    >
      {model ? (
        <Answer account={account} body={{ ...range, model }} />
      ) : (
        <p className={styles.soft}>Choose a model to compare.</p>
      )}
    </Panel>
  );
}

function Answer({ account, body }: { readonly account: string; readonly body: WhatIf }) {
  const query = useQuery(whatIfQuery(account, body));
  return <Loaded query={query}>{(data) => <Comparison model={body.model} data={data} />}</Loaded>;
}

function Comparison({ model, data }: { readonly model: string; readonly data: WhatIfAnswer }) {
  const change = printUsdChange(data.what_if_usd, data.actual_usd);
  const isLess = readUsd(data.what_if_usd) < readUsd(data.actual_usd);
  return (
    <div className={styles.whatIf}>
      <p className={styles.verdict}>
        <Money usd={data.actual_usd} /> were charged. At the prices of {model} it would have been{" "}
        <strong>
          <Money usd={data.what_if_usd} />
        </strong>
        {change && (isLess ? `, ${change.replace("−", "")} less.` : `: ${change}.`)}
      </p>
      <ListTable
        name="keys"
        caption={`Cost at the prices of ${model} by key`}
        columns={WHAT_IF_COLUMNS}
        rows={data.by_key}
        rowKey={({ key_id }) => key_id}
        empty={null}
      />
    </div>
  );
}
