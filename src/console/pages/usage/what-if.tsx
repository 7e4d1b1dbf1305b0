import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { formatCount, readUsd } from "../../format.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Select } from "../../parts/select.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { modelsQuery } from "../overview/queries.ts";
import { printUsdChange } from "./compare.ts";
import { type WhatIf, whatIfQuery } from "./queries.ts";
import styles from "./usage.module.css";

interface WhatIfProps {
  readonly account: string;
  /** The model whose prices are applied, as the URL holds it. */
  readonly model: string | undefined;
  readonly range: Omit<WhatIf, "model">;
}

/** What the tokens of the range would have cost at the prices of another model. */
export function WhatIfPanel({ account, model, range }: WhatIfProps) {
  const { data } = useQuery(modelsQuery(account));
  const navigate = useNavigate();
  const options = data?.items.map(({ id }) => ({ value: id, text: id })) ?? [];
  const choose = (whatif: string) =>
    void navigate({
      to: ".",
      search: (all: object) => ({ ...all, whatif: whatif === "" ? undefined : whatif }) as never,
      resetScroll: false,
    });
  return (
    <Panel
      title="What if another model had answered?"
      note="The tokens of all models in this range, at one model's prices. Cached tokens stay cached."
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

type Row = NonNullable<
  Awaited<ReturnType<NonNullable<ReturnType<typeof whatIfQuery>["queryFn"]>>>
>["by_key"][number];

const COLUMNS: readonly Column<Row>[] = [
  { id: "key", header: "Key", cell: ({ key_name, key_id }) => key_name ?? key_id },
  { id: "requests", header: "Requests", align: "end", cell: ({ requests }) => formatCount(requests) },
  { id: "actual", header: "Charged", align: "end", cell: ({ actual_usd }) => <Money usd={actual_usd} /> },
  {
    id: "what-if",
    header: "Would have cost",
    align: "end",
    cell: ({ what_if_usd }) => <Money usd={what_if_usd} />,
  },
  {
    id: "change",
    header: "Difference",
    align: "end",
    cell: ({ actual_usd, what_if_usd }) => printUsdChange(what_if_usd, actual_usd) ?? "–",
  },
];

function Answer({ account, body }: { readonly account: string; readonly body: WhatIf }) {
  const { data, error, refetch } = useQuery(whatIfQuery(account, body));
  if (error && !data) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton shape="block" />;
  const change = printUsdChange(data.what_if_usd, data.actual_usd);
  const isLess = readUsd(data.what_if_usd) < readUsd(data.actual_usd);
  return (
    <div className={styles.whatIf}>
      <p className={styles.verdict}>
        <Money usd={data.actual_usd} /> were charged. At the prices of {body.model} it would have been{" "}
        <strong>
          <Money usd={data.what_if_usd} />
        </strong>
        {change && (isLess ? `, ${change.replace("−", "")} less.` : `: ${change}.`)}
      </p>
      <DataTable
        caption={`Cost at the prices of ${body.model} by key`}
        columns={COLUMNS}
        rows={data.by_key}
        rowKey={({ key_id }) => key_id}
        empty={null}
      />
    </div>
  );
}
