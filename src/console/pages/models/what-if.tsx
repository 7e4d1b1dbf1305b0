import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCount, formatPercent, readUsd } from "../../format.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Select } from "../../parts/select.tsx";
import { type RangeSearch, resolveRange } from "../../ranges.ts";
import type { ModelRow } from "../keys/queries.ts";
import styles from "./models.module.css";

interface WhatIfProps {
  readonly account: string;
  readonly models: readonly ModelRow[];
  readonly search: RangeSearch;
}

type Compared = Awaited<ReturnType<typeof compare>>["by_key"][number];

interface Range {
  readonly from: string;
  readonly to: string;
}

const compare = (account: string, { from, to }: Range, model: string) =>
  call(() => api.accounts({ account })["what-if"].post({ from, to, model }));

const COLUMNS: readonly Column<Compared>[] = [
  { id: "key", header: "Key", cell: ({ key_name, key_id }) => key_name ?? key_id },
  { id: "requests", header: "Requests", align: "end", cell: ({ requests }) => formatCount(requests) },
  { id: "actual", header: "Charged", align: "end", cell: ({ actual_usd }) => <Money usd={actual_usd} /> },
  {
    id: "other",
    header: "With that model",
    align: "end",
    cell: ({ what_if_usd }) => <Money usd={what_if_usd} />,
  },
  { id: "change", header: "Change", align: "end", cell: (row) => formatChange(row) },
];

/** The tokens of a range at the prices of another model, in total and per key. */
export function WhatIf({ account, models, search }: WhatIfProps) {
  const chats = models.filter(({ max_output_tokens }) => max_output_tokens > 0);
  const [chosen, setChosen] = useState(chats[0]?.id ?? "");
  const { from, to } = resolveRange(search);
  const { data, error, refetch } = useQuery({
    queryKey: ["account", account, "what-if", { from, to, model: chosen }],
    queryFn: () => compare(account, { from, to }, chosen),
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
      <DataTable
        caption="Charges by key, and at the prices of another model"
        columns={COLUMNS}
        rows={data?.by_key}
        rowKey={({ key_id }) => key_id}
        empty={<Empty icon="usage" title="No request in this range" />}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        footer={
          data && (
            <>
              <span>
                <Money usd={data.actual_usd} /> charged, <Money usd={data.what_if_usd} /> with {chosen}
              </span>
              <strong className={styles.quiet}>{formatChange(data)}</strong>
            </>
          )
        }
      />
    </Panel>
  );
}

function formatChange({ actual_usd, what_if_usd }: { actual_usd: string; what_if_usd: string }): string {
  const actual = Number(readUsd(actual_usd));
  if (actual === 0) return "–";
  const change = (Number(readUsd(what_if_usd)) - actual) / actual;
  return `${change > 0 ? "+" : ""}${formatPercent(change).replace("-", "−")}`;
}
