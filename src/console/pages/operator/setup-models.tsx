import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCount, withPoint } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { useAction } from "../../use-action.ts";
import styles from "./setup.module.css";

/** A provider, its key, and the name of its resource, region or project. */
export type Wish = { readonly provider: string; readonly key?: string; readonly place?: string };
export type Proof = Awaited<ReturnType<typeof prove>>;
type OfferedModel = Proof["models"][number];
export type Added = Awaited<ReturnType<typeof add>>;

export const prove = (wish: Wish) => call(() => api.operator.setup.proof.post(wish));
const add = (wish: Wish, models: readonly string[]) =>
  call(() => api.operator.setup.post({ ...wish, models: [...models] }));

interface ModelStepProps {
  readonly wish: Wish;
  readonly proof: Proof;
  readonly onAdded: (added: Added) => void;
}

/** Adds models that the provider lists to this key. */
export function ModelStep({ wish, proof, onAdded }: ModelStepProps) {
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const save = useAction({
    act: (models: readonly string[]) => add(wish, models),
    isForm: true,
    onDone: (added) => (added.state === "refused" ? undefined : onAdded(added)),
  });
  const shown = proof.models.filter(({ id }) => id.toLowerCase().includes(words.trim().toLowerCase()));
  const toggle = (id: string) =>
    setChosen(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <Panel
      title="2. Models"
      note="Limits and costs are known. Clients pay the provider's cost, unless you write another price."
      actions={
        <Badge tone={proof.state === "accepted" ? "good" : "warn"}>
          {proof.state === "accepted" ? "key accepted" : "key not proved"}
        </Badge>
      }
    >
      <div className={styles.stack}>
        {proof.state === "unproven" && (
          <p className={stack.warning}>The provider answers, and does not tell whether it accepts the key.</p>
        )}
        <input
          className={stack.search}
          type="search"
          aria-label="Search models"
          placeholder="Search models"
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
        {shown.length === 0 && <p className={stack.soft}>No known model matches.</p>}
        <div className={`${styles.models} ${styles.wide}`} role="group" aria-label="Models">
          {shown.map((model) => (
            <Model
              key={model.id}
              model={model}
              isChosen={chosen.includes(model.id)}
              onToggle={() => toggle(model.id)}
            />
          ))}
        </div>
        <Failure
          error={save.error ?? (save.data?.state === "refused" ? new Error(save.data.problem ?? "") : null)}
        />
        <Button
          look="primary"
          isBusy={save.isPending}
          disabled={chosen.length === 0}
          onClick={() => save.mutate(chosen)}
        >
          {chosen.length === 1 ? "Add 1 model" : `Add ${chosen.length} models`}
        </Button>
      </div>
    </Panel>
  );
}

interface ModelProps {
  readonly model: OfferedModel;
  readonly isChosen: boolean;
  readonly onToggle: () => void;
}

function Model({ model, isChosen, onToggle }: ModelProps) {
  const { id, context_window: window, input_usd: input, output_usd: output } = model;
  const prices = [input, output].flatMap((usd) => (usd === null ? [] : [withPoint(usd)]));
  const facts = [
    ...(window === null ? [] : [`${formatCount(window)} tokens`]),
    ...(prices.length === 0 ? [] : [`${prices.join(" / ")} USD per million`]),
  ];
  return (
    <label className={styles.model}>
      <input type="checkbox" checked={isChosen} onChange={onToggle} />
      <span>
        {id}
        <small>{facts.join(" · ")}</small>
      </span>
    </label>
  );
}
