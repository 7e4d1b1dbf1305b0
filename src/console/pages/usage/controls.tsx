import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Select } from "../../parts/select.tsx";
import { modelsQuery } from "../overview/queries.ts";
import { KeyFilter } from "../requests/key-filter.tsx";
import { viewOutcome } from "../requests/outcomes.ts";
import styles from "./usage.module.css";
import { type FilterName, GROUPS, type UsageQuery, type UsageSearch, unitsOf } from "./view.ts";

interface ControlsProps {
  /** `undefined`: all accounts. */
  readonly account: string | undefined;
  readonly search: UsageSearch;
  readonly query: UsageQuery;
}

/** What the view is divided by, and its filters. The URL holds all of it. */
export function Controls({ account, search, query }: ControlsProps) {
  const set = useSetSearch();
  const groups = Object.keys(GROUPS).filter((name) => name !== (account === undefined ? "key" : "account"));
  const units = unitsOf(query);
  const isCompared = search.compare !== "0";
  return (
    <div className={styles.controls}>
      <Select
        label="Divide by"
        value={query.group}
        options={[...groups, "none"].map((value) => ({ value, text: value === "none" ? "nothing" : value }))}
        onChange={(group) => set({ group, table: undefined })}
      />
      {units.length > 1 && (
        <Select
          label="Per"
          value={query.by}
          options={units.map((value) => ({ value, text: value }))}
          onChange={(by) => set({ by })}
        />
      )}
      {account !== undefined && <KeyFilter account={account} />}
      {account !== undefined && <ModelFilter account={account} chosen={search.model} />}
      {account === undefined && search.model && <Chip name="model" text={search.model} />}
      {search.upstream && <Chip name="upstream" text={search.upstream} />}
      {search.outcome && <Chip name="outcome" text={viewOutcome(search.outcome).text} />}
      <Button
        look="quiet"
        aria-pressed={isCompared}
        onClick={() => set({ compare: isCompared ? "0" : undefined })}
      >
        {isCompared ? "Hide the comparison" : "Compare with the period before"}
      </Button>
    </div>
  );
}

function ModelFilter({
  account,
  chosen = "",
}: {
  readonly account: string;
  readonly chosen: string | undefined;
}) {
  const { data } = useQuery(modelsQuery(account));
  const set = useSetSearch();
  const known = data?.items.map(({ id }) => id) ?? [];
  const ids = chosen === "" || known.includes(chosen) ? known : [...known, chosen];
  return (
    <Select
      label="Model"
      value={chosen}
      options={[{ value: "", text: "any model" }, ...ids.map((id) => ({ value: id, text: id }))]}
      onChange={(model) => set({ model: model === "" ? undefined : model })}
    />
  );
}

/** A filter that a row of the table has set. A press removes it. */
function Chip({ name, text }: { readonly name: FilterName; readonly text: string }) {
  return (
    <Link
      to="."
      search={(all: object) => ({ ...all, [name]: undefined }) as never}
      className={styles.chip}
      aria-label={`Remove the filter: ${name} ${text}`}
    >
      <span className={styles.soft}>{name}</span> {text}
      <Icon name="close" size={12} />
    </Link>
  );
}

/** Changes members of the URL's search. */
function useSetSearch(): (changes: Partial<Record<keyof UsageSearch, string | undefined>>) => void {
  const navigate = useNavigate();
  return (changes) => void navigate({ to: ".", search: (all: object) => ({ ...all, ...changes }) as never });
}
