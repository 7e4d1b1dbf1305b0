import { type FormEvent, useEffect, useId, useRef } from "react";
import { viewOutcome } from "../../parts/badge.tsx";
import { ChoiceFilter, KeyFilter, ModelFilter, useFilter } from "../../parts/filters.tsx";
import { ViewLink } from "../../parts/list-table.tsx";
import { ScopeFilter } from "../../parts/scope-filter.tsx";
import { FAILED, STATES } from "../../queries/requests.ts";
import styles from "./requests.module.css";

const OUTCOMES = ["ok", "client_closed", "empty_completion", "upstream_unavailable", "upstream_timeout"];
const SURFACES = ["chat", "messages", "responses", "gemini", "compact", "embeddings", "playground", "grpc"];

const ORDERS = [
  { value: "-charged", text: "the dearest" },
  { value: "-duration", text: "the slowest" },
] as const;

interface FiltersProps {
  readonly account: string;
  /** The scopes of the URL. */
  readonly scope: string | undefined;
}

/** The filters of the list, each held by the URL. */
export function Filters({ account, scope }: FiltersProps) {
  const named = OUTCOMES.map((value) => ({ value, text: viewOutcome(value).text }));
  const outcomes = [{ value: FAILED, text: "any but ok" }, ...named];
  const states = Object.entries(STATES).map(([value, text]) => ({ value, text }));
  return (
    <div className={styles.filters}>
      <ScopeFilter account={account} scope={scope} />
      <KeyFilter account={account} />
      <ModelFilter account={account} usual="any" />
      <ChoiceFilter label="Outcome" name="outcome" usual="any" options={outcomes} isOpen />
      <ChoiceFilter label="State" name="state" usual="any" options={states} />
      <ChoiceFilter label="API" name="surface" usual="any" options={SURFACES} isOpen />
      <ChoiceFilter label="First" name="sort" usual="the newest" options={ORDERS} />
      <ViewLink>
        <MetadataFilter />
      </ViewLink>
    </div>
  );
}

function MetadataFilter() {
  const [value, choose] = useFilter("metadata");
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // Keeps the focus, which another instance of the field would lose.
  useEffect(() => {
    if (input.current) input.current.value = value;
  }, [value]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    choose(String(new FormData(event.currentTarget).get("metadata") ?? "").trim());
  };
  return (
    <form className={styles.metadata} onSubmit={submit}>
      <label htmlFor={id}>Metadata</label>
      <input
        ref={input}
        id={id}
        name="metadata"
        defaultValue={value}
        placeholder="name:value"
        pattern=".+:.*"
        title="A name, a colon and a value: team:search"
      />
    </form>
  );
}
