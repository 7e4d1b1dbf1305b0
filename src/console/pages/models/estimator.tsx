import { useState } from "react";
import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { formatCount } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Choice, Failure, Field, FieldRow, Form, TextArea } from "../../parts/field.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { useAction } from "../../use-action.ts";
import type { ModelRow } from "../keys/queries.ts";

interface EstimatorProps {
  readonly account: string;
  readonly models: readonly ModelRow[];
  readonly chosen: string | undefined;
}

interface Estimate {
  readonly model: string;
  readonly cost: string;
  readonly hold: string;
  readonly tokens: number;
}

const EVERY = "every";

const COLUMNS: readonly Column<Estimate>[] = [
  { id: "model", header: "Model", cell: ({ model }) => model },
  { id: "tokens", header: "Input tokens", align: "end", cell: ({ tokens }) => formatCount(tokens) },
  { id: "cost", header: "Would cost", align: "end", cell: ({ cost }) => <Money usd={cost} isExact /> },
  { id: "hold", header: "Would hold", align: "end", cell: ({ hold }) => <Money usd={hold} isExact /> },
];

/** What a request would cost, and hold while it runs, on one model or on all of them. */
export function Estimator({ account, models, chosen = EVERY }: EstimatorProps) {
  const [estimates, setEstimates] = useState<readonly Estimate[]>();
  const action = useAction<Readonly<Record<string, string>>, readonly Estimate[]>({
    act: (form) => estimateAll(account, models, form),
    isForm: true,
    onDone: setEstimates,
  });
  return (
    <Panel
      title="What would a request cost?"
      note="The cost is that of the tokens. The hold is the most that the request could cost while it runs."
    >
      <Form onSubmit={(event) => action.mutate(readForm(event))}>
        <FieldRow>
          <Choice
            label="Model"
            name="model"
            defaultValue={chosen}
            options={[
              { value: EVERY, text: "compare all" },
              ...models.map(({ id }) => ({ value: id, text: id })),
            ]}
          />
          <Field
            label="Input tokens"
            name="input"
            type="number"
            min={0}
            isOptional
            hint="Or paste a text below."
          />
          <Field label="Output tokens" name="output" type="number" min={1} defaultValue={500} />
        </FieldRow>
        <TextArea
          label="Text"
          name="text"
          rows={3}
          isOptional
          hint="Its tokens are counted here; it is not stored."
        />
        <Failure error={action.error} />
        <div>
          <Button type="submit" isBusy={action.isPending}>
            Estimate
          </Button>
        </div>
      </Form>
      {estimates && (
        <DataTable
          caption="Estimates, cheapest first"
          columns={COLUMNS}
          rows={estimates}
          rowKey={({ model }) => model}
          empty={null}
        />
      )}
    </Panel>
  );
}

async function estimateAll(
  account: string,
  models: readonly ModelRow[],
  { model = EVERY, input = "", output = "", text = "" }: Readonly<Record<string, string>>,
): Promise<readonly Estimate[]> {
  const wanted = models.filter(({ id, max_output_tokens }) =>
    model === EVERY ? max_output_tokens > 0 : id === model,
  );
  const size = input === "" && text !== "" ? { text } : { input_tokens: Number(input || 0) };
  const outputTokens = Number(output) || undefined;
  const estimates = await Promise.all(
    wanted.map(async ({ id }) => {
      const body = { model: id, ...size, ...(outputTokens && { output_tokens: outputTokens }) };
      const answer = await call(() => api.accounts({ account }).models.estimate.post(body));
      const tokens = answer.lines.find((line) => line.class === "input")?.tokens ?? 0;
      return { model: id, cost: answer.cost_usd, hold: answer.hold_usd, tokens };
    }),
  );
  return estimates.sort((a, b) => Number(a.cost) - Number(b.cost));
}
