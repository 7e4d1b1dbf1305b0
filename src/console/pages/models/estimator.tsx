import { useMutation } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { printUsd } from "../../../domain/money.ts";
import { api, call } from "../../api.ts";
import { localise, plural } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, Failure, Field, FieldRow, Form, readForm, TextArea } from "../../parts/field.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import type { ModelRow } from "../../queries/overview.ts";
import styles from "./models.module.css";
import { priceEach } from "./same-tokens.ts";

interface EstimatorProps {
  readonly account: string;
  readonly models: readonly ModelRow[];
  readonly chosen: string;
  readonly onChoose: (model: string) => void;
}

interface Asked {
  readonly model: string;
  readonly text?: string;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
}

type Estimate = Awaited<ReturnType<typeof estimate>>;

const estimate = (account: string, asked: Asked) =>
  call(() => api.accounts({ account }).models.estimate.post(asked));

/** What a request would cost, and what would be held for it: of a pasted text or of a number of tokens. */
export function Estimator({ account, models, chosen, onChoose }: EstimatorProps) {
  const run = useMutation({ mutationFn: (asked: Asked) => estimate(account, asked) });
  const submit = (event: FormEvent<HTMLFormElement>) => run.mutate(readAsked(readForm(event)));
  return (
    <Panel title="What would a request cost?" note="Nothing is sent to a model.">
      <div className={styles.columns}>
        <Form onSubmit={submit}>
          <Choice
            label="Model"
            name="model"
            value={chosen}
            onChange={({ currentTarget }) => onChoose(currentTarget.value)}
            options={models.map(({ id }) => ({ value: id, text: id }))}
          />
          <TextArea
            label="Text"
            name="text"
            hint="Its tokens are counted, in place of the number below."
            maxLength={500_000}
            isOptional
          />
          <FieldRow>
            <Field
              label="Input tokens"
              name="input_tokens"
              type="number"
              min={0}
              max={1_000_000_000}
              placeholder="1000"
            />
            <Field
              label="Output tokens"
              name="output_tokens"
              type="number"
              min={1}
              max={1_000_000_000}
              placeholder="the model's default"
            />
          </FieldRow>
          <Failure error={run.error} />
          <div>
            <Button type="submit" isBusy={run.isPending}>
              Estimate
            </Button>
          </div>
        </Form>
        {run.data ? (
          <Result estimated={run.data} model={run.variables?.model ?? chosen} models={models} />
        ) : (
          <Empty icon="wallet" title="Cost and hold show here">
            Paste a text or give a number of tokens.
          </Empty>
        )}
      </div>
    </Panel>
  );
}

interface ResultProps {
  readonly estimated: Estimate;
  readonly model: string;
  readonly models: readonly ModelRow[];
}

function Result({ estimated: { cost_usd, hold_usd, lines }, model, models }: ResultProps) {
  const tokensOf = (name: "input" | "output") => lines.find((line) => line.class === name)?.tokens ?? 0;
  const others = priceEach(models, { input: tokensOf("input"), output: tokensOf("output") });
  return (
    <div className={styles.result} role="status">
      <div className={styles.figures}>
        <span className={styles.figure}>
          <span className={styles.quiet}>Cost</span>
          <strong>
            <Money usd={cost_usd} isExact />
          </strong>
        </span>
        <span className={styles.figure}>
          <span className={styles.quiet}>Held while it runs</span>
          <strong>
            <Money usd={hold_usd} isExact />
          </strong>
        </span>
      </div>
      <table className={styles.sum}>
        <caption hidden>Tokens × price = amount</caption>
        <tbody>
          {lines.map((line) => (
            <tr key={line.class}>
              <th scope="row">{line.class === "input" ? "Input" : "Output"}</th>
              <td>{plural(line.tokens, "token")}</td>
              <td>{localise(`× $${line.price} per million`)}</td>
              <td>
                = <Money usd={line.amount_usd} isExact />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <table className={styles.others}>
        <thead>
          <tr>
            <th scope="col">The same tokens with</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {others.map(({ id, cost }) => (
            <tr key={id} className={id === model ? styles.chosen : undefined}>
              <th scope="row">{id}</th>
              <td>
                <Money usd={printUsd(cost)} isExact />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function readAsked({ model = "", text = "", input_tokens = "", output_tokens = "" }): Asked {
  const input = input_tokens === "" ? 1_000 : Number(input_tokens);
  return {
    model,
    ...(text.trim() === "" ? { input_tokens: input } : { text }),
    ...(output_tokens !== "" && { output_tokens: Number(output_tokens) }),
  };
}
