import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useId, useRef } from "react";
import { viewOutcome } from "../../parts/badge.tsx";
import { KeyFilter, Select } from "../../parts/filters.tsx";
import { ViewLink } from "../../parts/list-table.tsx";
import { ScopeFilter } from "../../parts/scope-filter.tsx";
import { modelsQuery } from "../../queries/overview.ts";
import { isOrdered, type RequestsSearch } from "../../queries/requests.ts";
import { withSearch } from "../../search.ts";
import styles from "./requests.module.css";

const OUTCOMES = ["ok", "client_closed", "empty_completion", "upstream_unavailable", "upstream_timeout"];
const STATES = { held: "running", settled: "settled", released: "released", expired: "expired" };
const SURFACES = ["chat", "messages", "responses", "gemini", "compact", "embeddings", "playground", "grpc"];

const ORDERS = [
  { value: "", text: "the newest" },
  { value: "-charged", text: "the dearest" },
  { value: "-duration", text: "the slowest" },
] as const;

interface FiltersProps {
  readonly account: string;
  readonly search: RequestsSearch;
}

/** The filters of the list, each held by the URL. */
export function Filters({ account, search }: FiltersProps) {
  const navigate = useNavigate();
  const { data: models } = useQuery(modelsQuery(account));
  const choose = (name: keyof RequestsSearch) => (value: string) =>
    void navigate({
      to: ".",
      search: withSearch({ [name]: value === "" ? undefined : value, page: undefined }),
    });
  const select = (
    name: "model" | "outcome" | "surface" | "state",
    label: string,
    options: readonly Option[],
  ) => (
    <Select
      label={label}
      value={search[name] ?? ""}
      options={withChosen([{ value: "", text: "any" }, ...options], search[name])}
      onChange={choose(name)}
    />
  );
  return (
    <div className={styles.filters}>
      <ScopeFilter account={account} scope={search.scope} />
      <KeyFilter account={account} />
      {select("model", "Model", models?.items.map(({ id }) => ({ value: id, text: id })) ?? [])}
      {select(
        "outcome",
        "Outcome",
        OUTCOMES.map((value) => ({ value, text: viewOutcome(value).text })),
      )}
      {select(
        "state",
        "State",
        Object.entries(STATES).map(([value, text]) => ({ value, text })),
      )}
      {select(
        "surface",
        "API",
        SURFACES.map((value) => ({ value, text: value })),
      )}
      <Select
        label="First"
        value={isOrdered(search) ? search.sort : ""}
        options={ORDERS}
        onChange={choose("sort")}
      />
      <ViewLink>
        <MetadataFilter value={search.metadata ?? ""} onChange={choose("metadata")} />
      </ViewLink>
    </div>
  );
}

interface Option {
  readonly value: string;
  readonly text: string;
}

/** A value of the URL that is in no list stays visible. */
function withChosen(options: readonly Option[], chosen: string | undefined): readonly Option[] {
  if (chosen === undefined || options.some(({ value }) => value === chosen)) return options;
  return [...options, { value: chosen, text: chosen }];
}

interface MetadataFilterProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function MetadataFilter({ value, onChange }: MetadataFilterProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // Keeps the focus, which another instance of the field would lose.
  useEffect(() => {
    if (input.current) input.current.value = value;
  }, [value]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onChange(String(new FormData(event.currentTarget).get("metadata") ?? "").trim());
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
